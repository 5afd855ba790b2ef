"""`python -m outfitter`."""

from outfitter.main import console_entry

console_entry()
