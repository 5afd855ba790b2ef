"""What `outfitter demo` shows: a throw-away machine, a scripted model, and every kind of write (spec/80)."""
