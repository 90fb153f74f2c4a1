pl-link ready.toml -L packages
