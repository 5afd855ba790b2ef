"""From the inputs of a batch to typed outcomes with counts that add up (seed 004, spec/70). Pure.

Every selected input has exactly one row with exactly one outcome.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

InputOutcome = Literal["succeeded", "failed", "skipped", "missing"]
OUTCOMES: tuple[InputOutcome, ...] = ("succeeded", "failed", "skipped", "missing")
BATCH_VERSION = 1

# The arguments with which each harness takes a task without a terminal; the text is on standard input.
TASK_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "pi": ("-p",),
    "claude": ("-p",),
    "codex": ("exec", "--skip-git-repo-check"),
}


class Input(NamedTuple):
    """One selected input.

    `name` is its path, with `:line` for a line of a `.jsonl`; `key` names its attempt. `problem` is "" or why it cannot be run;
    then `outcome` says what it counts as. The text is `length` bytes of the file `path` from `start` on.
    """

    name: str
    key: str
    digest: str
    problem: str = ""
    outcome: InputOutcome = "failed"
    path: str = ""
    start: int = 0
    length: int = 0


class Attempt(NamedTuple):
    """The result of one input's attempt; `root` is relative to the batch's root, "" without a pair."""

    key: str
    outcome: InputOutcome
    reason: str
    exit_code: int | None
    root: str
    ran: bool
    seconds: float = 0.0


def to_run(inputs: Iterable[Input], verified: set[str]) -> list[Input]:
    """Return the inputs that need an attempt: without a problem, and without a verified pair."""
    return [item for item in inputs if not item.problem and item.key not in verified]


def from_pair(key: str, root: str, result: dict[str, Any], *, ran: bool, seconds: float = 0.0) -> Attempt:
    """Return the attempt of an input with a verified pair; the verdict decides its outcome."""
    passed = result["verdict"] == "pass"
    reason = "" if passed else str(result["termination_reason"])
    code = _exit_code(result)
    return Attempt(key, "succeeded" if passed else "failed", reason, code, root, ran, seconds)


def report(
    agent: str, harness: str, inputs: Sequence[Input], attempts: dict[str, Attempt], *, complete: bool
) -> dict[str, Any]:
    """Return the result of the batch: one row for each input, and counts that add up to the selection.

    `complete` is False if the batch was interrupted; then inputs that were not reached are `skipped` with that reason.
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
    """Return the harness's exit code as `outfitter run` gave it, from the termination reason."""
    word, _, number = str(result["termination_reason"]).partition(" ")
    if not number.isdigit() or word not in ("exit", "signal"):
        return None
    return int(number) if word == "exit" else 128 + int(number)
