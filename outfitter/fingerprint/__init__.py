"""Fingerprints of directory trees: listed, compared with what is known, hashed."""
