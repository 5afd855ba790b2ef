"""Adopt what a harness wrote in the place of our symlinks (spec/50)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from outfitter.bridge.context import BridgeContext, FileResult, Topic, unreadable, unsupported_type
from outfitter.bridge.files import Job, job, settle_all
from outfitter.model.outcome import Change
from outfitter.model.projection import State

TOPIC: Topic = "replaced link"


def adopt(context: BridgeContext, state: State, changes: list[Change]) -> Iterator[FileResult]:
    """Yield one result per change that did not go through the symlink; the directory itself comes last."""
    directories: list[Change] = []
    jobs: list[Job | FileResult] = []
    troubled = False
    for change in changes:
        now = context.now(change.path)
        if now is not None and now.tag == "d" and state.key.endswith("/"):
            directories.append(change)
            continue
        jobs.append(_job(context, state, change))
    for item in settle_all(context, jobs):
        troubled = troubled or bool(item.failure)
        yield item
    for change in directories:
        yield FileResult(change.path, "conflict" if troubled else "adopted", TOPIC)


def _job(context: BridgeContext, state: State, change: Change) -> Job | FileResult:
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    if change.outcome == "durable" or change.change == "deleted":
        return FileResult(change.path, change.outcome, TOPIC)
    if change.change == "relinked":
        return unsupported_type(context, change, TOPIC, f"now a {change.note}; nothing was copied", state.key)
    target = posixpath.join(state.durable, change.path[len(state.key) :]) if state.key.endswith("/") else state.durable
    behind = context.behind(change.path)
    carried = job(context, change.path, target, TOPIC, "adopted", behind, behind)
    if carried is None:
        # A fifo or a socket holds nothing; a symlink, or a directory in place of a file, may be the only way to something.
        now = context.now(change.path)
        saved = now is not None and now.tag == "o"
        return FileResult(
            change.path,
            "discarded",
            TOPIC,
            "unsupported-type",
            change.note or "now a directory",
            saved=saved,
        )
    if behind is None:
        # Nobody looked behind a directory symlink before the launch, so only the file's times can tell.
        carried = carried._replace(recorded=False, log=change.path.endswith(".jsonl"))
    return carried
