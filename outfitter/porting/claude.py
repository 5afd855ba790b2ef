"""Claude Code: agents, skills, commands, servers and CLAUDE.md of a project, home or plugin. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from outfitter.porting import front_text
from outfitter.porting.growing import Growing
from outfitter.porting.instructions import claude_instructions
from outfitter.porting.reach import reached, tool_words
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import Translation

# Keys of an agent that Claude Code alone acts upon; they stay in the file.
_GUARDS = ("hooks", "permissionMode", "maxTurns", "isolation", "background", "memory", "initialPrompt")
_NOT_AGENTS = ("readme", "agents", "claude", "index", "changelog", "contributing")


def translate(files: NativeFiles, only: str = "") -> Translation:
    """The tree of one `.claude` directory with the project's files around it.

    `only` reads no other agent's file.
    """
    spot = files.spot
    growing = Growing(files)
    growing.skills(f"{spot.directory}/skills")
    growing.commands(f"{spot.directory}/commands")
    _servers(growing)
    add_agents(growing, f"{spot.directory}/agents", only)
    if not only:
        _settings(files)
        _other_folders(files)
    claude_instructions(growing)
    return growing.done("claude")


def add_agents(growing: Growing, folder: str, only: str = "") -> None:
    """Every agent file below a folder; one that Claude Code itself would not load is named."""
    files = growing.native
    many: list[str] = []
    for path, entry in files.files(folder, ".md", 5):
        stem = posixpath.basename(path).removesuffix(".md")
        if stem.lower() in _NOT_AGENTS or stem.startswith((".", "_")) or (only and only not in (stem, _folded(stem))):
            continue
        source = f"{folder}/{path}"
        content = files.read(source, entry.target)
        parsed = files.markdown(source, content) if content is not None else None
        if parsed is None:
            continue
        values: Mapping[str, Any] = parsed.value if isinstance(parsed.value, Mapping) else {}
        if not values.get("name") and not values.get("description"):
            files.note("named", source, "has neither name nor description, so it is not an agent; it is left out")
            continue
        text, own = agent_text(growing, source, parsed.text, values, many)
        growing.agent(stem, source, text, text == parsed.text, own)
    told_many(files, folder, many)


def agent_text(
    growing: Growing, source: str, text: str, values: Mapping[str, Any], many: list[str]
) -> tuple[str, Mapping[str, Any]]:
    """An agent's text with lists of what it reaches in Claude Code, and the servers it defines itself."""
    words = tool_words(values.get("tools"))
    names, own = private_servers(values.get("mcpServers"))
    added: dict[str, Any] = reached(words, tuple(growing.ids["skills"]), tuple(growing.servers), many)
    wanted = [*added.pop("mcp", []), *names, *own]
    parts = front_text.halves(text)
    if wanted:
        added["mcp"] = list(dict.fromkeys(wanted))
    if values.get("skills"):
        added.pop("skills", None)
    guards = [key for key in _GUARDS if values.get(key) is not None]
    if guards:
        said = f"{', '.join(guards)}: kept in the agent's file; only Claude Code acts upon it"
        growing.native.note("named", source, said)
    if "mcpServers" in values:
        parts = front_text.without_keys(parts, {"mcpServers": ""})
    if not added and "mcpServers" not in values:
        return text, own
    return front_text.joined(front_text.with_keys(parts, added)), own


def private_servers(value: Any) -> tuple[list[str], dict[str, Any]]:
    """`mcpServers` of an agent: the names it refers to, and the servers that it defines."""
    names: list[str] = []
    own: dict[str, Any] = {}
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            names += [word.strip() for word in item.split(",") if word.strip()]
        elif isinstance(item, Mapping):
            own.update({str(name): raw for name, raw in item.items() if isinstance(raw, Mapping)})
            names += [str(name) for name, raw in item.items() if not isinstance(raw, Mapping)]
    return names, own


def told_many(files: NativeFiles, folder: str, many: list[str]) -> None:
    """One line where agents reach more than a list should hold."""
    for kind in dict.fromkeys(many):
        said = f"every agent reaches all {kind} there; they are too many to list in each agent"
        files.note("named", folder, said, f"name what an agent needs under {kind}:")


def _folded(stem: str) -> str:
    from outfitter.catalog.fields import portable

    return portable(stem)


def _servers(growing: Growing) -> None:
    spot = growing.native.spot
    path = f"{spot.around}/.claude.json" if spot.home else f"{spot.around}/.mcp.json"
    found = growing.native.json(path)
    if found is None:
        return
    values = found[0]
    if "mcpServers" in values or spot.home:
        growing.add_servers(path, values.get("mcpServers"))
        return
    growing.add_servers(path, {name: raw for name, raw in values.items() if isinstance(raw, Mapping)})


def _settings(files: NativeFiles) -> None:
    """What stays Claude Code's own: named by key, its values never read into the tree."""
    for name in ("settings.json", "settings.local.json"):
        path = f"{files.spot.directory}/{name}"
        found = files.json(path)
        if found is None:
            continue
        values = found[0]
        hooks = values.get("hooks")
        if isinstance(hooks, Mapping) and hooks:
            said = f"hooks ({', '.join(map(str, hooks))}): Claude Code goes on running them; no other program does"
            files.note("named", path, said, "controls.pi or a Pi extension can do the same in Pi")
        permissions = values.get("permissions")
        if isinstance(permissions, Mapping) and permissions:
            count = sum(len(rules) for rules in permissions.values() if isinstance(rules, list))
            said = f"permissions ({count} rules): Claude Code goes on applying them; no other program does"
            files.note("named", path, said, "write tools: {deny: […]} in the agents that must keep to them everywhere")
        rest = [key for key in ("env", "apiKeyHelper", "model", "enabledPlugins", "statusLine") if values.get(key)]
        if rest:
            files.note("named", path, f"{', '.join(rest)}: Claude Code's own settings; not copied")


def _other_folders(files: NativeFiles) -> None:
    for name, said in (
        ("rules", "rules that Claude Code goes on reading by itself; other programs do not"),
        ("output-styles", "output styles, which only Claude Code has"),
        ("hooks", "hook scripts, which .claude/settings.json runs; not copied"),
        ("workflows", "workflows, which only Claude Code runs; not copied"),
    ):
        count = sum(entry.kind == "file" for entry in files.below(f"{files.spot.directory}/{name}").values())
        if count:
            files.note(
                "named", f"{files.spot.directory}/{name}", f"{count} {'file' if count == 1 else 'files'}: {said}"
            )
