"""Gemini CLI: agents, commands in TOML, skills, `settings.json` servers and GEMINI.md. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.porting import front_text
from outfitter.porting.growing import Growing
from outfitter.porting.instructions import read_by_all, shared_instructions
from outfitter.porting.markdown_agents import Reworded, add_agents
from outfitter.porting.reach import tool_words
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import Translation


def translate(files: NativeFiles, only: str = "") -> Translation:
    """The tree of one `.gemini` directory; `only` reads no other agent's file."""
    spot = files.spot
    growing = Growing(files)
    growing.skills(f"{spot.directory}/skills")
    _commands(growing)
    found = files.json(f"{spot.directory}/settings.json")
    if found is not None:
        growing.add_servers(f"{spot.directory}/settings.json", found[0].get("mcpServers"))
        rest = [key for key in found[0] if key not in ("mcpServers", "$schema")]
        if rest:
            said = f"{', '.join(rest[:8])}: Gemini CLI's own settings; not copied"
            files.note("named", f"{spot.directory}/settings.json", said)
    add_agents(growing, f"{spot.directory}/agents", ".md", _reworded, only)
    shared_instructions(growing, "GEMINI.md")
    read_by_all(growing)
    return growing.done("gemini")


def _reworded(growing: Growing, source: str, values: Mapping[str, Any]) -> Reworded:
    guards = [key for key in ("max_turns", "timeout_mins") if values.get(key) is not None]
    if guards:
        growing.native.note(
            "named", source, f"{', '.join(guards)}: kept in the agent's file; only Gemini CLI acts upon it"
        )
    words = tool_words(values.get("tools"))
    if words is None or "*" in words:
        return Reworded()
    return Reworded({}, {}, {}, False, words)


def _commands(growing: Growing) -> None:
    """Commands with a `prompt`: arguments in the words that other programs know."""
    folder = f"{growing.native.spot.directory}/commands"
    for path, entry in growing.native.files(folder, ".toml"):
        source = f"{folder}/{path}"
        content = growing.native.read(source, entry.target)
        document = growing.native.toml(source, content) if content is not None else None
        if document is None:
            continue
        values = document[0]
        prompt = values.get("prompt")
        name = growing.take("commands", path.removesuffix(".toml"), source) if isinstance(prompt, str) else ""
        if not name:
            continue
        if "!{" in str(prompt) or "@{" in str(prompt):
            growing.native.note("named", source, "runs a command or reads a file with {…}; only Gemini CLI does that")
        front = {key: value for key, value in values.items() if key != "prompt"}
        body = str(prompt).replace("{{args}}", "$ARGUMENTS")
        growing.text(f"commands/{name}.md", source, front_text.written(front, {}, body) if front else body)
