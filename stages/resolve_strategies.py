"""Resolve strategies.

Reads: an adapter's declared state paths, `Settings`, `Facts`.
Adds: `Strategies`.
Effects: none.
"""

from __future__ import annotations

from returns.result import Failure, Success

from outfitter.adapters import Adapter
from outfitter.model.errors import PolicyRefused
from outfitter.model.projection import Facts
from outfitter.model.request import Request
from outfitter.model.settings import Settings, StatePath, Strategies
from outfitter.railway import Outcome
from outfitter.settings.state_persistence import (
    STRATEGIES,
    UNKNOWN,
    Entries,
    declared_by,
    entries,
    others,
    problems,
    resolution,
)


def resolve_strategies(adapter: Adapter, settings: Settings, facts: Facts, request: Request) -> Outcome[Strategies]:
    """Return each declared path's strategy: the settings' override, else the adapter's default (spec/50).

    Errors: `PolicyRefused` (122) with every entry that names an unknown strategy, one its path does not allow, or a path
    that no adapter declares (spec/20, spec/95 CLS-08). What an inherited run cannot enforce is checked all the same.
    """
    paths = adapter.state_paths(request, settings, facts)
    declared = tuple(path for path in paths if path.key != UNKNOWN.key)
    unknown = next((path for path in paths if path.key == UNKNOWN.key), UNKNOWN)
    found = entries(settings, adapter.id)
    keys = {UNKNOWN.key, *(path.key for path in paths)}
    idle = tuple(path for path in adapter.declared if path.key not in keys) or _undeclared(adapter, found)
    known = (*declared, *idle, unknown)
    wrong = problems(found, adapter.id, known)
    if wrong:
        return Failure(PolicyRefused(wrong))
    return Success(
        Strategies(
            tuple(resolution(path, found) for path in declared),
            resolution(unknown, found),
            idle=tuple(resolution(path, found) for path in idle),
        )
    )


def _undeclared(adapter: Adapter, found: Entries) -> tuple[StatePath, ...]:
    """Return the plain entries' paths that other harnesses declare, for one that declares none."""
    if adapter.declared or not found.plain:
        return ()
    elsewhere = declared_by(others(adapter.id))
    return tuple(StatePath(key, "symlink", STRATEGIES) for key in found.plain if key in elsewhere)
