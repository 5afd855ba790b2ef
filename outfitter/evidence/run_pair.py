"""`--out ROOT`: the evidence of a run, checked before the run and written after it (spec/70)."""

from __future__ import annotations

import os
import time

from outfitter.evidence.files import check_root, write_pair
from outfitter.evidence.result import reconstruct, unstarted
from outfitter.evidence.trace import trace_of
from outfitter.host import StepNote
from outfitter.model.errors import EffectFailed, LaunchError, os_error_text
from outfitter.model.outcome import ChildExit
from outfitter.model.projection import Prepared, Report
from outfitter.model.request import Request

HINT = "give each attempt its own --out: an absent or empty directory"


def root_of(request: Request) -> str:
    """Return the absolute output root, "" without one."""
    return os.path.normpath(os.path.join(request.ambient.cwd, request.out)) if request.out else ""


def refusal(request: Request) -> EffectFailed | None:
    """Return why no evidence could be written to the output root, before anything is started."""
    root = root_of(request)
    reason = check_root(root) if root else ""
    return EffectFailed("use the output root", root, reason, HINT) if reason else None


def write_report(request: Request, report: Report, steps: tuple[StepNote, ...]) -> EffectFailed | None:
    """Write the pair of a run, or the lone veto if the harness could not be started."""
    if not isinstance(report.ended, ChildExit):
        return write_unstarted(request, report.record.run_id, report.ended)
    trace = trace_of(report, steps, time.time_ns())
    return _write(request, trace, reconstruct(trace))


def write_plan(request: Request, prepared: Prepared) -> EffectFailed | None:
    """Write the veto of a dry run."""
    return write_unstarted(request, prepared.site.run_id, None)


def write_unstarted(request: Request, run_id: str, error: LaunchError | None) -> EffectFailed | None:
    """Write the veto of a launch whose harness did not start."""
    return _write(request, None, unstarted(run_id, error, request.ambient.platform))


def _write(request: Request, trace: dict[str, object] | None, result: dict[str, object]) -> EffectFailed | None:
    root = root_of(request)
    if not root:
        return None
    try:
        write_pair(root, trace, result)
    except OSError as error:
        return EffectFailed("write the evidence", root, os_error_text(error))
    return None
