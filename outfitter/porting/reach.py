"""What an agent of another tool reaches there without naming it, as the lists of a loadout. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.porting.translation import MOST_LISTED

_TOOL = re.compile(r"[A-Za-z_][\w.-]*(?:__[\w.*-]+)*(?:\([^)]*\))?|\*")
_EVERY = ("*", "all")


def tool_words(value: Any) -> tuple[str, ...] | None:
    """The words of a tool list as people write it, None where there is no list."""
    if value is None or isinstance(value, Mapping):
        return None
    parts: Iterable[Any] = value if isinstance(value, list) else [value]
    return tuple(word for part in parts for word in _TOOL.findall(str(part)))


def reached(
    words: tuple[str, ...] | None, skills: tuple[str, ...], servers: tuple[str, ...], many: list[str]
) -> dict[str, list[str]]:
    """`skills` and `mcp` of an agent with this tool list.

    All of both without a list, else what the list lets through.

    Lists longer than `MOST_LISTED` are not written; `many` then gets the kind.
    """
    unlimited = words is None or any(word in _EVERY for word in words)
    found: dict[str, list[str]] = {}
    if unlimited or any(word.partition("(")[0] == "Skill" for word in words or ()):
        found["skills"] = list(skills)
    found["mcp"] = list(servers) if unlimited else [name for name in servers if _names_server(words or (), name)]
    for kind, names in found.items():
        if len(names) > MOST_LISTED:
            many.append(kind)
    return {kind: names for kind, names in found.items() if 0 < len(names) <= MOST_LISTED}


def _names_server(words: tuple[str, ...], server: str) -> bool:
    prefix = "mcp__" + re.sub(r"[^A-Za-z0-9_-]", "_", server)
    return any(word == prefix or word.startswith(prefix + "__") or word in ("mcp", "mcp__*") for word in words)
