"""Carry projected files to their durable targets by the three-way rule, or store them (spec/50)."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from outfitter.bridge.context import BridgeContext, FailureKind, FileResult, Topic, parsed, store_conflict
from outfitter.bridge.threeway import Decision, Sides, as_at_launch, decide, vouches
from outfitter.host import DurableState, Replacement, WriteFailure
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import ChangeOutcome, Identity, Row
from outfitter.run.baseline_texts import secret_name

# A digest that no file has: the durable file changed since launch, when nobody recorded its digest.
_OTHER = b"changed"
# So much is written before it is flushed together. This bounds open files and the space of temporaries.
BATCH, BATCH_BYTES = 32, 64 << 20
# The files of Pi that hold logins, its own and those of MCP servers.
_LOGINS = ("auth.json", "mcp-auth.json")


class Job(NamedTuple):
    """A regular file to settle.

    `seed` and `before` as in `threeway.Sides`; `recorded` False: nobody saw the durable file at launch. `known` is the identity that still vouches for `before`. `mode` None keeps the durable one. `log`: a `*.jsonl`, which
    nobody shortens; `seeded_size` is its size at launch. `credential`: never shown.
    """

    path: str
    target: str
    now: Row
    topic: Topic
    outcome: ChangeOutcome
    seed: bytes | None = None
    before: bytes | None = None
    recorded: bool = True
    known: Identity | None = None
    mode: int | None = None
    keep_mtime: bool = False
    log: bool = False
    credential: bool = False
    seeded_size: int = 0


def job(
    context: BridgeContext,
    path: str,
    target: str,
    topic: Topic,
    outcome: ChangeOutcome,
    seeded: Row | None,
    behind: Row | None,
) -> Job | None:
    """Return the job for a path that is a regular file now, None for anything else."""
    now = context.now(path)
    if now is None or now.tag not in "fx":
        return None
    trusted = behind is not None and vouches(behind.identity, context.record.started_ns)
    return Job(
        path,
        target,
        now,
        topic,
        outcome,
        seed=seeded.digest if seeded and seeded.tag in "fx" else None,
        before=behind.digest if behind else None,
        known=behind.identity if behind and trusted else None,
        credential=secret_name(path),
        seeded_size=behind.size if behind else 0,
    )


def settle_all(context: BridgeContext, jobs: Iterable[Job | FileResult]) -> Iterator[FileResult]:
    """Yield a result for each job, in order; results pass. Writes are batched, because flushing is slow.

    An error of the system becomes a failed result, never an exception.
    """
    batch: list[FileResult | _Carry] = []
    size = 0
    for one in jobs:
        weighed = one if isinstance(one, FileResult) else _weigh(context, one)
        batch.append(weighed)
        size += weighed.job.now.size if isinstance(weighed, _Carry) else 0
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield from _carry_out(context, batch)
            batch, size = [], 0
    yield from _carry_out(context, batch)


class _Carry(NamedTuple):
    """A job that may replace exactly `expected` (a digest, None for absent)."""

    job: Job
    expected: bytes | None


def _weigh(context: BridgeContext, job: Job) -> FileResult | _Carry:
    """Look at the durable file and decide."""
    if job.target.endswith("/"):
        return _unsaved(context, job, "failed", "a file is in the place of a directory")
    try:
        context.durable.tidy(job.target)
        seen = context.durable.look(job.target, job.known, job.before)
        decision = decide(_sides(context, job, seen))
    except OSError as error:
        return _unsaved(context, job, "failed", os_error_text(error))
    if decision.action == "leave":
        return FileResult(job.path, job.outcome, job.topic)
    if decision.action in ("copy", "create"):
        return _Carry(job, seen.digest if seen else None)
    return _not_carried(context, job, decision)


def _carry_out(context: BridgeContext, batch: list[FileResult | _Carry]) -> Iterator[FileResult]:
    carried = [one for one in batch if isinstance(one, _Carry)]
    wanted = [
        Replacement(context.source(job.path), job.target, expected, job.mode, job.keep_mtime)
        for job, expected in carried
    ]
    failures: Sequence[WriteFailure | None]
    try:
        failures = context.durable.replace(wanted) if wanted else ()
    except OSError as error:
        failures = [WriteFailure("error", os_error_text(error))] * len(wanted)
    remaining = iter(failures)
    for entry in batch:
        yield entry if isinstance(entry, FileResult) else _carried(context, entry.job, next(remaining))


def _carried(context: BridgeContext, job: Job, failure: WriteFailure | None) -> FileResult:
    if failure is None:
        return FileResult(job.path, job.outcome, job.topic)
    return _unsaved(context, job, "conflict" if failure.kind == "conflict" else "failed", failure.reason)


def _sides(context: BridgeContext, job: Job, seen: DurableState | None) -> Sides:
    durable = seen.digest if seen else None
    before = job.before if job.recorded else _by_time(context, seen)
    size = job.seeded_size if job.recorded else seen.size if seen else 0
    truncated = False
    if job.log and seen and durable == before and job.now.size < size:
        truncated = context.durable.prefix(context.source(job.path), job.target, size)[0]
    refusal = _refusal(context, job) if job.now.digest not in (job.seed, durable) else ""
    return Sides(job.seed, before, job.now.digest, durable, truncated, refusal)


def _refusal(context: BridgeContext, job: Job) -> str:
    """Return why a file of logins may not replace a durable one: after a crash it may be truncated."""
    if posixpath.basename(job.path) not in _LOGINS:
        return ""
    content = context.durable.read(context.source(job.path))
    return "" if isinstance(parsed(content), dict) else "is not a JSON object any more"


def _by_time(context: BridgeContext, seen: DurableState | None) -> bytes | None:
    if seen is None:
        return None
    return seen.digest if as_at_launch(seen.identity, context.record.started_ns, seen.linked) else _OTHER


def _not_carried(context: BridgeContext, job: Job, decision: Decision) -> FileResult:
    kinds: dict[str, FailureKind] = {"keep-longer": "truncated", "refuse": "refused"}
    return _unsaved(context, job, kinds.get(decision.action, "conflict"), decision.reason)


def _unsaved(context: BridgeContext, job: Job, failure: FailureKind, reason: str) -> FileResult:
    return store_conflict(
        context, FileResult(job.path, "conflict", job.topic, failure, reason), job.target, job.credential
    )
