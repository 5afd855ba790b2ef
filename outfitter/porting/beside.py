"""What other tools' files stand in a place, counted: for people who have no `.agents` tree yet. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from outfitter.host import Sources
from outfitter.model.value import NamedTuple
from outfitter.model.wording import counted
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import Spot

# Directory, the ending of what counts in it, and what that is called.
_FOLDERS: tuple[tuple[str, str, str], ...] = (
    (".claude/agents", ".md", "agent"),
    (".claude/skills", "/SKILL.md", "skill"),
    (".claude/commands", ".md", "command"),
    (".codex/agents", ".toml", "agent"),
    (".codex/skills", "/SKILL.md", "skill"),
    (".codex/prompts", ".md", "command"),
    (".pi/agents", ".md", "agent"),
    (".pi/skills", "/SKILL.md", "skill"),
    (".pi/prompts", ".md", "command"),
    (".github/agents", ".md", "agent"),
    (".github/chatmodes", ".chatmode.md", "agent"),
    (".github/skills", "/SKILL.md", "skill"),
    (".github/prompts", ".prompt.md", "command"),
    (".github/instructions", ".instructions.md", "rule"),
    (".cursor/agents", ".md", "agent"),
    (".cursor/rules", ".mdc", "rule"),
    (".cursor/skills", "/SKILL.md", "skill"),
    (".cursor/commands", ".md", "command"),
    (".opencode/agents", ".md", "agent"),
    (".opencode/agent", ".md", "agent"),
    (".opencode/skills", "/SKILL.md", "skill"),
    (".opencode/commands", ".md", "command"),
    (".opencode/command", ".md", "command"),
    (".gemini/agents", ".md", "agent"),
    (".gemini/skills", "/SKILL.md", "skill"),
    (".gemini/commands", ".toml", "command"),
)
# JSON file and the keys under which its servers (or what else it lists) are.
_LISTS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (".mcp.json", ("mcpServers",), "server"),
    (".cursor/mcp.json", ("mcpServers",), "server"),
    (".vscode/mcp.json", ("servers",), "server"),
    (".pi/mcp.json", ("mcpServers",), "server"),
    (".gemini/settings.json", ("mcpServers",), "server"),
    ("opencode.json", ("mcp", "agent"), "entry"),
    ("opencode.jsonc", ("mcp", "agent"), "entry"),
    (".claude-plugin/marketplace.json", ("plugins",), "plugin"),
)
_FILES = (
    ".claude-plugin/plugin.json",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
)


class Beside(NamedTuple):
    """One thing that stands there: its path, and how many of what ("" for a single file)."""

    path: str
    number: int
    what: str


def beside(sources: Sources, root: str, boundary: str) -> tuple[Beside, ...]:
    """Everything of other tools in a project's root, in a stable order.

    Reads only; what cannot be read is not counted.
    """
    files = NativeFiles(sources, Spot("claude", root, root, boundary))
    return tuple(_found(files, root))


def _found(files: NativeFiles, root: str) -> Iterator[Beside]:
    for folder, ending, what in _FOLDERS:
        if files.is_folder(f"{root}/{posixpath.dirname(folder)}") and files.is_folder(f"{root}/{folder}"):
            entries = files.below(f"{root}/{folder}").items()
            count = sum(entry.kind == "file" and _counts(f"/{path}", ending) for path, entry in entries)
            if count:
                yield Beside(folder, count, what)
    for path, keys, what in _LISTS:
        found = files.json(f"{root}/{path}")
        values: Mapping[str, Any] = found[0] if found else {}
        count = sum(len(values[key]) for key in keys if isinstance(values.get(key), (dict, list)))
        if count:
            yield Beside(path, count, what)
    yield from _codex_servers(files, root)
    for name in _FILES:
        folder = posixpath.join(root, posixpath.dirname(name)).rstrip("/")
        if posixpath.basename(name) in files.below_one(folder):
            yield Beside(name, 1, "")


def _counts(path: str, ending: str) -> bool:
    return path.endswith(ending) and posixpath.basename(path).lower() not in ("readme.md", "agents.md", "index.md")


def _codex_servers(files: NativeFiles, root: str) -> Iterator[Beside]:
    content = files.alone(f"{root}/.codex/config.toml") if files.is_folder(f"{root}/.codex") else None
    if content is None:
        return
    import tomllib

    try:
        servers = tomllib.loads(content.decode("utf-8", "replace")).get("mcp_servers")
    except ValueError:
        return
    if isinstance(servers, dict) and servers:
        yield Beside(".codex/config.toml", len(servers), "server")


def told(found: tuple[Beside, ...]) -> str:
    """What stands there in one line, "" for nothing."""
    plural = {"entry": "entries"}
    words = [
        f"{one.path} ({counted(one.number, one.what, plural.get(one.what, ''))})" if one.what else one.path
        for one in found
    ]
    shown = words[:8]
    return ", ".join(shown) + (f" and {len(words) - 8} more" if len(words) > 8 else "")
