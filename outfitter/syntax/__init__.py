"""Bytes to values with places: text, YAML, JSON and front matter. Pure; imported only where no cached parse is at hand."""
