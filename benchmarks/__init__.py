"""Benchmarks that anyone can run: each figure beside its peers in the same run, each result verified.

See docs/benchmarks.md.
"""
