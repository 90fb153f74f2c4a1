pl-pack plain.cu; pl-link plain.toml --control
