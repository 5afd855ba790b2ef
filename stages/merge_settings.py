"""Merge settings.

Reads: `Layers`.
Adds: `Settings`.
Effects: none.
"""

from __future__ import annotations

from outfitter.model.layers import Layers
from outfitter.model.settings import Settings
from outfitter.railway import Outcome


def merge_settings(layers: Layers) -> Outcome[Settings]:
    """All scopes as one (spec/20), validated; every problem of every file at once."""
    raise NotImplementedError
