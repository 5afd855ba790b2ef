"""A scripted model server on loopback, in three dialects, for tests of real harnesses and the demo.

It needs no account and no network. Every reply is a fixed text or a step of a script.
"""
