"""After the run: what each bridge does with what the harness wrote (spec/50); effects only through `Settling`."""
