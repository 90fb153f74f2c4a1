pl-pack plain.cu --no-source; pl-link plain.toml --control
