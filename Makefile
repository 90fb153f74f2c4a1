# make demo: pack, link, verify and report a real pipeline. make test: everything that CI runs. Both set up .venv first.
PYTHON ?= python3
BIN := .venv/bin
GEMM := components/gemm_swiglu
FACTS := components/facts
ATTENTION := components/attention
PACKAGES := $(patsubst components/%.cu,build/%.plpkg,$(wildcard $(GEMM)/*.cu $(FACTS)/*.cu $(ATTENTION)/*.cu))

.PHONY: demo test lint format sabotage mutants setup packages docs clean

demo: packages
	$(BIN)/pl-link $(GEMM)/h200.toml -o build/h200.plimg --control -v
	$(BIN)/pl-link $(GEMM)/h200_shifted.toml -o build/h200_shifted.plimg --control
	$(BIN)/pl-link $(GEMM)/h200_direct.toml -o build/h200_direct.plimg --control
	$(BIN)/python -m bench.demo build/h200.plimg

test: packages
	$(BIN)/pytest -n 2 --dist loadgroup

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

sabotage: packages
	$(BIN)/pytest tests/sabotage -v

mutants: packages
	$(BIN)/python tests/mutants/mutants.py $(wildcard $(GEMM)/*.toml $(FACTS)/*.toml) --json docs/results/mutants.json

docs: packages
	$(BIN)/python docs/generate.py

packages: $(PACKAGES)

PACKER := $(wildcard pipelink/frontends/*.py pipelink/frontends/cuda/*.py pipelink/backend/toolchain.py)

build/%.plpkg: components/%.cu $(PACKER) | setup
	@mkdir -p $(@D)
	$(BIN)/pl-pack $< -o $@ --depfile $(@:.plpkg=.d)

-include $(PACKAGES:.plpkg=.d)

setup: .venv/ready

.venv/ready: pyproject.toml runtime/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e runtime -e '.[dev]'
	touch $@

clean:
	rm -rf build
