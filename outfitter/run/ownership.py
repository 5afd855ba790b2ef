"""Who owns a path in a projection, and which strategy applies (spec/50, "Three kinds of files"). Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from outfitter.model.outcome import Zone
from outfitter.model.projection import Bridge, Record, State
from outfitter.model.value import NamedTuple


class Owner(NamedTuple):
    """The owner of one path.

    `state` is the declared path it belongs to and `bridge` the rule that merges it back, if any. `strategy` is shown with a
    change there. `one_run` marks generated content at the path of a declared file.
    """

    zone: Zone
    strategy: str
    state_path: str = ""
    state: State | None = None
    bridge: Bridge | None = None
    one_run: bool = False


class PathIndex(NamedTuple):
    """The paths of a record, indexed once for the questions about every change."""

    unknown: str
    files: Mapping[str, State]
    directories: Mapping[str, State]
    bridges: Mapping[str, Bridge]
    generated: frozenset[str]
    parents: frozenset[str]
    entries: frozenset[str]


def index_paths(record: Record) -> PathIndex:
    """Index the paths of a record.

    An entry directly below a declared directory that holds generated files counts as generated as a whole.
    """
    directories = {state.key: state for state in record.states if state.key.endswith("/")}
    entries: set[str] = set()
    parents: set[str] = set()
    for path in record.generated:
        for parent in _above(path):
            parents.add(parent)
            if parent + "/" in directories:
                entries.add(parent + "/" + path[len(parent) + 1 :].split("/", 1)[0])
    return PathIndex(
        record.unknown,
        {state.key: state for state in record.states if not state.key.endswith("/")},
        directories,
        {bridge.path: bridge for bridge in record.bridges if bridge.rule != "rewrite"},
        frozenset(record.generated),
        frozenset(parents),
        frozenset(entries),
    )


def owner_of(paths: PathIndex, path: str) -> Owner:
    """Return the owner of a projection-relative path without a trailing slash."""
    bridge = paths.bridges.get(path)
    if bridge:
        return Owner("declared", "bridge", path, paths.files.get(path), bridge)
    state = paths.files.get(path)
    if state:
        one_run = path in paths.generated
        strategy = {"symlink": "discard", "prompt": "warn"}.get(state.handling) if one_run else None
        return Owner("declared", strategy or state.handling, path, state, one_run=one_run)
    for parent in (path, *_above(path)):
        state, bridge = paths.directories.get(parent + "/"), paths.bridges.get(parent + "/")
        if state or bridge:
            return _inside(paths, path, parent + "/", state, bridge)
    ours = path in paths.generated or path in paths.parents
    return Owner("generated" if ours else "unknown", paths.unknown)


def _inside(paths: PathIndex, path: str, key: str, state: State | None, bridge: Bridge | None) -> Owner:
    if key + path[len(key) :].split("/", 1)[0] in paths.entries:
        return Owner("generated", paths.unknown)
    # Transcripts are declared `symlink`: the bridge is how that is kept without showing other projects' (spec/00).
    strategy = "symlink" if bridge or state is None else state.handling
    return Owner("declared", strategy, key, state, bridge)


def _above(path: str) -> list[str]:
    """Return the directories above a path, nearest first."""
    parents = []
    while path := posixpath.dirname(path):
        parents.append(path)
    return parents
