"""Whose a path in a projection is, and under which strategy (spec/50, "Three kinds of files"). Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from outfitter.model.outcome import Zone
from outfitter.model.projection import Bridge, Record, State
from outfitter.model.value import NamedTuple


class Ground(NamedTuple):
    """What holds at one path. `state` is the declared path it belongs to, `bridge` the rule that merges it back, if any.

    `strategy` is what a change there is shown with; `one_run` marks generated content at a declared file's path.
    """

    zone: Zone
    strategy: str
    state_path: str = ""
    state: State | None = None
    bridge: Bridge | None = None
    one_run: bool = False


class Zones(NamedTuple):
    """A record's paths, indexed: made once, asked for every change."""

    unknown: str
    files: Mapping[str, State]
    directories: Mapping[str, State]
    bridges: Mapping[str, Bridge]
    generated: frozenset[str]
    parents: frozenset[str]
    entries: frozenset[str]


def zones(record: Record) -> Zones:
    """Index a record. A directory's entry (first component below a declared directory) that holds generated files is generated whole."""
    directories = {state.key: state for state in record.states if state.key.endswith("/")}
    entries: set[str] = set()
    parents: set[str] = set()
    for path in record.generated:
        for parent in _above(path):
            parents.add(parent)
            if parent + "/" in directories:
                entries.add(parent + "/" + path[len(parent) + 1 :].split("/", 1)[0])
    return Zones(
        record.unknown,
        {state.key: state for state in record.states if not state.key.endswith("/")},
        directories,
        {bridge.path: bridge for bridge in record.bridges if bridge.rule != "rewrite"},
        frozenset(record.generated),
        frozenset(parents),
        frozenset(entries),
    )


def ground(zones: Zones, path: str) -> Ground:
    """What holds at a projection-relative path without a trailing slash."""
    bridge = zones.bridges.get(path)
    if bridge:
        return Ground("declared", "bridge", path, zones.files.get(path), bridge)
    state = zones.files.get(path)
    if state:
        one_run = path in zones.generated
        strategy = {"symlink": "discard", "prompt": "warn"}.get(state.handling) if one_run else None
        return Ground("declared", strategy or state.handling, path, state, one_run=one_run)
    for parent in (path, *_above(path)):
        state, bridge = zones.directories.get(parent + "/"), zones.bridges.get(parent + "/")
        if state or bridge:
            return _inside(zones, path, parent + "/", state, bridge)
    ours = path in zones.generated or path in zones.parents
    return Ground("generated" if ours else "unknown", zones.unknown)


def _inside(zones: Zones, path: str, key: str, state: State | None, bridge: Bridge | None) -> Ground:
    if key + path[len(key) :].split("/", 1)[0] in zones.entries:
        return Ground("generated", zones.unknown)
    # Transcripts are declared `symlink`: the bridge is how that is kept without showing other projects' (spec/00).
    strategy = "symlink" if bridge or state is None else state.handling
    return Ground("declared", strategy, key, state, bridge)


def _above(path: str) -> list[str]:
    """The directories above a path, nearest first."""
    found = []
    while path := posixpath.dirname(path):
        found.append(path)
    return found
