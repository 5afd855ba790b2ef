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
    certain = coverage["complete"] and not coverage["unreadable"] and not coverage["conflicts"]
    return {
        "schema_version": RESULT_VERSION,
        "run_id": trace["run"]["id"],
        "verdict": "pass" if passed else "veto",
        "confidence": _confidence(coverage),
        "epistemic_status": "certain" if certain else "uncertain",
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


def _confidence(coverage: dict[str, Any]) -> float:
    """Return the share of the projection's entries that could be read, rounded to be equal on all systems."""
    entries, unreadable = int(coverage["entries"]), int(coverage["unreadable"])
    return round(1 - unreadable / entries, 6) if entries else float(not unreadable)


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
