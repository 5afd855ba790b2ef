"""Ids of resources: what setup creates, and what reading accepts (spec/10, spec/15 V9 to V11, V30)."""

from __future__ import annotations

import re

LENGTH_LIMIT = 64
_PORTABLE = r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*"
_READABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)*")


def is_portable(name: str) -> bool:
    """Whether a name is one that `setup` creates and `validate` asks for."""
    return len(name) <= LENGTH_LIMIT and re.fullmatch(_PORTABLE, name) is not None


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
