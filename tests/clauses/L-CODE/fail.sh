pl-pack stack.cu; pl-link stack.toml  # its role indexes a local array at run time, which takes a stack
