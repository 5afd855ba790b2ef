"""Trees to effective resources: finding, decoding, inheriting, resolving. Pure (spec/10, spec/15, spec/30)."""
