"""Measurements and proofs that run on a GPU machine: `python3 -m bench.all --help` from the root of the project.

The machine needs torch, cuda-bindings and `runtime/` on its path; `bench.prepare` makes what it measures elsewhere.
"""
