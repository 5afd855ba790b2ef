"""GitHub Copilot: custom agents, chat modes, prompts, instructions and `.vscode/mcp.json`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.porting import front_text
from outfitter.porting.growing import Growing
from outfitter.porting.instructions import read_by_all, rule, shared_instructions
from outfitter.porting.markdown_agents import Reworded, add_agents, display_model, mapped_tools
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import Translation

_TOOLS: Mapping[str, tuple[str, ...]] = {
    "read": ("read",),
    "readFile": ("read",),
    "codebase": ("read", "grep", "find"),
    "search": ("grep", "find", "ls"),
    "textSearch": ("grep",),
    "fileSearch": ("find",),
    "listDirectory": ("ls",),
    "usages": ("grep",),
    "findTestFiles": ("find",),
    "searchResults": ("grep",),
    "changes": ("bash",),
    "edit": ("edit", "write"),
    "editFiles": ("edit",),
    "createFile": ("write",),
    "new": ("write",),
    "execute": ("bash",),
    "shell": ("bash",),
    "runCommands": ("bash",),
    "runInTerminal": ("bash",),
    "runTasks": ("bash",),
    "runTests": ("bash",),
    "web": ("web_fetch", "web_search"),
    "fetch": ("web_fetch",),
    "websearch": ("web_search",),
}


def translate(files: NativeFiles, only: str = "") -> Translation:
    """The tree of one `.github` directory with `.vscode/mcp.json`; `only` reads no other agent's file."""
    spot = files.spot
    growing = Growing(files)
    growing.skills(f"{spot.directory}/skills")
    growing.commands(f"{spot.directory}/prompts", ".prompt.md", 2)
    _servers(growing)
    add_agents(growing, f"{spot.directory}/agents", ".agent.md", _reworded, only)
    add_agents(growing, f"{spot.directory}/chatmodes", ".chatmode.md", _reworded, only)
    _plain_agents(growing, only)
    if not spot.home:
        shared_instructions(growing, ".github/copilot-instructions.md")
        _instructions(growing)
    read_by_all(growing)
    return growing.done("copilot")


def _plain_agents(growing: Growing, only: str) -> None:
    """`agents/NAME.md`, which the cloud agent reads as well.

    What was read as `NAME.agent.md` is out of sight by now.
    """
    folder = f"{growing.native.spot.directory}/agents"
    growing.native.hide(folder, ".agent.md")
    add_agents(growing, folder, ".md", _reworded, only, 1)


def _reworded(growing: Growing, source: str, values: Mapping[str, Any]) -> Reworded:
    dropped = dict(display_model(values))
    own = values.get("mcp-servers")
    servers = (
        {str(name): raw for name, raw in own.items() if isinstance(raw, Mapping)} if isinstance(own, Mapping) else {}
    )
    if own is not None:
        dropped["mcp-servers"] = ""
    handed = [key for key in ("handoffs", "hooks") if values.get(key) is not None]
    if handed:
        growing.native.note(
            "named", source, f"{', '.join(handed)}: kept in the agent's file; only Copilot acts upon it"
        )
    limited = mapped_tools(growing, source, values.get("tools"), _TOOLS, "Copilot")
    if limited is None:
        if values.get("tools") is not None:
            dropped["tools"] = "every tool"
        return Reworded({}, dropped, servers)
    words, named = limited
    return Reworded(
        {"tools": list(words), **({"mcp": list(named)} if named else {})},
        {**dropped, "tools": "now in portable words"},
        servers,
        False,
        words,
    )


def _servers(growing: Growing) -> None:
    spot = growing.native.spot
    places = [f"{spot.directory}/mcp-config.json"] if spot.home else [f"{spot.around}/.vscode/mcp.json"]
    for path in places:
        found = growing.native.json(path)
        if found is not None:
            growing.add_servers(path, found[0].get("servers") or found[0].get("mcpServers"))


def _instructions(growing: Growing) -> None:
    folder = f"{growing.native.spot.directory}/instructions"
    for path, entry in growing.native.files(folder, ".instructions.md", 4):
        source = f"{folder}/{path}"
        content = growing.native.read(source, entry.target)
        parsed = growing.native.markdown(source, content) if content is not None else None
        if parsed is None:
            continue
        values: Mapping[str, Any] = parsed.value if isinstance(parsed.value, Mapping) else {}
        meant = str(values.get("applyTo") or "").strip()
        rule(growing, source, front_text.joined(front_text.halves(parsed.text)), values, meant in ("**", "**/*"), meant)
