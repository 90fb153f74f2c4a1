pl-pack stack.cu -DSLOT=0; pl-link stack.toml  # its role indexes a local array at run time, which takes a stack
