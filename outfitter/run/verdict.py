"""Why a finished launch failed, if it did, and its exit code (spec/80)."""

from __future__ import annotations

from outfitter.model.errors import LaunchError, StateViolated, exit_code
from outfitter.model.outcome import ChildExit
from outfitter.model.projection import Report


def violation(report: Report) -> StateViolated | None:
    """Return the paths that fail a run of a harness that exited 0, None if there are none.

    These are the `failed` ones and, under `--strict`, the `warned` ones. An unreadable path counts as changed.
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
    """Return the error that ended the launch, None if there is none; a harness's own exit code is not one."""
    if not isinstance(report.ended, ChildExit):
        return report.ended
    return violation(report) if report.ended.code == 0 else None


def run_code(report: Report) -> int:
    """Return the exit code of `outfitter run`: that of the verdict, else the harness's own (spec/80)."""
    error = verdict(report)
    if error is not None:
        return exit_code(error)
    return report.ended.code if isinstance(report.ended, ChildExit) else 0
