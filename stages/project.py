"""Project.

Reads: `Prepared`, the open run directory.
Adds: `Projected`.
Effects: makes the run directory, and everything below it; creates missing durable targets of `symlink` paths.
"""

from __future__ import annotations

from outfitter.adapters import Adapter
from outfitter.host import Occupied, Projecting, Runs, Terminal
from outfitter.model.composition import Composition
from outfitter.model.projection import Facts, Prepared, Projected, ProjectionPlan, Record
from outfitter.model.request import Request
from outfitter.model.settings import Settings, Strategies
from outfitter.railway import Effect, Outcome


def plan_projection(
    adapter: Adapter,
    settings: Settings,
    composition: Composition,
    strategies: Strategies,
    facts: Facts,
    request: Request,
) -> Outcome[ProjectionPlan]:
    """The adapter's plan, checked: every path stays inside the projection, no path is of two kinds, unsupported elements warned."""
    raise NotImplementedError


def open_run(runs: Runs, prepared: Prepared) -> Effect[Occupied]:
    """The run directory, made and locked, with its journal written in phase `preparing`."""
    raise NotImplementedError


def project(projecting: Projecting, terminal: Terminal, prepared: Prepared, record: Record) -> Effect[Projected]:
    """Carry the plan out: generated files, copies, links, watched copies, seeds (spec/50, "Materializing")."""
    raise NotImplementedError
