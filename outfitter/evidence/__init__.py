"""Evidence of one attempt: a trace, and a result that is a pure fold of it (seed 004, spec/70)."""
