"""Codex CLI as a harness."""
