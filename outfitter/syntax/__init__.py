"""Bytes to values with positions: text, YAML, JSON and front matter.

Pure; imported only if no cached parse is at hand.
"""
