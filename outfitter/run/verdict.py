"""What, if anything, made a finished launch fail, and its exit code (spec/80)."""

from __future__ import annotations

from outfitter.model.errors import LaunchError, StateViolated, exit_code
from outfitter.model.outcome import ChildExit
from outfitter.model.projection import Report


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
