"""Compose.

Reads: `Layers`, `Settings`, the request's agent and `--append-prompt` files.
Adds: `Composition`.
Effects: none.
"""

from __future__ import annotations

from collections.abc import Mapping

from returns.result import Failure

from outfitter.catalog.assembly import assemble
from outfitter.model.composition import Composition
from outfitter.model.errors import PolicyRefused
from outfitter.model.layers import HOME_KINDS, Layer, Layers
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome


def compose(layers: Layers, settings: Settings, request: Request) -> Outcome[Composition]:
    """One agent as a harness-neutral plan (spec/30); knows no harness.

    Errors: `PolicyRefused` for controls that only the home may set; `CompositionFailed` for a missing, abstract or switched-off
    agent, inheritance that does not end, a source that does not exist or leaves its layer, a model that the registry lacks;
    with every problem of the files it reads.
    """
    if any(map(_has_controls, layers.trees)):
        from outfitter.trust.refusals import refusals

        refused = refusals(layers.trees)
        if refused:
            return Failure(PolicyRefused(refused))
    return assemble(layers, settings, request.agent, request.ambient.env)


def _has_controls(tree: Layer) -> bool:
    """Whether a layer other than the home's has an agent with controls."""
    if tree.kind in HOME_KINDS:
        return False
    values = (document.value for path, document in tree.documents.items() if path.startswith("agents/"))
    return any(isinstance(value, Mapping) and "controls" in value for value in values)
