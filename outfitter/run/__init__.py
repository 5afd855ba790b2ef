"""The run directory: layout, record, journal, projection and removal."""
