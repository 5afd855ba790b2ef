"""Transcripts merged back file by file (006.5.18, spec/50 "Session bridge"): nothing deleted, nothing shortened, order free."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from outfitter.bridge.context import Aftermath, Item, Topic, keep, odd, unreadable
from outfitter.bridge.files import Job, job, settle_all
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change
from outfitter.model.projection import Bridge

TOPIC: Topic = "session history"
_PRIVATE = 0o600
_LINKED = "its durable place lies behind a link inside the project's folder, which is not followed"


def merge_sessions(
    after: Aftermath,
    bridge: Bridge,
    changes: list[Change],
    real: Callable[[str], str],
    progress: Callable[[int, int], None],
) -> Iterator[Item]:
    """An item for each change below the bridge's path; `real` resolves links, `progress` is told (done, total)."""
    tops: dict[str, str] = {}
    jobs = (_job(after, bridge, change, real, tops) for change in changes)
    for done, item in enumerate(settle_all(after, jobs), 1):
        yield item
        progress(done, len(changes))


def _job(
    after: Aftermath, bridge: Bridge, change: Change, real: Callable[[str], str], tops: dict[str, str]
) -> Job | Item:
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    rest = change.path[len(bridge.path) :]
    target = posixpath.join(bridge.durable, rest)
    made = job(after, change.path, target, TOPIC, "bridged", after.seeded(change.path), after.behind(change.path))
    if made is None:
        return _no_file(after, bridge, change)
    try:
        reason = _LINKED if _behind_inner_link(bridge.durable, rest, real, tops) else ""
    except OSError as error:
        reason = os_error_text(error)
    if reason:
        return keep(after, Item(change.path, "conflict", TOPIC, "failed", reason), target)
    return made._replace(mode=_PRIVATE, keep_mtime=True, log=change.path.endswith(".jsonl"))


def _no_file(after: Aftermath, bridge: Bridge, change: Change) -> Item:
    """Deletions are never carried over, empty directories need no place; a link or a special file is said."""
    now = after.now(change.path)
    if now is None or now.tag == "d":
        return Item(change.path, change.outcome, TOPIC)
    return odd(after, change, TOPIC, change.note or "no regular file", bridge.path)


def _behind_inner_link(durable: str, rest: str, real: Callable[[str], str], tops: dict[str, str]) -> bool:
    """Whether a link below the project's folder stands in the way; the folder itself may be one (spec/95 SES-13)."""
    slug, slash, inner = rest.partition("/")
    if not slash:
        return False
    if slug not in tops:
        tops[slug] = real(posixpath.join(durable, slug))
    return real(posixpath.join(tops[slug], inner)) != posixpath.join(tops[slug], inner)
