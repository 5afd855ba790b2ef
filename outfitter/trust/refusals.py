"""What an agent's file outside the home may not say, granted or not (docs/security.md). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from outfitter.model.layers import HOME_KINDS, Document, Layer
from outfitter.model.request import Position, Problem
from outfitter.trust.arguments import faults
from outfitter.trust.names import refused

BLOCKS = ((), ("pi",), ("claude",), ("codex",))
HINT = "only agents and settings of the home may set it: remove it here, or set it in ~/.agents or in your shell"


def refusals(trees: tuple[Layer, ...]) -> tuple[Problem, ...]:
    """Each refused variable and argument in the agents that were read of every layer but the home's."""
    return tuple(
        problem
        for tree in trees
        if tree.kind not in HOME_KINDS
        for path, document in tree.documents.items()
        if path.startswith("agents/") and isinstance(document.value, Mapping) and "controls" in document.value
        for problem in _refused(document)
    )


def blocks(document: Document) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The `controls` of a document by key path: the generic block, then each harness's own."""
    controls = document.value.get("controls")
    for below in BLOCKS:
        value: Any = controls
        for key in below:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping):
            yield ("controls", *below), value


def arguments_of(block: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments of a block; one value alone is a list of it."""
    value = block.get("args")
    items = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in items if item is not None)


def position(document: Document, key: tuple[str, ...]) -> Position:
    """Where a key stands, or what is around it."""
    while key and key not in document.positions:
        key = key[:-1]
    return document.positions.get(key, Position())


def _refused(document: Document) -> Iterator[Problem]:
    for path, block in blocks(document):
        environment = block.get("environment")
        for name in environment if isinstance(environment, Mapping) else ():
            why = refused(str(name))
            if why:
                key = (*path, "environment", str(name))
                yield Problem(document.path, f"{name} {why}", ".".join(key), position(document, key), HINT)
        for words, why in faults(arguments_of(block)):
            key = (*path, "args")
            yield Problem(document.path, f"{words}: {why}", ".".join(key), position(document, key), HINT)
