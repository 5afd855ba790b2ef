"""Carry the login of an isolated run back as a whole, and never end a durable one (spec/50)."""

from __future__ import annotations

from blake3 import blake3

from outfitter.bridge.context import (
    BridgeContext,
    FailureKind,
    FileResult,
    Topic,
    parsed,
    store_conflict,
    unreadable,
    unsupported_type,
)
from outfitter.bridge.threeway import Sides, credential_refusal, decide
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change
from outfitter.model.projection import Bridge

TOPIC: Topic = "credentials"
_PRIVATE = 0o600
_HELD = "another program holds its lock"
_LOCK_SECONDS = 5.0


def carry_credentials(context: BridgeContext, bridge: Bridge, change: Change) -> FileResult:
    """Copy a changed credential file over the durable one, unless that changed, too (006.5.14)."""
    now = context.now(change.path)
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    if now is None:
        return FileResult(change.path, "discarded", TOPIC)
    if now.tag not in "fx":
        return unsupported_type(context, change, TOPIC, change.note or "not a regular file", bridge.path)
    try:
        context.durable.tidy(bridge.durable)
        return _carry(context, bridge, change)
    except OSError as error:
        return _failed(context, bridge, change, "failed", os_error_text(error))


def _carry(context: BridgeContext, bridge: Bridge, change: Change) -> FileResult:
    content = context.durable.read(context.source(change.path))
    release = context.durable.locked(bridge.lock, _LOCK_SECONDS) if bridge.lock else _nothing
    if release is None:
        return _failed(context, bridge, change, "failed", _HELD)
    try:
        seen = context.durable.look(bridge.durable, None, None)
        held = parsed(context.durable.read(bridge.durable)) if seen else None
        seeded, behind = context.seeded(change.path), context.behind(change.path)
        sides = Sides(
            seed=seeded.digest if seeded else None,
            before=behind.digest if behind else None,
            projected=blake3(content).digest(),
            durable=seen.digest if seen else None,
            refusal=credential_refusal(held, parsed(content)),
        )
        decision = decide(sides)
        if decision.action == "leave":
            return FileResult(change.path, "bridged", TOPIC)
        if decision.action == "refuse":
            return _refused(context, bridge, change, content, decision.reason, nothing_durable=seen is None)
        if decision.action == "conflict":
            return _failed(context, bridge, change, "conflict", decision.reason)
        failure = context.durable.write(bridge.durable, content, seen.digest if seen else None, _PRIVATE)
    finally:
        release()
    if failure:
        kind: FailureKind = "conflict" if failure.kind == "conflict" else "failed"
        return _failed(context, bridge, change, kind, failure.reason)
    return FileResult(change.path, "bridged", TOPIC)


def _refused(
    context: BridgeContext, bridge: Bridge, change: Change, content: bytes, reason: str, nothing_durable: bool
) -> FileResult:
    """Report unusable credentials that would have ended a login; store them unless they are empty."""
    empty = not content.strip() or parsed(content) == {}
    if empty:
        return FileResult(change.path, "discarded", TOPIC, "" if nothing_durable else "refused", reason)
    return _failed(context, bridge, change, "refused", reason)


def _failed(context: BridgeContext, bridge: Bridge, change: Change, failure: FailureKind, reason: str) -> FileResult:
    item = FileResult(change.path, "conflict", TOPIC, failure, reason)
    return store_conflict(context, item, bridge.durable, credential=True)


def _nothing() -> None:
    return None
