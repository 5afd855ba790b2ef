"""Frozen data that flows between the stages: no behaviour beyond reading itself, no effects."""
