"""The little of the native `.claude.json` that an isolated run may see (006.5.12, 13; spec/95 JSN). Pure."""

from __future__ import annotations

import json
from typing import Any

from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

_KEPT = ("oauthAccount", "hasCompletedOnboarding")


class Seeded(NamedTuple):
    """The projected file's bytes, None for no file; the account's digest at seed time ("" for none); what to tell."""

    content: bytes | None
    account: str = ""
    notices: tuple[Notice, ...] = ()


def seeded_state(path: str, raw: bytes | None, cwd: str, unreadable: str = "") -> Seeded:
    """What the projection holds of the native state at `path`: account, finished onboarding, and this directory's own trust.

    Missing or unusable state stays absent; `unreadable` is why it could not be read. Trust is the boolean true at exactly
    `cwd`, nothing near it (JSN-08).
    """
    if raw is None:
        return Seeded(None, notices=(_unusable(path, f"cannot be read: {unreadable}"),) if unreadable else ())
    from outfitter.threeway import member_digest

    document = _parsed(raw)
    if document is None:
        return Seeded(None, notices=(_unusable(path, "is no JSON object"),))
    kept: dict[str, Any] = {key: document[key] for key in _KEPT if key in document}
    if _trusted(document, cwd):
        kept["projects"] = {cwd: {"hasTrustDialogAccepted": True}}
    content = json.dumps(kept, ensure_ascii=True).encode("ascii") if kept else None
    return Seeded(content, member_digest(document, "oauthAccount"))


def _trusted(document: dict[str, Any], cwd: str) -> bool:
    projects = document.get("projects")
    entry = projects.get(cwd) if isinstance(projects, dict) else None
    return isinstance(entry, dict) and entry.get("hasTrustDialogAccepted") is True


def _parsed(raw: bytes) -> dict[str, Any] | None:
    """A JSON object, a byte-order mark before it allowed; None for anything else."""
    try:
        document = json.loads(raw.decode("utf-8-sig"), parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _refused(word: str) -> None:
    raise ValueError(word)


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(text)
    return number


def _unusable(path: str, why: str) -> Notice:
    return Notice(
        "notice",
        "claude-state-unusable",
        f"{path} {why}; this run starts without its account, onboarding and trust, and will not touch it",
    )
