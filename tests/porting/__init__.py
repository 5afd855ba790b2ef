"""Other tools' files: seen, used in place, imported, and written back."""
