"""What importing would write, file by file, judged against the tree and the last import. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from blake3 import blake3

from outfitter.model.value import NamedTuple
from outfitter.porting.gather import unit_of
from outfitter.porting.translation import Carried, Translation

# new: nothing is there. same: equal already. update: ours from last time, the source changed. kept: you changed it, the source
# did not. conflict: both changed, or a file that no import wrote differs. blocked: it cannot be written where it belongs.
Fate = Literal["new", "same", "update", "kept", "conflict", "blocked"]
WRITTEN = ("new", "update")


class Remembered(NamedTuple):
    """What the source said at the last import.

    BLAKE3 (hex), and the text itself where it is not a plain copy.
    """

    digest: str
    text: bytes | None = None


class Row(NamedTuple):
    """One file of an import.

    `there` is what the tree has (None: nothing), `last` what the source said at the last import (None: unknown), `said` what it
    says now, and `now` what would be written.
    """

    path: str
    fate: Fate
    source: str
    there: bytes | None
    last: Remembered | None
    said: bytes
    now: bytes
    executable: bool = False
    why: str = ""
    copied: bool = False


class Standing(NamedTuple):
    """The tree as it is.

    Bytes of the files in question by path, every path in it, and paths that lead out of it by links.
    """

    files: Mapping[str, bytes]
    paths: frozenset[str]
    linked: frozenset[str] = frozenset()


def rows(
    found: Translation, now: Mapping[str, bytes], there: Standing, last: Mapping[str, Remembered]
) -> tuple[Row, ...]:
    """A row for each file of the translation.

    `now` holds its bytes, `last` what it said at the last import.
    """
    folded = {path.casefold(): path for path in there.paths}
    units = {unit_of(path).casefold(): unit_of(path) for path in there.paths}
    return tuple(
        _row(landing(path, there.paths), file, now[path], there, last, folded, units)
        for path, file in found.files.items()
        if path in now
    )


def landing(path: str, paths: frozenset[str]) -> str:
    """Where a file goes.

    Over the spelling of the same resource that the tree has already (flat agents, AGENTS.md).
    """
    parts = path.split("/")
    if parts[0] == "agents" and parts[-1] == "agent.md" and path not in paths:
        name = "/".join(parts[1:-1])
        others = (f"agents/{name}/AGENT.md", f"agents/{name}.md")
        return next((other for other in others if other in paths), path)
    if path == "agents.md" and path not in paths and "AGENTS.md" in paths:
        return "AGENTS.md"
    if parts[-1] == "SKILL.md" and path not in paths:
        small = path[: -len("SKILL.md")] + "skill.md"
        return small if small in paths else path
    return path


def _row(
    path: str,
    file: Carried,
    now: bytes,
    there: Standing,
    last: Mapping[str, Remembered],
    folded: Mapping[str, str],
    units: Mapping[str, str],
) -> Row:
    row = Row(
        path, "new", file.source, there.files.get(path), last.get(path), now, now, file.executable, "", bool(file.copy)
    )
    unit = unit_of(path)
    other = units.get(unit.casefold(), unit)
    if other != unit or folded.get(path.casefold(), path) != path:
        clash = other if other != unit else folded[path.casefold()]
        return row._replace(
            fate="blocked", why=f"the tree has {clash}, which is the same name but for upper and lower case"
        )
    above = [path[:at] for at, char in enumerate(path) if char == "/"]
    through = next((part for part in (*above, path) if part in there.linked), "")
    if through and row.there != now:
        return row._replace(fate="blocked", why=f"{through} is a link; nothing is written through it")
    if path == "mcp.json":
        return _servers(row)
    return row._replace(fate=_fate(row.there, row.last, now))


def digest(content: bytes) -> str:
    """A content's BLAKE3 in hex."""
    return blake3(content).hexdigest()


def _fate(there: bytes | None, last: Remembered | None, now: bytes) -> Fate:
    if there is None:
        return "new"
    if there == now:
        return "same"
    if last is None:
        return "conflict"
    if digest(there) == last.digest:
        return "update"
    return "kept" if digest(now) == last.digest else "conflict"


def _servers(row: Row) -> Row:
    """`mcp.json` by server: missing ones are added, what the file says otherwise stays as it is spelled."""
    if row.there is None:
        return row
    mine, theirs, before = _ids(row.there), _ids(row.now) or {}, _ids(row.last.text if row.last else None) or {}
    if mine is None:
        return row._replace(fate="blocked", why="the tree's mcp.json cannot be read; correct it first")
    added: dict[str, Any] = {}
    differing: list[str] = []
    for name, definition in theirs.items():
        if name not in mine or (mine[name] == before.get(name) and definition != mine[name]):
            added[name] = definition
        elif mine[name] != definition and definition != before.get(name):
            differing.append(name)
    made = _with_servers(row.there, added)
    if made is None:
        return row._replace(fate="blocked", why="the tree's mcp.json has no mcpServers mapping; correct it first")
    if differing:
        why = f"servers {', '.join(differing)} differ; yours stay"
        return row._replace(fate="conflict", why=why)
    return row._replace(fate="update" if added else "same", now=made)


def _ids(content: bytes | None) -> dict[str, Any] | None:
    try:
        value = json.loads(content.decode("utf-8-sig")) if content and content.strip() else {}
    except (ValueError, RecursionError):
        return None
    servers = value.get("mcpServers", {}) if isinstance(value, dict) else None
    return servers if isinstance(servers, dict) else None


def _with_servers(content: bytes, added: Mapping[str, Any]) -> bytes | None:
    """A server file with more servers, everything else spelled as it was."""
    from outfitter.bridge.json_edit import edited, member_text

    if not added:
        return content
    if not content.strip():
        content = b"{}"
    inner = (member_text(content, "mcpServers") or "{}").encode("utf-8", "surrogateescape")
    for name, definition in added.items():
        text = json.dumps(definition, indent=2, ensure_ascii=False).replace("\n", "\n    ")
        step = edited(inner, name, text)
        if step is None:
            return None
        inner = step
    return edited(content, "mcpServers", inner.decode("utf-8", "surrogateescape"))
