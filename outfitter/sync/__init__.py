"""Catalogs that are fetched with the user's own git."""
