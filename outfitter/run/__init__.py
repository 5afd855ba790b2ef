"""A run directory: its layout, record and journal, what is put into it, and its removal."""
