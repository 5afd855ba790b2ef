"""Evidence of one attempt: a trace, and a result computed from the trace alone (seed 004, spec/70)."""
