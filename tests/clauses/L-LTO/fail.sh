pl-pack plain.cu --object plain.cu
