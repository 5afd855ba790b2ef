"""After the run: carry what the harness wrote to durable files (spec/50)."""
