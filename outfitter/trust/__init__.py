"""What a stranger's repository may run or send, and who allowed it (docs/security.md)."""
