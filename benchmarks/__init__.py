"""Benchmarks that a stranger can run: every figure beside its peers in the same run, and every result verified (docs/benchmarks.md)."""
