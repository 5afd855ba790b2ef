"""The entries of `state_persistence` as one harness sees them (spec/20, spec/50)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, get_args

from outfitter.adapters import NAMES, adapter
from outfitter.model.request import Problem
from outfitter.model.settings import KeyPath, Origin, Resolution, Settings, StatePath, Strategy
from outfitter.model.value import NamedTuple

SECTION = "state_persistence"
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
# The pseudo-path of every write that no declared path covers (seed 000).
UNKNOWN = StatePath("unknown", "warn", ("discard", "warn", "error", "prompt"))

_BY_DEFAULT = Origin("default")


class Entry(NamedTuple):
    """One setting: `path` is its key path, `rank` its scope's place in the order (0 is highest)."""

    path: KeyPath
    value: Any
    origin: Origin
    rank: int

    @property
    def key(self) -> str:
        """The state path's key as the setting spells it."""
        return self.path[-1]


class Entries(NamedTuple):
    """The plain entries, those in the harness's own block, and all in other harnesses' blocks, by key."""

    plain: Mapping[str, Entry]
    own: Mapping[str, Entry]
    others: tuple[Entry, ...]


def entries(settings: Settings, harness: str) -> Entries:
    """Sort the merged `state_persistence` for one harness."""
    section = settings.values.get(SECTION)
    if not isinstance(section, Mapping):
        return Entries({}, {}, ())
    ranks = {scope.path: rank for rank, scope in enumerate(settings.scopes)}

    def rows(values: Mapping[str, Any], at: KeyPath) -> dict[str, Entry]:
        found = {key: (value, _origin(settings, (*at, key))) for key, value in values.items()}
        return {key: Entry((*at, key), value, o, ranks.get(o.path, len(ranks))) for key, (value, o) in found.items()}

    blocks = {name: section[name] for name in NAMES if isinstance(section.get(name), Mapping)}
    nested = {name: rows(block, (SECTION, name)) for name, block in blocks.items()}
    plain = rows({key: value for key, value in section.items() if key not in blocks}, (SECTION,))
    others = tuple(entry for name, block in nested.items() if name != harness for entry in block.values())
    return Entries(plain, nested.get(harness, {}), others)


def resolution(path: StatePath, found: Entries) -> Resolution:
    """Return the strategy of one declared path: the higher scope's entry, else the default."""
    own, plain = found.own.get(path.key), _reaching(path, found)
    if own is not None and (plain is None or own.rank <= plain.rank):
        return Resolution(path, own.value, own.origin, "harness")
    if plain is not None:
        return Resolution(path, plain.value, plain.origin, "plain")
    return Resolution(path, path.default, _BY_DEFAULT)


def problems(found: Entries, harness: str, known: tuple[StatePath, ...]) -> tuple[Problem, ...]:
    """Return every entry that refuses a launch, in order of files; `known` are the harness's paths."""
    if not (found.plain or found.own or found.others):
        return ()
    wrong = (*_misdirected(found, harness, known), *_disallowed(found, known), *_unread(found, known))
    return tuple(sorted(dict.fromkeys(wrong), key=lambda problem: (problem.path, problem.at)))


def _misdirected(found: Entries, harness: str, known: tuple[StatePath, ...]) -> Iterator[Problem]:
    """Keys that name no declared path: in the block none of this harness, plain none of any."""
    keys = {path.key for path in known}
    for entry in found.own.values():
        if entry.key not in keys:
            yield _undeclared(entry, harness, known)
    for entry in found.plain.values():
        if entry.key in NAMES:
            yield _problem(
                entry, f"takes a mapping of paths, not {_shown(entry.value)}", f"{entry.key}: {{<path>: <strategy>}}"
            )
        elif entry.key not in keys and entry.key not in declared_by(others(harness)):
            yield _undeclared(entry, harness, known)


def _disallowed(found: Entries, known: tuple[StatePath, ...]) -> Iterator[Problem]:
    """Deciding entries whose strategy their path does not allow."""
    for path in known:
        chosen = resolution(path, found)
        if chosen.strategy in path.allowed or chosen.form == "default":
            continue
        entry = (found.own if chosen.form == "harness" else found.plain)[path.key]
        yield _problem(entry, _refused(entry, path.key), f"allowed for {path.key}: {', '.join(path.allowed)}")


def _unread(found: Entries, known: tuple[StatePath, ...]) -> Iterator[Problem]:
    """Entries that decide nothing here, but hold no strategy at all."""
    deciding = {resolution(path, found).origin for path in known}
    for entry in (*found.plain.values(), *found.own.values(), *found.others):
        if entry.value not in STRATEGIES and entry.origin not in deciding and entry.key not in NAMES:
            yield _problem(entry, _refused(entry, entry.key), f"strategies: {', '.join(STRATEGIES)}")


def _reaching(path: StatePath, found: Entries) -> Entry | None:
    """Return the plain entry of a path; known scratch has one only if no table declares its key."""
    entry = found.plain.get(path.key)
    if entry is None or not path.scratch:
        return entry
    return None if any(one.key == path.key and not one.scratch for name in NAMES for one in _paths(name)) else entry


def _undeclared(entry: Entry, harness: str, known: tuple[StatePath, ...]) -> Problem:
    """The hint names the nearest path and what it allows, else the paths that there are."""
    from outfitter.model.wording import listed, nearest

    tables = [path for path in known if not path.scratch]
    foreign = [path for name in others(harness) for path in _paths(name)] if len(entry.path) == 2 else []
    by_stem = {_stem(path.key): path for path in reversed((*tables, *known, *foreign))}
    near = nearest(_stem(entry.key), by_stem, 1)
    if near:
        path = by_stem[near[0]]
        hint = f"nearest declared path: {path.key} (allowed: {', '.join(path.allowed)})"
    else:
        every = listed([path.key for path in tables], 16)
        hint = f"no declared path is near it; {harness} declares {every} (allowed: {', '.join(STRATEGIES)}, each path some of them)"
    return _problem(entry, f"{harness} declares no such path", hint)


def _stem(key: str) -> str:
    """What tells a path from another: neither its place nor its ending, which many share."""
    name = key.strip("/").rpartition("/")[2]
    return name.lstrip(".").partition(".")[0] or name


def _refused(entry: Entry, key: str) -> str:
    if isinstance(entry.value, str) and entry.value in STRATEGIES:
        return f"{key} does not allow {entry.value}"
    return f"{_shown(entry.value)} is not a strategy"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list) else repr(value)


def _problem(entry: Entry, message: str, hint: str) -> Problem:
    return Problem(entry.origin.path, message, ".".join(entry.path), entry.origin.at, hint)


def _origin(settings: Settings, path: KeyPath) -> Origin:
    """Who set a leaf, or the first leaf below a mapping."""
    if path in settings.origins:
        return settings.origins[path]
    below = (origin for leaf, origin in settings.origins.items() if leaf[: len(path)] == path)
    return next(below, Origin("default"))


def others(harness: str) -> tuple[str, ...]:
    """Return the other harnesses."""
    return tuple(name for name in NAMES if name != harness)


def declared_by(names: Iterable[str]) -> frozenset[str]:
    """Return every path that these harnesses declare."""
    return frozenset(path.key for name in names for path in _paths(name))


@cache
def _paths(name: str) -> tuple[StatePath, ...]:
    """Return a harness's declared paths; imports its adapter, so it is asked for last."""
    return adapter(name).declared
