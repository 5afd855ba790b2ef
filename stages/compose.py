"""Compose.

Reads: `TreeReader`, `Settings`, the request's agent and `--append-prompt` files.
Adds: `Composition`.
Effects: none.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve
from returns.result import Failure

from outfitter.catalog.assembly import assemble
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Composition
from outfitter.model.errors import PolicyRefused
from outfitter.model.layers import HOME_KINDS, Layer
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome


def compose(reader: TreeReader, settings: Settings, request: Request) -> Outcome[Composition]:
    """One agent as a harness-neutral plan (spec/30); knows no harness.

    Errors: `PolicyRefused` for controls that only the home may set; `CompositionFailed` for a missing, abstract or switched-off
    agent, inheritance that does not end, a source that does not exist or leaves its layer, a model that the registry lacks;
    with every problem of the files it reads.
    """
    if any(map(_has_controls, reader.trees)):
        from outfitter.trust.refusals import refusals

        refused = refusals(reader.trees)
        if refused:
            return Failure(PolicyRefused(refused))
    composed = assemble(reader, settings, request.agent, request.ambient.env)
    return composed.map(lambda made: evolve(made, notices=(*reader.layers.notices, *made.notices)))


def _has_controls(tree: Layer) -> bool:
    """Whether a layer other than the home's has an agent with controls."""
    if tree.kind in HOME_KINDS:
        return False
    values = (document.value for path, document in tree.documents.items() if path.startswith("agents/"))
    return any(isinstance(value, Mapping) and "controls" in value for value in values)
