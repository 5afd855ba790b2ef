"""`prompt` paths that a run changed, where there is somebody to ask: persist, discard, always (spec/50, seed 001)."""

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from outfitter.bridging.aftermath import Aftermath, Item, Topic, odd, unreadable
from outfitter.bridging.files import Job, job, settle_all
from outfitter.bridging.recording import record_always
from outfitter.bridging.telling import SAMPLED, counted, listed
from outfitter.host import Host
from outfitter.model.outcome import Change
from outfitter.model.projection import State
from outfitter.model.request import Notice
from outfitter.model.settings import Settings

TOPIC: Topic = "persisted change"


class Asked(NamedTuple):
    """What came of the questions: an item a change, what to tell, and the state paths that were asked about."""

    items: tuple[Item, ...] = ()
    notices: tuple[Notice, ...] = ()
    keys: frozenset[str] = frozenset()


def ask_all(host: Host, settings: Settings | None, after: Aftermath, by_state: dict[State, list[Change]]) -> Asked:
    """One question a changed `prompt` path; none without a terminal on both sides, or in recovery (`settings` None)."""
    if settings is None or not after.record.interactive:
        return Asked()
    items: list[Item] = []
    notices: list[Notice] = []
    for state, changes in by_state.items():
        answer, remark = host.terminal.ask(question(state, changes))
        if remark:
            notices.append(Notice("warning", "prompt-discarded", f"{state.key}: {remark}"))
        if answer == "discard":
            items += [Item(change.path, "discarded", TOPIC) for change in changes]
            continue
        items += persist(after, state, changes)
        if answer == "always":
            notices.append(record_always(host, settings, after.record, state))
    return Asked(tuple(items), tuple(notices), frozenset(state.key for state in by_state))


def question(state: State, changes: list[Change]) -> str:
    """What happened to the path and where it would go, in one line; a name cannot command the terminal."""
    inside = f" ({listed([change.path for change in changes], SAMPLED)})" if state.key.endswith("/") else ""
    text = f"{state.key} changed in this run: {counted(changes)}{inside}. Copy to {state.durable}?"
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def persist(after: Aftermath, state: State, changes: list[Change]) -> Iterator[Item]:
    """Copy each change to its durable place once, by the three-way rule; never deleting."""
    return settle_all(after, (_job(after, state, change) for change in changes))


def _job(after: Aftermath, state: State, change: Change) -> Job | Item:
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    if change.change == "deleted":
        return Item(change.path, "discarded", TOPIC, "odd", "a deletion is never carried over")
    if change.change == "mode":
        return Item(change.path, "discarded", TOPIC, "odd", "an execute bit alone is not carried over")
    inside = state.key.endswith("/")
    target = posixpath.join(state.durable, change.path[len(state.key) :]) if inside else state.durable
    made = job(after, change.path, target, TOPIC, "persisted", after.seeded(change.path), after.behind(change.path))
    if made is not None:
        return made
    now = after.now(change.path)
    if inside and now is not None and now.tag == "d":
        return Item(change.path, "persisted", TOPIC)
    return odd(after, change, TOPIC, change.note or "no regular file", state.key)
