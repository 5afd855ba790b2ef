"""MCP servers: `mcp.json` over all layers in one normal form (spec/15 V2 and V20 to V26, spec/10). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from outfitter.model.composition import Server
from outfitter.model.layers import Layer
from outfitter.model.request import Notice, Problem


class Servers(NamedTuple):
    """The servers an agent can select, by id.

    `about` holds the warnings of each id, to be said where that id is selected: how it is written, or why it was left out
    (then it is not in `by_id`). `hidden` ids are switched off. `notices` are about files, `problems` their syntax.
    """

    by_id: Mapping[str, Server]
    about: Mapping[str, tuple[Notice, ...]] = {}
    hidden: frozenset[str] = frozenset()
    notices: tuple[Notice, ...] = ()
    problems: tuple[Problem, ...] = ()


def servers(layers: Sequence[Layer], agents: Sequence[str]) -> Servers:
    """The tree's servers and, over them by id, those of `agents` (a later one over an earlier one), higher layers first."""
    raise NotImplementedError


def machine_paths(server: Server) -> tuple[str, ...]:
    """The absolute paths in `command` and `args`: whoever can look warns where one does not exist (spec/15 V26)."""
    raise NotImplementedError
