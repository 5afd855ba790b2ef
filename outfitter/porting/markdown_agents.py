"""Agents in Markdown of tools whose words differ.

Tool lists, models and limits as a tree takes them, all else kept. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from outfitter.catalog.fields import portable
from outfitter.model.value import NamedTuple
from outfitter.porting import front_text
from outfitter.porting.growing import Growing
from outfitter.porting.reach import reached, tool_words
from outfitter.porting.translation import MOST_LISTED

_NOT_AGENTS = ("readme", "agents", "index")


class Reworded(NamedTuple):
    """What a tool's front matter says in a tree's words.

    Keys to add, keys put out of force with why, servers of its own.
    """

    added: Mapping[str, Any] = {}
    dropped: Mapping[str, str] = {}
    own: Mapping[str, Any] = {}
    unlimited: bool = True
    words: tuple[str, ...] = ()


Rewording = Callable[[Growing, str, Mapping[str, Any]], Reworded]


def add_agents(growing: Growing, folder: str, ending: str, reword: Rewording, only: str = "", depth: int = 4) -> None:
    """Every agent file of a folder, reworded; `only` reads no other agent's file."""
    files = growing.native
    many: list[str] = []
    for path, entry in files.files(folder, ending, depth):
        stem = posixpath.basename(path).removesuffix(ending)
        if stem.lower() in _NOT_AGENTS or (only and only not in (stem, portable(stem))):
            continue
        source = f"{folder}/{path}"
        content = files.read(source, entry.target)
        parsed = files.markdown(source, content) if content is not None else None
        if parsed is None:
            continue
        values: Mapping[str, Any] = parsed.value if isinstance(parsed.value, Mapping) else {}
        if not values and ending == ".md":
            files.note("named", source, "has no front matter, so it is not an agent; it is left out")
            continue
        add_agent(growing, stem, source, parsed.text, values, reword, many)


def add_agent(
    growing: Growing,
    stem: str,
    source: str,
    text: str,
    values: Mapping[str, Any],
    reword: Rewording,
    many: list[str],
) -> None:
    """One agent: its text with the reworded keys, and lists of what it reaches."""
    made = reword(growing, source, values)
    words = None if made.unlimited else made.words
    lists = reached(words, tuple(growing.ids["skills"]), tuple(growing.servers), many)
    servers = list(dict.fromkeys((*made.added.get("mcp", ()), *lists.get("mcp", ()), *made.own)))
    added = {key: value for key, value in made.added.items() if key != "mcp"}
    if servers:
        added["mcp"] = servers
    if growing.ids["skills"] and len(growing.ids["skills"]) <= MOST_LISTED and made.unlimited:
        added.setdefault("skills", list(growing.ids["skills"]))
    parts = front_text.without_keys(front_text.halves(text), made.dropped)
    if not parts.head and "name" not in added and not added:
        added = {"name": portable(stem)}
    name = "" if values.get("name") == stem or "name" in added else stem
    if name and str(values.get("name") or "") == "":
        parts = parts._replace(head=(f"name: {front_text.scalar(portable(stem))}{parts.end}", *parts.head))
    changed = front_text.joined(front_text.with_keys(parts, added))
    growing.agent(portable(stem), source, changed, changed == text, made.own)


def display_model(values: Mapping[str, Any]) -> Mapping[str, str]:
    """A model's name in another tool's menu, put out of force: no program here knows it."""
    model = values.get("model")
    if model is None or (isinstance(model, str) and model and not any(c.isspace() for c in model)):
        return {}
    return {"model": "a menu name of another tool"}


def mapped_tools(
    growing: Growing, source: str, value: Any, table: Mapping[str, tuple[str, ...]], tool: str
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """A tool list in portable words, and the MCP servers it names.

    None for no list, or one that lets everything through.

    A word with no counterpart is named and left out, so that a list never widens.
    """
    words = value if isinstance(value, list) else tool_words(value)
    if words is None or any(str(word).strip() in ("*", "all") for word in words):
        return None
    made: list[str] = []
    servers: list[str] = []
    lost: list[str] = []
    for word in (str(one).strip() for one in words):
        server, slash, name = word.partition("/")
        if word in table:
            made += table[word]
        elif slash and server in growing.servers:
            made.append(f"mcp__{server}" if name in ("*", "") else f"mcp__{server}__{name}")
            servers.append(server)
        elif slash and word.split("/")[-1] in table:
            made += table[word.split("/")[-1]]
        elif word in growing.servers:
            made.append(f"mcp__{word}")
            servers.append(word)
        elif word.startswith("mcp__"):
            made.append(word)
        elif word:
            lost.append(word)
    if lost:
        said = f"tools {', '.join(lost[:8])}: {tool} alone has them; they are left out of the list"
        growing.native.note("named", source, said)
    return tuple(dict.fromkeys(made)), tuple(dict.fromkeys(servers))
