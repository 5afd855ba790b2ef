"""The account a run ended with, merged into the native state file as one member and nothing else (006.5.15, 16; spec/50)."""

from typing import Any, NamedTuple

from blake3 import blake3

from outfitter.adapters.native_json import member_digest
from outfitter.bridge.context import Aftermath, Item, Topic, Trouble, keep, odd, parsed, unreadable
from outfitter.bridge.json_edit import edited, member_text
from outfitter.bridge.threeway import CHANGED, Decision, Sides, decide
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change
from outfitter.model.projection import Bridge

TOPIC: Topic = "account"
_LOCK_SECONDS = 5.0
_TRIES = 3
_MALFORMED = "the durable file is no JSON object, and was left as it is"
_HELD = "another program held its lock for 5 s"


class Member(NamedTuple):
    """The projected member: its spelling, and its digest ("" for none)."""

    spelled: str
    digest: str


def merge_member(after: Aftermath, bridge: Bridge, change: Change) -> Item:
    """Set `bridge.member` of the durable file to what the run made of it; the rest of the projected file is discarded."""
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    now = after.now(change.path)
    if now is None:
        return Item(change.path, "discarded", TOPIC)
    if now.tag not in "fx":
        return odd(after, change, TOPIC, change.note or "no regular file", bridge.path)
    try:
        after.durable.tidy(bridge.durable)
        content = after.durable.read(after.source(change.path))
        projected = Member(member_text(content, bridge.member) or "", _usable_digest(content, bridge.member))
        if projected.digest in ("", bridge.seeded):
            return Item(change.path, "bridged", TOPIC)
        return _locked(after, bridge, change, projected)
    except OSError as error:
        return _in_trouble(after, bridge, change, "failed", os_error_text(error))


def _usable_digest(content: bytes, member: str) -> str:
    """The digest of the projected member, "" where it is gone or no object with something in it: that is nothing to carry."""
    document = parsed(content)
    value = document.get(member) if isinstance(document, dict) else None
    return member_digest(document, member) if isinstance(value, dict) and value else ""


def _locked(after: Aftermath, bridge: Bridge, change: Change, projected: Member) -> Item:
    release = after.durable.locked(bridge.lock, _LOCK_SECONDS) if bridge.lock else _nothing
    if release is None:
        return _in_trouble(after, bridge, change, "failed", _HELD)
    try:
        return _merge(after, bridge, change, projected)
    finally:
        release()


def _merge(after: Aftermath, bridge: Bridge, change: Change, projected: Member) -> Item:
    """Read, decide, edit and write; another writer that ignores the lock makes it start again."""
    why = CHANGED
    for _ in range(_TRIES):
        if why != CHANGED:
            break
        seen = after.durable.look(bridge.durable, None, None)
        content = after.durable.read(bridge.durable) if seen else None
        document: Any = parsed(content) if content is not None else {}
        if not isinstance(document, dict):
            return _in_trouble(after, bridge, change, "refused", _MALFORMED)
        decision = _decision(bridge, projected, member_digest(document, bridge.member))
        if decision.action == "leave":
            return Item(change.path, "bridged", TOPIC)
        if decision.action == "conflict":
            return _in_trouble(after, bridge, change, "conflict", f"{bridge.member} {decision.reason}")
        new = edited(content or b"{}\n", bridge.member, projected.spelled)
        if new is None:
            return _in_trouble(after, bridge, change, "refused", _MALFORMED)
        expected = None if content is None else blake3(content).digest()
        why = after.durable.write(bridge.durable, new, expected, None)
    if why:
        return _in_trouble(after, bridge, change, "failed", why)
    return Item(change.path, "bridged", TOPIC)


def _decision(bridge: Bridge, projected: Member, durable: str) -> Decision:
    seed = bridge.seeded.encode() or None
    return decide(Sides(seed, seed, projected.digest.encode(), durable.encode() or None))


def _in_trouble(after: Aftermath, bridge: Bridge, change: Change, trouble: Trouble, reason: str) -> Item:
    item = Item(change.path, "conflict", TOPIC, trouble, reason)
    return keep(after, item, bridge.durable, credential=True, member=bridge.member)


def _nothing() -> None:
    return None
