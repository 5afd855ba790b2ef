"""Merge the account of a run into the native state file: one member and nothing else (spec/50)."""

from typing import Any, NamedTuple

from blake3 import blake3

from outfitter.adapters.native_json import member_digest
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
from outfitter.bridge.json_edit import edited, member_text
from outfitter.bridge.threeway import Decision, Sides, decide
from outfitter.host import WriteFailure
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change
from outfitter.model.projection import Bridge

TOPIC: Topic = "account"
_LOCK_SECONDS = 5.0
_TRIES = 3
_MALFORMED = "the durable file is not a JSON object; it was left as it is"
_HELD = "another program held its lock for 5 s"


class Member(NamedTuple):
    """The projected member: its spelling, and its digest ("" for none)."""

    spelled: str
    digest: str


def merge_member(context: BridgeContext, bridge: Bridge, change: Change) -> FileResult:
    """Carry `bridge.member` to the durable file; the rest of the projected file is discarded."""
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    now = context.now(change.path)
    if now is None:
        return FileResult(change.path, "discarded", TOPIC)
    if now.tag not in "fx":
        return unsupported_type(context, change, TOPIC, change.note or "not a regular file", bridge.path)
    try:
        context.durable.tidy(bridge.durable)
        content = context.durable.read(context.source(change.path))
        projected = Member(member_text(content, bridge.member) or "", _usable_digest(content, bridge.member))
        if projected.digest in ("", bridge.seeded):
            return FileResult(change.path, "bridged", TOPIC)
        return _locked(context, bridge, change, projected)
    except OSError as error:
        return _failed(context, bridge, change, "failed", os_error_text(error))


def _usable_digest(content: bytes, member: str) -> str:
    """Return the digest of the projected member, "" unless it is a non-empty object."""
    document = parsed(content)
    value = document.get(member) if isinstance(document, dict) else None
    return member_digest(document, member) if isinstance(value, dict) and value else ""


def _locked(context: BridgeContext, bridge: Bridge, change: Change, projected: Member) -> FileResult:
    release = context.durable.locked(bridge.lock, _LOCK_SECONDS) if bridge.lock else _nothing
    if release is None:
        return _failed(context, bridge, change, "failed", _HELD)
    try:
        return _merge(context, bridge, change, projected)
    finally:
        release()


def _merge(context: BridgeContext, bridge: Bridge, change: Change, projected: Member) -> FileResult:
    """Read, decide, edit and write; start again if a writer that ignores the lock came in between."""
    failure: WriteFailure | None = None
    for _ in range(_TRIES):
        seen = context.durable.look(bridge.durable, None, None)
        content = context.durable.read(bridge.durable) if seen else None
        document: Any = parsed(content) if content is not None else {}
        if not isinstance(document, dict):
            return _failed(context, bridge, change, "refused", _MALFORMED)
        decision = _decision(bridge, projected, member_digest(document, bridge.member))
        if decision.action == "leave":
            return FileResult(change.path, "bridged", TOPIC)
        if decision.action == "conflict":
            return _failed(context, bridge, change, "conflict", f"{bridge.member} {decision.reason}")
        new = edited(content or b"{}\n", bridge.member, projected.spelled)
        if new is None:
            return _failed(context, bridge, change, "refused", _MALFORMED)
        expected = None if content is None else blake3(content).digest()
        failure = context.durable.write(bridge.durable, new, expected, None)
        if not failure or failure.kind != "conflict":
            break
    if failure:
        return _failed(context, bridge, change, "failed", failure.reason)
    return FileResult(change.path, "bridged", TOPIC)


def _decision(bridge: Bridge, projected: Member, durable: str) -> Decision:
    seed = bridge.seeded.encode() or None
    return decide(Sides(seed, seed, projected.digest.encode(), durable.encode() or None))


def _failed(context: BridgeContext, bridge: Bridge, change: Change, failure: FailureKind, reason: str) -> FileResult:
    item = FileResult(change.path, "conflict", TOPIC, failure, reason)
    return store_conflict(context, item, bridge.durable, credential=True, member=bridge.member)


def _nothing() -> None:
    return None
