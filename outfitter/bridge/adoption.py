"""Links that the harness replaced: what it wrote in their place is durable by policy (spec/50, "A link that the harness replaced")."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from outfitter.bridge.context import Aftermath, Item, Topic, odd, unreadable
from outfitter.bridge.files import Job, job, settle_all
from outfitter.model.outcome import Change
from outfitter.model.projection import State

TOPIC: Topic = "replaced link"


def adopt(after: Aftermath, state: State, changes: list[Change]) -> Iterator[Item]:
    """An item for each change of a `symlink` path that is no write through its link, the directory's own last."""
    directories: list[Change] = []
    jobs: list[Job | Item] = []
    troubled = False
    for change in changes:
        now = after.now(change.path)
        if now is not None and now.tag == "d" and state.key.endswith("/"):
            directories.append(change)
            continue
        jobs.append(_job(after, state, change))
    for item in settle_all(after, jobs):
        troubled = troubled or bool(item.trouble)
        yield item
    for change in directories:
        yield Item(change.path, "conflict" if troubled else "adopted", TOPIC)


def _job(after: Aftermath, state: State, change: Change) -> Job | Item:
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    if change.outcome == "durable" or change.change == "deleted":
        return Item(change.path, change.outcome, TOPIC)
    if change.change == "relinked":
        return odd(after, change, TOPIC, f"now a {change.note}; nothing was copied", state.key)
    target = posixpath.join(state.durable, change.path[len(state.key) :]) if state.key.endswith("/") else state.durable
    behind = after.behind(change.path)
    made = job(after, change.path, target, TOPIC, "adopted", behind, behind)
    if made is None:
        # A fifo or a socket holds nothing; a link, or a directory at a file's place, may be the only way to something.
        now = after.now(change.path)
        saved = now is not None and now.tag == "o"
        return Item(change.path, "discarded", TOPIC, "odd", change.note or "a directory stands there now", saved=saved)
    if behind is None:
        # Whatever lay behind a directory link was not looked at before the launch, so only its times can tell.
        made = made._replace(recorded=False, log=change.path.endswith(".jsonl"))
    return made
