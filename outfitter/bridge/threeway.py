"""The one table behind every copy back: adoption, `persist`, credentials, members, transcripts (spec/50, "One rule"). Pure."""

from __future__ import annotations

from typing import Any, Literal

from outfitter.model.outcome import GRANULARITY_NS, Identity
from outfitter.model.value import NamedTuple

# Why a write was called off at the last moment; a conflict, where every other reason is a failure.
MADE = "made meanwhile by another program"
CHANGED = "changed meanwhile by another program"

Action = Literal["leave", "copy", "create", "conflict", "keep-cut", "refuse"]


class Sides(NamedTuple):
    """What is known of one file: digests, None for absent.

    `seed` is what the projection held at launch and `before` what the durable side held then: equal but for a watched file
    that started from something else. `projected` and `durable` are what both hold now. `cut`: the projected bytes are a seeded
    log, emptied or shortened. `refusal` says why the projected bytes may not become durable at all ("" if they may).
    """

    seed: bytes | None
    before: bytes | None
    projected: bytes | None
    durable: bytes | None
    cut: bool = False
    refusal: str = ""


class Decision(NamedTuple):
    """What to do with one file, and why, as a phrase that follows its path."""

    action: Action
    reason: str = ""


def decide(sides: Sides) -> Decision:
    """The first row that fits (spec/50, "Session bridge"; spec/00; 006.5.14, 15 and 18)."""
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
    if sides.cut:
        return Decision("keep-cut", "came back cut, which is no news of a log")
    return Decision("copy" if durable is not None else "create")


def _conflict(before: bytes | None, durable: bytes | None) -> str:
    if durable is None:
        return "changed by the run, and removed from the durable side meanwhile"
    return "changed on both sides" if before is not None else "made on both sides"


def as_at_launch(identity: Identity, started_ns: int) -> bool:
    """Whether a durable file whose digest at launch is not known is older than the launch, by mtime and ctime (spec/50)."""
    return max(identity.mtime_ns, identity.ctime_ns) < started_ns - GRANULARITY_NS


def vouches(identity: Identity, started_ns: int) -> bool:
    """Whether an identity recorded during a launch is not racy: only then an equal one still means equal bytes (spec/60)."""
    return as_at_launch(identity, started_ns)


def credential_refusal(seeded: Any, projected: Any) -> str:
    """Why a projected credential document may not replace a durable one, or "" (spec/00; 006.5.14; spec/95 CRD-04).

    `seeded` is the durable document (None: absent or unusable), `projected` the parsed one (None: not JSON). A document
    whose tokens are all empty where the durable one holds some is what a lost refresh leaves: taking it would end a login.
    """
    if not isinstance(projected, dict):
        return "came back as no JSON object"
    if not projected:
        return "came back empty"
    before, after = live_tokens(seeded), live_tokens(projected)
    if (before and not after) or (any(p[0] == _LOGIN for p in before) and not any(p[0] == _LOGIN for p in after)):
        return "the run ended logged out, and the durable login was kept"
    return ""


# The member that holds the account's own login beside those of MCP servers.
_LOGIN = "claudeAiOauth"


def live_tokens(value: Any, path: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """Where a JSON document holds non-empty strings under keys that end with `token`, however deep."""
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
