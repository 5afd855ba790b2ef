"""What makes a launch fail by policy rather than by accident: `--strict` before it, `error` strategies after it (spec/80)."""

from __future__ import annotations

from attrs import evolve
from returns.result import Failure, Success

from outfitter.errors import LaunchError, PolicyRefused, StateViolated, exit_code
from outfitter.model.outcome import ChildExit
from outfitter.model.projection import Prepared, Report
from outfitter.railway import Outcome


def refuse(prepared: Prepared) -> Outcome[Prepared]:
    """Gather the notices of every stage, in order and once; under `--strict` a warning among them ends the launch (122)."""
    parts = (prepared.settings, prepared.site, prepared.plan.strategies, prepared.composition, prepared.plan)
    notices = tuple(dict.fromkeys(notice for part in parts for notice in part.notices))
    warnings = tuple(notice for notice in notices if notice.level == "warning")
    if prepared.request.strict and warnings:
        return Failure(PolicyRefused((), warnings))
    return Success(evolve(prepared, notices=notices))


def violation(report: Report) -> StateViolated | None:
    """The paths that fail a run whose harness exited 0: `failed` ones, and under `--strict` every `warned` one.

    What could not be read counts as what its strategy makes of a change.
    """
    outcomes = ("failed", "warned") if report.record.strict else ("failed",)
    watched = ("error", "warn", "prompt") if report.record.strict else ("error",)
    paths = tuple(
        change.path
        for change in report.settlement.changes
        if change.outcome in outcomes or (change.outcome == "unreadable" and change.strategy in watched)
    )
    return StateViolated(paths) if paths else None


def verdict(report: Report) -> LaunchError | None:
    """What, if anything, ended the launch as a failure of ours or of the policy; a harness's own code is not one."""
    if not isinstance(report.ended, ChildExit):
        return report.ended
    return violation(report) if report.ended.code == 0 else None


def run_code(report: Report) -> int:
    """The exit code of `outfitter run`: the harness's own, else that of the verdict (spec/80)."""
    error = verdict(report)
    if error is not None:
        return exit_code(error)
    return report.ended.code if isinstance(report.ended, ChildExit) else 0
