"""What is installed, and what would stop a launch."""
