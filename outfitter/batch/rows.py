"""Many inputs, one agent: from selected inputs to typed outcomes whose counts add up (seed 004, spec/70). Pure.

Every selected input has exactly one row with exactly one outcome; the first success is never taken for the whole.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

Outcome = Literal["succeeded", "failed", "skipped", "missing"]
OUTCOMES: tuple[Outcome, ...] = ("succeeded", "failed", "skipped", "missing")
BATCH_VERSION = 1

# How each harness is told a task without a terminal: its arguments, the text last or on standard input.
TASK_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "pi": ("-p",),
    "claude": ("-p",),
    "codex": ("exec", "--skip-git-repo-check"),
}


class Input(NamedTuple):
    """One selected input as found. `name` is its path, with `:line` for a line of a `.jsonl`; `key` names its attempt.

    `problem` is "" or why it cannot be run: then `outcome` says what it counts as. The text is `length` bytes of the file
    `path` from `start` on.
    """

    name: str
    key: str
    digest: str
    problem: str = ""
    outcome: Outcome = "failed"
    path: str = ""
    start: int = 0
    length: int = 0


class Attempt(NamedTuple):
    """What running (or finding) one input's attempt gave. `root` is relative to the batch's root, "" without a pair."""

    key: str
    outcome: Outcome
    reason: str
    exit_code: int | None
    root: str
    ran: bool
    seconds: float = 0.0


def to_run(inputs: Iterable[Input], verified: set[str]) -> list[Input]:
    """The inputs that need an attempt: no problem of their own, and no verified pair from before."""
    return [item for item in inputs if not item.problem and item.key not in verified]


def from_pair(key: str, root: str, result: dict[str, Any], *, ran: bool, seconds: float = 0.0) -> Attempt:
    """The attempt of an input whose pair verified: its verdict is the outcome."""
    passed = result["verdict"] == "pass"
    reason = "" if passed else str(result["termination_reason"])
    code = _exit_code(result)
    return Attempt(key, "succeeded" if passed else "failed", reason, code, root, ran, seconds)


def report(
    agent: str, harness: str, inputs: Sequence[Input], attempts: dict[str, Attempt], *, complete: bool
) -> dict[str, Any]:
    """The batch's result: a row an input, and counts that add up to the selection.

    `complete` is False where the batch was interrupted: inputs not reached are then `skipped`, and say so.
    """
    rows = [_row(item, attempts.get(item.key)) for item in inputs]
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in OUTCOMES}
    return {
        "schema_version": BATCH_VERSION,
        "agent": agent,
        "harness": harness,
        "complete": complete,
        "counts": {"selected": len(rows), **counts},
        "reconciled": sum(counts.values()) == len(rows),
        "inputs": rows,
    }


def _row(item: Input, attempt: Attempt | None) -> dict[str, Any]:
    if item.problem:
        attempt = Attempt(item.key, item.outcome, item.problem, None, "", False)
    elif attempt is None:
        attempt = Attempt(item.key, "skipped", "not reached", None, "", False)
    return {
        "input": item.name,
        "digest": item.digest,
        "outcome": attempt.outcome,
        "reason": attempt.reason,
        "exit_code": attempt.exit_code,
        "attempt": attempt.root or None,
        "ran": attempt.ran,
        "seconds": round(attempt.seconds, 3),
    }


def _exit_code(result: dict[str, Any]) -> int | None:
    """The harness's own code as `outfitter run` gave it, from the words of the result's reason."""
    word, _, number = str(result["termination_reason"]).partition(" ")
    if not number.isdigit() or word not in ("exit", "signal"):
        return None
    return int(number) if word == "exit" else 128 + int(number)
