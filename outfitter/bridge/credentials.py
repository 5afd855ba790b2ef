"""The login of an isolated run, carried back whole (006.5.14, spec/50 "Credential bridge"): a durable login is never ended by it."""

from __future__ import annotations

from blake3 import blake3

from outfitter.bridge.context import Aftermath, Item, Topic, Trouble, keep, odd, parsed, unreadable
from outfitter.bridge.threeway import CHANGED, MADE, Sides, credential_refusal, decide
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change
from outfitter.model.projection import Bridge

TOPIC: Topic = "credentials"
_PRIVATE = 0o600
_HELD = "another program holds its lock"
_LOCK_SECONDS = 5.0


def carry_credentials(after: Aftermath, bridge: Bridge, change: Change) -> Item:
    """Copy a changed credential file over the durable one, unless that changed too, or the change is none (spec/00; 006.5.14)."""
    now = after.now(change.path)
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    if now is None:
        return Item(change.path, "discarded", TOPIC)
    if now.tag not in "fx":
        return odd(after, change, TOPIC, change.note or "no regular file", bridge.path)
    try:
        after.durable.tidy(bridge.durable)
        return _carry(after, bridge, change)
    except OSError as error:
        return _in_trouble(after, bridge, change, "failed", os_error_text(error))


def _carry(after: Aftermath, bridge: Bridge, change: Change) -> Item:
    content = after.durable.read(after.source(change.path))
    release = after.durable.locked(bridge.lock, _LOCK_SECONDS) if bridge.lock else _nothing
    if release is None:
        return _in_trouble(after, bridge, change, "failed", _HELD)
    try:
        seen = after.durable.look(bridge.durable, None, None)
        held = parsed(after.durable.read(bridge.durable)) if seen else None
        seeded, behind = after.seeded(change.path), after.behind(change.path)
        sides = Sides(
            seed=seeded.digest if seeded else None,
            before=behind.digest if behind else None,
            projected=blake3(content).digest(),
            durable=seen.digest if seen else None,
            refusal=credential_refusal(held, parsed(content)),
        )
        decision = decide(sides)
        if decision.action == "leave":
            return Item(change.path, "bridged", TOPIC)
        if decision.action == "refuse":
            return _refused(after, bridge, change, content, decision.reason, nothing_durable=seen is None)
        if decision.action == "conflict":
            return _in_trouble(after, bridge, change, "conflict", decision.reason)
        why = after.durable.write(bridge.durable, content, seen.digest if seen else None, _PRIVATE)
    finally:
        release()
    if why:
        return _in_trouble(after, bridge, change, "conflict" if why in (MADE, CHANGED) else "failed", why)
    return Item(change.path, "bridged", TOPIC)


def _refused(
    after: Aftermath, bridge: Bridge, change: Change, content: bytes, reason: str, nothing_durable: bool
) -> Item:
    """Unusable credentials: said where they would have ended a login; kept unless there is nothing in them."""
    empty = not content.strip() or parsed(content) == {}
    if empty:
        return Item(change.path, "discarded", TOPIC, "" if nothing_durable else "refused", reason)
    return _in_trouble(after, bridge, change, "refused", reason)


def _in_trouble(after: Aftermath, bridge: Bridge, change: Change, trouble: Trouble, reason: str) -> Item:
    item = Item(change.path, "conflict", TOPIC, trouble, reason)
    return keep(after, item, bridge.durable, credential=True)


def _nothing() -> None:
    return None
