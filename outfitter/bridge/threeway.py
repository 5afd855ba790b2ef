"""The three-way rule behind every copy to a durable file (spec/50, "One rule"). Pure."""

from __future__ import annotations

from typing import Any, Literal

from outfitter.model.outcome import GRANULARITY_NS, Identity
from outfitter.model.value import NamedTuple

Action = Literal["leave", "copy", "create", "conflict", "keep-longer", "refuse"]


class Sides(NamedTuple):
    """What is known of one file: digests, None for absent.

    `seed` is what the projection held at launch and `before` what the durable side held then: equal but for a watched file
    that started from something else. `projected` and `durable` are what both hold now. `truncated`: the projected bytes are a
    seeded log, emptied or shortened. `refusal` says why the projected bytes may not become durable at all ("" if they may).
    """

    seed: bytes | None
    before: bytes | None
    projected: bytes | None
    durable: bytes | None
    truncated: bool = False
    refusal: str = ""


class Decision(NamedTuple):
    """What to do with one file, and why (a phrase that follows its path)."""

    action: Action
    reason: str = ""


def decide(sides: Sides) -> Decision:
    """Return the first row of the table that fits (spec/50, "Session bridge"; 006.5.14, 15 and 18)."""
    seed, before, projected, durable = sides[:4]
    if projected is None:
        return Decision("leave", "a deletion is never carried over")
    if projected == seed:
        return Decision("leave", "unchanged by the run")
    if projected == durable:
        return Decision("leave", "both sides hold the same")
    if sides.refusal:
        return Decision("refuse", sides.refusal)
    if durable != before:
        return Decision("conflict", _conflict(before, durable))
    if sides.truncated:
        return Decision("keep-longer", "the log came back shorter than it was; the longer one is kept")
    return Decision("copy" if durable is not None else "create")


def _conflict(before: bytes | None, durable: bytes | None) -> str:
    if durable is None:
        return "changed by the run, but its durable file was removed meanwhile"
    return "changed on both sides" if before is not None else "made on both sides"


def as_at_launch(identity: Identity, started_ns: int, linked: bool = False) -> bool:
    """Return whether a durable file without a recorded digest is older than the launch (mtime and ctime).

    `linked`: its ctime is that of a second name which Outfitter itself gave it, so only its mtime tells.
    """
    newest = identity.mtime_ns if linked else max(identity.mtime_ns, identity.ctime_ns)
    return newest < started_ns - GRANULARITY_NS


def vouches(identity: Identity, started_ns: int) -> bool:
    """Return whether an identity is not racy, so that an equal one later means equal bytes (spec/60)."""
    return as_at_launch(identity, started_ns)


def credential_refusal(seeded: Any, projected: Any) -> str:
    """Return why a projected credential document may not replace a durable one, or "" (spec/95 CRD-04).

    `seeded` is the durable document (None: absent or unusable), `projected` the parsed one (None: not JSON). A lost refresh
    leaves a document with empty tokens: if the durable one holds tokens, replacing it would end a login.
    """
    if not isinstance(projected, dict):
        return "is not a JSON object any more"
    if not projected:
        return "came back empty"
    before, after = live_tokens(seeded), live_tokens(projected)
    if (before and not after) or (any(p[0] == _LOGIN for p in before) and not any(p[0] == _LOGIN for p in after)):
        return "the run ended logged out, and the durable login was kept"
    return ""


# The member that holds the account's own login beside those of MCP servers.
_LOGIN = "claudeAiOauth"


def live_tokens(value: Any, path: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """Return the paths of non-empty strings under keys that end with `token`, however deep."""
    found: list[tuple[str, ...]] = []
    pending: list[tuple[tuple[str, ...], Any]] = [(path, value)]
    while pending:
        where, item = pending.pop()
        if isinstance(item, dict):
            pending += [((*where, str(key)), member) for key, member in item.items()]
        elif isinstance(item, list):
            pending += [((*where, str(index)), member) for index, member in enumerate(item)]
        elif isinstance(item, str) and item.strip() and where and where[-1].lower().endswith("token"):
            found.append(where)
    return tuple(found)
