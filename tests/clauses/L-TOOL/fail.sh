CC=none pl-pack provided.cu
