"""Stand-in harnesses for the tests."""
