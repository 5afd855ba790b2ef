"""Reject warnings under `--strict`, before anything is written (spec/80).

Reads: the notices of every earlier stage.
Adds: `Prepared.notices`, in order and once.
Effects: none.
"""

from __future__ import annotations

from attrs import evolve
from returns.result import Failure, Success

from outfitter.model.errors import PolicyRefused
from outfitter.model.projection import Prepared
from outfitter.railway import Outcome


def reject_warnings(prepared: Prepared) -> Outcome[Prepared]:
    """Gather the notices of every stage; under `--strict` a warning among them ends the launch (122)."""
    parts = (prepared.settings, prepared.site, prepared.plan.strategies, prepared.composition, prepared.plan)
    notices = tuple(dict.fromkeys(notice for part in parts for notice in part.notices))
    warnings = tuple(notice for notice in notices if notice.level == "warning")
    if prepared.request.strict and warnings:
        return Failure(PolicyRefused((), warnings))
    return Success(evolve(prepared, notices=notices))
