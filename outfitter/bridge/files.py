"""One projected file carried to its durable place, or kept: the three-way rule and what it needs to know (spec/50)."""

import posixpath
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from outfitter.bridge.context import Aftermath, Item, Topic, Trouble, keep, parsed
from outfitter.bridge.threeway import CHANGED, MADE, Decision, Sides, as_at_launch, decide, vouches
from outfitter.host import Replacement, Seen
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Ending, Identity, Row
from outfitter.run.baseline_texts import secret_name

# Stands for a durable digest at launch that nobody recorded, and that cannot be what it is now.
_OTHER = b"changed"
# So much is written before it is flushed together: it bounds open files, and the space that temporaries take.
BATCH, BATCH_BYTES = 32, 64 << 20
# Where Pi keeps logins, its own and those of MCP servers.
_LOGINS = ("auth.json", "mcp-auth.json")


class Job(NamedTuple):
    """One regular file to settle. `seed` and `before` as in `threeway.Sides`; `recorded` False: nobody saw the durable side at launch.

    `known` is the identity that still vouches for `before`. `mode` None keeps the durable one. `log`: a `*.jsonl`, which
    nobody shortens; `seeded_size` is its size at launch. `credential`: never shown.
    """

    path: str
    target: str
    now: Row
    topic: Topic
    ending: Ending
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
    after: Aftermath, path: str, target: str, topic: Topic, ending: Ending, seeded: Row | None, behind: Row | None
) -> Job | None:
    """The job for a path that is a regular file now, None for anything else."""
    now = after.now(path)
    if now is None or now.tag not in "fx":
        return None
    trusted = behind is not None and vouches(behind.identity, after.record.started_ns)
    return Job(
        path,
        target,
        now,
        topic,
        ending,
        seed=seeded.digest if seeded and seeded.tag in "fx" else None,
        before=behind.digest if behind else None,
        known=behind.identity if behind and trusted else None,
        credential=secret_name(path),
        seeded_size=behind.size if behind else 0,
    )


def settle_all(after: Aftermath, jobs: Iterable[Job | Item]) -> Iterator[Item]:
    """An item for each job, in order; what is an item already passes. Writes come in batches, for flushing is what costs.

    An error of the system is an item in trouble, never an exception.
    """
    batch: list[Item | _Carry] = []
    size = 0
    for one in jobs:
        weighed = one if isinstance(one, Item) else _weigh(after, one)
        batch.append(weighed)
        size += weighed.job.now.size if isinstance(weighed, _Carry) else 0
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield from _carry_out(after, batch)
            batch, size = [], 0
    yield from _carry_out(after, batch)


class _Carry(NamedTuple):
    """A job whose copy goes over exactly `expected`."""

    job: Job
    expected: bytes | None


def _weigh(after: Aftermath, job: Job) -> Item | _Carry:
    """Look and decide."""
    if job.target.endswith("/"):
        return _unsaved(after, job, "failed", "a file stands where a directory belongs")
    try:
        after.durable.tidy(job.target)
        seen = after.durable.look(job.target, job.known, job.before)
        decision = decide(_sides(after, job, seen))
    except OSError as error:
        return _unsaved(after, job, "failed", os_error_text(error))
    if decision.action == "leave":
        return Item(job.path, job.ending, job.topic)
    if decision.action in ("copy", "create"):
        return _Carry(job, seen.digest if seen else None)
    return _trouble(after, job, decision)


def _carry_out(after: Aftermath, batch: list[Item | _Carry]) -> Iterator[Item]:
    carried = [one for one in batch if isinstance(one, _Carry)]
    wanted = [
        Replacement(after.source(job.path), job.target, expected, job.mode, job.keep_mtime) for job, expected in carried
    ]
    try:
        told = after.durable.replace(wanted) if wanted else ()
    except OSError as error:
        told = [os_error_text(error)] * len(wanted)
    reasons = iter(told)
    for one in batch:
        yield one if isinstance(one, Item) else _carried(after, one.job, next(reasons))


def _carried(after: Aftermath, job: Job, why: str) -> Item:
    if not why:
        return Item(job.path, job.ending, job.topic)
    return _unsaved(after, job, "conflict" if why in (MADE, CHANGED) else "failed", why)


def _sides(after: Aftermath, job: Job, seen: Seen | None) -> Sides:
    durable = seen.digest if seen else None
    before = job.before if job.recorded else _by_time(after, seen)
    size = job.seeded_size if job.recorded else seen.size if seen else 0
    cut = False
    if job.log and seen and durable == before and job.now.size < size:
        cut = after.durable.prefix(after.source(job.path), job.target, size)[0]
    refusal = _refusal(after, job) if job.now.digest not in (job.seed, durable) else ""
    return Sides(job.seed, before, job.now.digest, durable, cut, refusal)


def _refusal(after: Aftermath, job: Job) -> str:
    """Why a file of logins may not go over a durable one: a crash leaves it empty or cut, and that would end every login in it."""
    if posixpath.basename(job.path) not in _LOGINS:
        return ""
    content = after.durable.read(after.source(job.path))
    return "" if isinstance(parsed(content), dict) else "came back as no JSON object"


def _by_time(after: Aftermath, seen: Seen | None) -> bytes | None:
    if seen is None:
        return None
    return seen.digest if as_at_launch(seen.identity, after.record.started_ns) else _OTHER


def _trouble(after: Aftermath, job: Job, decision: Decision) -> Item:
    troubles: dict[str, Trouble] = {"keep-cut": "cut", "refuse": "refused"}
    return _unsaved(after, job, troubles.get(decision.action, "conflict"), decision.reason)


def _unsaved(after: Aftermath, job: Job, trouble: Trouble, reason: str) -> Item:
    return keep(after, Item(job.path, "conflict", job.topic, trouble, reason), job.target, job.credential)
