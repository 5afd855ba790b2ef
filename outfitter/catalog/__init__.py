"""Trees to effective resources: find, decode, inherit, resolve (spec/10, spec/15, spec/30)."""
