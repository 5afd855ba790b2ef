"""Settings files: scopes, their merge, and edits of YAML."""
