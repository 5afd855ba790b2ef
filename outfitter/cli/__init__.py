"""Commands: one module each, imported on dispatch; each has `arguments(parser)` and `main(words, context) -> exit code`."""
