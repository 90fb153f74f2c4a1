CC=cc pl-pack provided.cu
