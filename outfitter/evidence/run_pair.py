"""`--out ROOT`: the evidence of a run, checked before it and written after it (spec/70)."""

from __future__ import annotations

import os
import time

from outfitter.evidence.files import check_root, write_pair
from outfitter.evidence.result import reconstruct, unstarted
from outfitter.evidence.trace import trace_of
from outfitter.host import StepNote
from outfitter.model.errors import EffectFailed, LaunchError
from outfitter.model.outcome import ChildExit
from outfitter.model.projection import Prepared, Report
from outfitter.model.request import Request

HINT = "give each attempt an --out of its own: an absent or empty directory"


def root_of(request: Request) -> str:
    """The absolute output root, "" where none was asked for."""
    return os.path.normpath(os.path.join(request.ambient.cwd, request.out)) if request.out else ""


def refusal(request: Request) -> EffectFailed | None:
    """Why no evidence could be written where it was asked for: found out before anything is started."""
    root = root_of(request)
    reason = check_root(root) if root else ""
    return EffectFailed("use the output root", root, reason, HINT) if reason else None


def write_report(request: Request, report: Report, steps: tuple[StepNote, ...]) -> EffectFailed | None:
    """The pair of a run whose harness was started, or the lone veto of one whose harness could not be."""
    if not isinstance(report.ended, ChildExit):
        return write_unstarted(request, report.record.run_id, report.ended)
    trace = trace_of(report, steps, time.time_ns())
    return _write(request, trace, reconstruct(trace))


def write_plan(request: Request, prepared: Prepared) -> EffectFailed | None:
    """The veto-shaped result of a dry run."""
    return write_unstarted(request, prepared.site.run_id, None)


def write_unstarted(request: Request, run_id: str, error: LaunchError | None) -> EffectFailed | None:
    """The veto-shaped result of what never started."""
    return _write(request, None, unstarted(run_id, error, request.ambient.platform))


def _write(request: Request, trace: dict[str, object] | None, result: dict[str, object]) -> EffectFailed | None:
    root = root_of(request)
    if not root:
        return None
    try:
        write_pair(root, trace, result)
    except OSError as error:
        return EffectFailed("write the evidence", root, error.strerror or str(error))
    return None
