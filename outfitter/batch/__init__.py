"""Run one agent once for each input."""
