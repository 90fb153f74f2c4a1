pl-link pipeline.toml -L packages
