"""Catalogs fetched with the user's own git."""
