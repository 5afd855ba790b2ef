"""A model server on loopback that says what a script tells it, in three dialects: for tests of real harnesses, and the demo.

It needs no account and no network, and is no model: every reply is a fixed text or a scripted step.
"""
