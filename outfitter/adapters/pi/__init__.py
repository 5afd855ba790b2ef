"""Pi as a harness."""
