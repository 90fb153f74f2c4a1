pl-pack plain.cu
