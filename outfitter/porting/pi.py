"""Pi: skills, prompts, `mcp.json`, system prompts, and the agents that its subagent extensions read.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.porting.growing import Growing
from outfitter.porting.instructions import read_by_all
from outfitter.porting.markdown_agents import Reworded, add_agents
from outfitter.porting.reach import tool_words
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import Translation


def translate(files: NativeFiles, only: str = "") -> Translation:
    """The tree of one `.pi` directory (in a home `.pi/agent`); `only` reads no other agent's file."""
    spot = files.spot
    growing = Growing(files)
    growing.skills(f"{spot.directory}/skills")
    growing.commands(f"{spot.directory}/prompts", depth=1)
    found = files.json(f"{spot.directory}/mcp.json")
    if found is not None:
        growing.add_servers(f"{spot.directory}/mcp.json", found[0].get("mcpServers"))
    add_agents(growing, f"{spot.directory}/agents", ".md", _reworded, only)
    system = files.alone(f"{spot.directory}/SYSTEM.md")
    if system:
        growing.text("system-prompt.md", f"{spot.directory}/SYSTEM.md", system, exact=True)
    for name, said in (
        ("APPEND_SYSTEM.md", "Pi adds it to every prompt by itself; not copied"),
        ("extensions", "extensions are code that Pi alone runs; not copied"),
        ("settings.json", "Pi's own settings and packages; not copied"),
        ("themes", "Pi's own; not copied"),
    ):
        if name in files.below_one(spot.directory):
            files.note("named", f"{spot.directory}/{name}", said)
    read_by_all(growing)
    return growing.done("pi")


def _reworded(growing: Growing, _source: str, values: Mapping[str, Any]) -> Reworded:
    wanted = values.get("skill") or values.get("skills")
    words = tool_words(values.get("tools"))
    if not wanted:
        return Reworded({}, {}, {}, words is None, words or ())
    names = wanted if isinstance(wanted, list) else str(wanted).replace(",", " ").split()
    known = [str(name) for name in names if str(name) in growing.ids["skills"]]
    dropped = {"skill": "now skills:"} if values.get("skill") else {}
    return Reworded({"skills": known} if known else {}, dropped, {}, words is None, words or ())
