"""Cursor: agents, commands, skills, rules and `mcp.json`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.porting.growing import Growing
from outfitter.porting.instructions import read_by_all, rule, shared_instructions
from outfitter.porting.markdown_agents import Reworded, add_agents, display_model
from outfitter.porting.reach import tool_words
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import Translation

_MENU = ("inherit", "fast", "auto")


def translate(files: NativeFiles, only: str = "") -> Translation:
    """The tree of one `.cursor` directory; `only` reads no other agent's file."""
    spot = files.spot
    growing = Growing(files)
    growing.skills(f"{spot.directory}/skills")
    growing.commands(f"{spot.directory}/commands")
    found = files.json(f"{spot.directory}/mcp.json")
    if found is not None:
        growing.add_servers(f"{spot.directory}/mcp.json", found[0].get("mcpServers"))
    _rules(growing)
    if not spot.home:
        shared_instructions(growing, ".cursorrules")
    add_agents(growing, f"{spot.directory}/agents", ".md", _reworded, only)
    for name in ("hooks.json", "environment.json", "permissions.json"):
        if name in files.below_one(spot.directory):
            files.note("named", f"{spot.directory}/{name}", "Cursor's own; not copied")
    read_by_all(growing)
    return growing.done("cursor")


def _reworded(_growing: Growing, _source: str, values: Mapping[str, Any]) -> Reworded:
    dropped = dict(display_model(values))
    if str(values.get("model") or "") in _MENU[1:]:
        dropped["model"] = "a menu name of another tool"
    words = tool_words(values.get("tools"))
    return Reworded({}, dropped, {}, words is None, words or ())


def _rules(growing: Growing) -> None:
    folder = f"{growing.native.spot.directory}/rules"
    for ending in (".mdc", ".md"):
        for path, entry in growing.native.files(folder, ending):
            source = f"{folder}/{path}"
            content = growing.native.read(source, entry.target)
            parsed = growing.native.markdown(source, _quoted_globs(content)) if content is not None else None
            if parsed is None:
                continue
            values: Mapping[str, Any] = parsed.value if isinstance(parsed.value, Mapping) else {}
            globs = values.get("globs")
            meant = ", ".join(map(str, globs)) if isinstance(globs, list) else str(globs or "").strip()
            always = str(values.get("alwaysApply") or "").lower() == "true"
            rule(growing, source, parsed.text, values, always, meant)


def _quoted_globs(content: bytes) -> bytes:
    """A rule whose `globs:` is an unquoted pattern, as Cursor itself writes it, made readable as YAML."""
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:20]):
        key, colon, rest = line.partition(b":")
        value = rest.strip()
        if key in (b"globs", b"description") and colon and value and value[:1] not in b"[\"'|>":
            escaped = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            lines[number] = key + b': "' + escaped + b'"' + (b"\r" if line.endswith(b"\r") else b"")
    return b"\n".join(lines)
