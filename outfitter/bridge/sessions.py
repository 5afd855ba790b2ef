"""Merge transcripts back file by file; nothing is deleted or shortened (spec/50, "Session bridge")."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from outfitter.bridge.context import BridgeContext, FileResult, Topic, store_conflict, unreadable, unsupported_type
from outfitter.bridge.files import Job, job, settle_all
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change
from outfitter.model.projection import Bridge

TOPIC: Topic = "session history"
_PRIVATE = 0o600
_LINKED = "its durable path is behind a symlink inside the project's directory, which is not followed"


def merge_sessions(
    context: BridgeContext,
    bridge: Bridge,
    changes: list[Change],
    real: Callable[[str], str],
    progress: Callable[[int, int], None],
) -> Iterator[FileResult]:
    """Yield a result per change below the bridge's path; `real` resolves symlinks."""
    tops: dict[str, str] = {}
    jobs = (_job(context, bridge, change, real, tops) for change in changes)
    for done, item in enumerate(settle_all(context, jobs), 1):
        yield item
        progress(done, len(changes))


def _job(
    context: BridgeContext, bridge: Bridge, change: Change, real: Callable[[str], str], tops: dict[str, str]
) -> Job | FileResult:
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    rest = change.path[len(bridge.path) :]
    target = posixpath.join(bridge.durable, rest)
    carried = job(
        context, change.path, target, TOPIC, "bridged", context.seeded(change.path), context.behind(change.path)
    )
    if carried is None:
        return _no_file(context, bridge, change)
    try:
        reason = _LINKED if _behind_inner_link(bridge.durable, rest, real, tops) else ""
    except OSError as error:
        reason = os_error_text(error)
    if reason:
        return store_conflict(context, FileResult(change.path, "conflict", TOPIC, "failed", reason), target)
    return carried._replace(mode=_PRIVATE, keep_mtime=True, log=change.path.endswith(".jsonl"))


def _no_file(context: BridgeContext, bridge: Bridge, change: Change) -> FileResult:
    """Return the result for what is not a regular file; deletions and empty directories need nothing."""
    now = context.now(change.path)
    if now is None or now.tag == "d":
        return FileResult(change.path, change.outcome, TOPIC)
    return unsupported_type(context, change, TOPIC, change.note or "not a regular file", bridge.path)


def _behind_inner_link(durable: str, rest: str, real: Callable[[str], str], tops: dict[str, str]) -> bool:
    """Return whether a symlink below the project's directory is on the way; that itself may be one."""
    slug, slash, inner = rest.partition("/")
    if not slash:
        return False
    if slug not in tops:
        tops[slug] = real(posixpath.join(durable, slug))
    return real(posixpath.join(tops[slug], inner)) != posixpath.join(tops[slug], inner)
