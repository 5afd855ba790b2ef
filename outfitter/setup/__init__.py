"""A first agent: the plan and its files."""
