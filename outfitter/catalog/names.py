"""Ids of resources: what setup creates, what reading accepts, and the nearest known one (spec/10, spec/15 V9 to V11, V30)."""

from __future__ import annotations

import re
from collections.abc import Iterable

LENGTH_LIMIT = 64
_PORTABLE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*")
_READABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)*")


def is_portable(name: str) -> bool:
    """Whether a name is one that `setup` creates and `validate` asks for."""
    return len(name) <= LENGTH_LIMIT and _PORTABLE.fullmatch(name) is not None


def is_readable(name: str) -> bool:
    """Whether a directory of this name is read as a resource."""
    return len(name) <= LENGTH_LIMIT and _READABLE.fullmatch(name) is not None


def portable(name: str) -> str:
    """The portable spelling of a name: lower case, single hyphens; "unnamed" where nothing is left."""
    parts = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in name.split("."))
    return ".".join(part for part in parts if part)[:LENGTH_LIMIT].strip("-.") or "unnamed"


def slug(word: str) -> str:
    """A loadout's word as an id, `category/id` kept: `/x`, `./x`, `skills/x` and `x/SKILL.md` are all `x` (V30)."""
    word = word.strip().lstrip("/").removeprefix("./").strip("/")
    for ending in ("/SKILL.md", "/skill.md"):
        word = word.removesuffix(ending)
    return word.removeprefix("skills/")


def nearest(word: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known names that look most like a word, best first."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    return tuple(by_lower[near] for near in get_close_matches(word.lower(), list(by_lower), count, 0.6))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known names, or ""."""
    near = nearest(word, known)
    return f"did you mean {' or '.join(near)}?" if near else ""
