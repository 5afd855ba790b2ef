"""The result as a pure function of the trace, and the veto of a launch that never started (spec/70)."""

from __future__ import annotations

import json
from typing import Any

from blake3 import blake3

from outfitter import __version__
from outfitter.model.errors import LaunchError, exit_code, kind


def canonical(value: Any) -> bytes:
    """Return JSON with sorted keys, no spaces, ASCII only; lone surrogates stay as their escapes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def digest(value: Any) -> str:
    """Return the BLAKE3 hex of the canonical bytes."""
    return blake3(canonical(value)).hexdigest()


RESULT_VERSION = 1
TRACE_PATH = "trace/run_trace.json"
RESULT_PATH = "result/final_result.json"

# Every top-level key of a trace belongs to one section. The result carries the digest of each section, which shows
# where a trace was edited.
SECTIONS: dict[str, tuple[str, ...]] = {
    "config": ("schema_version", "run", "runtime", "environment"),
    "model": ("model",),
    "state": ("hashes", "changes", "coverage"),
    "outcome": ("stages", "convergence", "termination", "observed"),
}


def reconstruct(trace: dict[str, Any]) -> dict[str, Any]:
    """Return the result that belongs to a valid trace of the current schema version."""
    termination, convergence, coverage = trace["termination"], trace["convergence"], trace["coverage"]
    passed = termination["started"] and termination["exit_code"] == 0 and termination["error"] is None
    return {
        "schema_version": RESULT_VERSION,
        "run_id": trace["run"]["id"],
        "verdict": "pass" if passed else "veto",
        "confidence": _confidence(coverage),
        "epistemic_status": _epistemic_status(coverage),
        "stop_reason": _stop_reason(termination),
        "termination_reason": _termination_reason(termination),
        "convergence": dict(convergence),
        "runtime": dict(trace["runtime"]),
        "model": trace["model"],
        "trace_path": TRACE_PATH,
        "trace_digest": digest(trace),
        "trace_sections": {name: digest({key: trace.get(key) for key in keys}) for name, keys in SECTIONS.items()},
    }


def unstarted(run_id: str, error: LaunchError | None, platform: str) -> dict[str, Any]:
    """Return the result of a launch whose harness did not start: a veto without a trace.

    `error` is None for a dry run.
    """
    stop = "dry-run" if error is None else "refused"
    return {
        "schema_version": RESULT_VERSION,
        "run_id": run_id,
        "verdict": "veto",
        "confidence": 0.0,
        "epistemic_status": "uncertain",
        "stop_reason": stop,
        "termination_reason": stop if error is None else f"{kind(error)} ({exit_code(error)})",
        "convergence": {"settled": False, "reason": "no harness was started"},
        "runtime": {"outfitter": __version__, "platform": platform},
        "model": None,
        "trace_path": None,
        "trace_digest": None,
        "trace_sections": None,
    }


# In `coverage.unobserved`: the harness's whole own directory (spec/70).
_EVERYTHING = "*"


def _unobserved(coverage: dict[str, Any]) -> list[str]:
    """Return the state paths that nobody looked into; a trace of an older version names none."""
    return list(coverage.get("unobserved", ()))


def _epistemic_status(coverage: dict[str, Any]) -> str:
    unseen = _unobserved(coverage)
    if _EVERYTHING in unseen:
        return "unobserved"
    certain = coverage["complete"] and not coverage["unreadable"] and not coverage["conflicts"] and not unseen
    return "certain" if certain else "uncertain"


def _confidence(coverage: dict[str, Any]) -> float:
    """Return the share of what the harness could write that was read, rounded to be equal on all systems.

    Every unobserved state path counts as one entry that was not read; where nothing was observed the share is 0.
    """
    unseen = _unobserved(coverage)
    if _EVERYTHING in unseen:
        return 0.0
    entries, unread = int(coverage["entries"]) + len(unseen), int(coverage["unreadable"]) + len(unseen)
    return round(1 - unread / entries, 6) if entries else float(not unread)


def _stop_reason(termination: dict[str, Any]) -> str:
    if not termination["started"]:
        return "not-started"
    return "signal" if termination["signal"] else "exited"


def _termination_reason(termination: dict[str, Any]) -> str:
    if termination["error"] is not None:
        return str(termination["error"])
    if termination["signal"]:
        return f"signal {termination['signal']}"
    return f"exit {termination['exit_code']}"
