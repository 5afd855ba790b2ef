"""Merge settings scopes: for each key the highest scope wins, and every leaf keeps its origins.

The merge is a monoid. A mapping over a non-mapping is closed: what stands below that non-mapping is hidden by it, although
it was itself overridden. Without that, the order in which scopes are joined would change the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from outfitter.model.request import Position
from outfitter.model.settings import KeyPath, Origin, Scope
from outfitter.model.value import NamedTuple


class Leaf(NamedTuple):
    """A scalar or a list (lists replace), with its origin and those it overrode, highest first."""

    value: Any
    origin: Origin
    overridden: tuple[Origin, ...] = ()


class Branch(NamedTuple):
    """A mapping. `closed`: no lower scope adds to it. `overridden` are non-mappings that stood here."""

    children: Mapping[str, Node]
    closed: bool = False
    overridden: tuple[Origin, ...] = ()


Node = Leaf | Branch
EMPTY = Branch({})


class Merged(NamedTuple):
    """The result laid flat: values, and for every leaf's key path its origin and whom it overrode."""

    values: dict[str, Any]
    origins: dict[KeyPath, Origin]
    overridden: dict[KeyPath, tuple[Origin, ...]]


def merge_scopes(scopes: Iterable[Scope]) -> Merged:
    """All scopes as one, highest first."""
    return flatten(reduce(merge, (grown(scope) for scope in scopes), EMPTY))


def grown(scope: Scope) -> Branch:
    """A scope as a tree with origins. A key without a value is not there at all (spec/95 YML-11)."""

    def grow(value: Any, path: KeyPath) -> Node:
        if not isinstance(value, Mapping):
            return Leaf(value, Origin(scope.kind, scope.path, _place(scope, path)))
        return Branch({name: grow(inner, (*path, name)) for name, inner in value.items() if inner is not None})

    root = grow(scope.values, ())
    return root if isinstance(root, Branch) else EMPTY


def merge(high: Branch, low: Branch) -> Branch:
    """Two trees as one; associative, with `EMPTY` as its unit."""
    if high.closed:
        return high._replace(overridden=high.overridden + low.overridden)
    children = {name: _joined(node, low.children.get(name)) for name, node in high.children.items()}
    rest = {name: node for name, node in low.children.items() if name not in children}
    return Branch({**children, **rest}, low.closed, high.overridden + low.overridden)


def flatten(tree: Branch) -> Merged:
    """A tree's values and the origins of its leaves."""
    merged = Merged({}, {}, {})

    def lay(branch: Branch, path: KeyPath, into: dict[str, Any]) -> None:
        for name, node in branch.children.items():
            where = (*path, name)
            if isinstance(node, Branch):
                into[name] = {}
                lay(node, where, into[name])
            else:
                into[name] = node.value
                merged.origins[where] = node.origin
                if node.overridden:
                    merged.overridden[where] = node.overridden

    lay(tree, (), merged.values)
    return merged


def _joined(high: Node, low: Node | None) -> Node:
    if low is None:
        return high
    below = low.overridden if isinstance(low, Branch) else (low.origin, *low.overridden)
    if isinstance(high, Leaf):
        return high._replace(overridden=high.overridden + below)
    if isinstance(low, Branch):
        return merge(high, low)
    return high._replace(closed=True, overridden=high.overridden + below)


def _place(scope: Scope, path: KeyPath) -> Position:
    """Where a key path stands in its file, or what is around it."""
    while path and path not in scope.positions:
        path = path[:-1]
    return scope.positions.get(path, Position())
