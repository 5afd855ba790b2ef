"""From a launch to its trace: everything the result is computed from, and nothing secret (spec/70).

Pure. A trace holds digests, names, counts and classified changes. It holds no prompt, transcript, credential or value of an
environment variable: arguments appear as a number and a digest, the environment as names.
"""

from __future__ import annotations

from typing import Any

from outfitter import __version__
from outfitter.evidence.result import digest
from outfitter.host import StepNote
from outfitter.model.errors import kind
from outfitter.model.outcome import Change, ChildExit, Settlement
from outfitter.model.projection import Prepared, Report
from outfitter.model.request import Notice
from outfitter.run.unobserved import unobserved
from outfitter.run.verdict import verdict

TRACE_VERSION = 1


def trace_of(report: Report, steps: tuple[StepNote, ...], ended_ns: int) -> dict[str, Any]:
    """Return the trace of a launch whose harness was started.

    `steps` are in order; `ended_ns` is the wall clock at the end.
    """
    prepared, settlement = report.prepared, report.settlement
    hashes, unseen = _hashes(prepared, report), unobserved(report.record)
    return {
        "schema_version": TRACE_VERSION,
        "run": {
            "id": report.record.run_id,
            "agent": prepared.composition.agent,
            "chain": list(prepared.composition.chain),
            "harness": prepared.plan.harness,
            "strict": prepared.request.strict,
        },
        "runtime": {"outfitter": __version__, "platform": prepared.request.ambient.platform},
        "hashes": hashes,
        "environment": {
            "sets": sorted(prepared.plan.launch.env_set),
            "unsets": sorted(prepared.plan.launch.env_unset),
        },
        "model": _model(prepared),
        "trust": {
            "state": prepared.trust.state if prepared.trust else "nothing",
            "digest": prepared.trust.exposure.digest if prepared.trust else "",
            "rows": len(prepared.trust.exposure.asking) if prepared.trust else 0,
        },
        "stages": _entries(steps, hashes, report),
        "changes": [_change(change) for change in settlement.changes],
        "coverage": _coverage(settlement, unseen),
        "convergence": _convergence(settlement.changes, settlement.saved, unseen),
        "termination": _termination(report),
        "observed": {"started_ns": report.record.started_ns, "ended_ns": ended_ns},
    }


def _hashes(prepared: Prepared, report: Report) -> dict[str, str]:
    return {
        "layers": digest([list(tree) for tree in prepared.trees]),
        "settings": digest(prepared.settings.values),
        "strategies": digest(
            [
                [row.path.key, row.strategy]
                for row in (*prepared.plan.strategies.declared, prepared.plan.strategies.unknown)
            ]
        ),
        "plan": prepared.composition.digest,
        "baseline": report.record.baseline_digest,
        "final": report.settlement.final_digest,
        "changes": digest([_change(change) for change in report.settlement.changes]),
        "arguments": digest(list(prepared.request.passthrough)),
    }


# What each stage reads and adds, by the names of the hashes above.
_FLOW: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "load layers": ((), ("layers",)),
    "merge settings": (("layers",), ("settings",)),
    "resolve strategies": (("settings",), ("strategies",)),
    "compose": (("layers", "settings"), ("plan",)),
    "project": (("plan", "strategies"), ()),
    "fingerprint": ((), ("baseline",)),
    "run": (("plan", "arguments", "baseline"), ()),
    "fingerprint again": (("baseline",), ("final",)),
    "diff": (("baseline", "final"), ("changes",)),
    "bridge": (("changes",), ("changes",)),
}


def _entries(steps: tuple[StepNote, ...], hashes: dict[str, str], report: Report) -> list[dict[str, Any]]:
    warnings = {
        "compose": report.prepared.notices,
        "bridge": report.settlement.notices,
        "cleanup": report.notices,
    }
    return [
        {
            "name": step.name,
            "status": step.status,
            "inputs": {name: hashes[name] for name in _FLOW.get(step.name, ((), ()))[0]},
            "outputs": {name: hashes[name] for name in _FLOW.get(step.name, ((), ()))[1]},
            "warnings": [_warning(notice) for notice in warnings.get(step.name, ())],
            "failure": None if step.status == "ok" else step.status,
            "observed": {"started_ns": step.started_ns, "ended_ns": step.ended_ns},
        }
        for step in steps
    ]


def _warning(notice: Notice) -> dict[str, str]:
    """Return a notice without its message, which may name the user's files."""
    return {"level": notice.level, "code": notice.code}


def _model(prepared: Prepared) -> dict[str, Any] | None:
    target = prepared.composition.model
    if target is None:
        return None
    return {
        "kind": target.kind,
        "provider": target.provider,
        "model": target.model,
        "api": target.api,
        "credential_variable": target.variable,
        "layer": target.layer,
        "thinking": prepared.composition.thinking,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "path": change.path,
        "change": change.change,
        "zone": change.zone,
        "state_path": change.state_path,
        "strategy": change.strategy,
        "outcome": change.outcome,
        "size_before": change.size_before,
        "size_after": change.size_after,
    }


def _coverage(settlement: Settlement, unseen: tuple[str, ...]) -> dict[str, Any]:
    return {
        "complete": settlement.complete,
        "entries": settlement.entries,
        "unreadable": settlement.unreadable,
        "conflicts": sum(change.outcome == "conflict" for change in settlement.changes),
        "unobserved": list(unseen),
    }


# Outcomes that leave a decision to the user; a warned write was discarded as its strategy says.
_OPEN = ("conflict", "failed", "unreadable")


def _convergence(changes: tuple[Change, ...], saved: bool, unseen: tuple[str, ...]) -> dict[str, Any]:
    unsettled = sorted({change.outcome for change in changes if change.outcome in _OPEN})
    reason = f"every {'observed ' if unseen else ''}change was settled by its strategy"
    if not saved:
        reason = "not everything could be saved"
    elif unsettled:
        reason = "left open: " + ", ".join(unsettled)
    return {"settled": saved and not unsettled, "reason": reason}


def _termination(report: Report) -> dict[str, Any]:
    """Return how the run ended, as kinds and numbers of the errors, without messages."""
    ended = report.ended
    error = verdict(report)
    return {
        "started": isinstance(ended, ChildExit),
        "exit_code": ended.code if isinstance(ended, ChildExit) else None,
        "signal": ended.signal if isinstance(ended, ChildExit) else 0,
        "error": None if error is None else kind(error),
    }
