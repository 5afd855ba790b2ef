"""Compose.

Reads: `Layers`, `Settings`, the request's agent and `--append-prompt` files.
Adds: `Composition`.
Effects: none.
"""

from __future__ import annotations

from outfitter.model.composition import Composition
from outfitter.model.layers import Layers
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome


def compose(layers: Layers, settings: Settings, request: Request) -> Outcome[Composition]:
    """One agent as a harness-neutral plan (spec/30); knows no harness."""
    raise NotImplementedError
