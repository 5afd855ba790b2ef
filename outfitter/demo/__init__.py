"""What `outfitter demo` shows: a throw-away machine, a scripted model, every kind of write (spec/80)."""
