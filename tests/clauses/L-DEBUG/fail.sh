pl-pack plain.cu --nvcc-flag=-G
