"""Compose.

Reads: `Layers`, `Settings`, the request's agent and `--append-prompt` files.
Adds: `Composition`.
Effects: none.
"""

from __future__ import annotations

from outfitter.catalog.assembly import assemble
from outfitter.model.composition import Composition
from outfitter.model.layers import Layers
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome


def compose(layers: Layers, settings: Settings, request: Request) -> Outcome[Composition]:
    """One agent as a harness-neutral plan (spec/30); knows no harness.

    Errors: `CompositionFailed` for a missing, abstract or switched-off agent, inheritance that does not end, a source that
    does not exist or leaves its layer, a model that the registry lacks; with every problem of the files it reads.
    """
    return assemble(layers, settings, request.agent, request.ambient.env)
