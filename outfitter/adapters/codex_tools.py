"""Tool limits as far as Codex can keep them: lists by MCP server, and the few tools of its own that can be switched off. Pure."""

from typing import NamedTuple

from outfitter.adapters.codex_mcp import ToolLists
from outfitter.adapters.codex_overrides import Override
from outfitter.adapters.tools import is_every_server, limits, portable_name, shut_notices, unnamed_servers
from outfitter.model.composition import Composition, Tools
from outfitter.model.request import Notice

# Portable name → the override that takes Codex's tool of that kind away (measured).
_SWITCHES = {"bash": ("features.shell_tool", False), "web_search": ("web_search", "disabled")}


class Limited(NamedTuple):
    """The limits by server, switches for Codex's own tools, and the words that Codex cannot keep (`tools` is unsupported then)."""

    lists: ToolLists
    rows: tuple[Override, ...]
    lost: tuple[str, ...]


def limited_tools(composition: Composition) -> Limited:
    """An agent's limits for Codex. An allow list for its own tools cannot be kept; what it says of servers is."""
    ids = frozenset(server.id for server in composition.servers)
    allow, deny = composition.tools.allow, composition.tools.deny
    only: dict[str, tuple[str, ...]] = {}
    never: dict[str, tuple[str, ...]] = {}
    off: set[str] = set()
    rows: list[Override] = []
    lost = [] if allow is None else list(allow) or ["(no tools)"]
    for server, tool in (part for word in allow or () if (part := _mcp_parts(word, ids))):
        only |= {server: (*only.get(server, ()), tool)} if tool else {}
    for word in deny:
        parts = _mcp_parts(word, ids)
        switch = _SWITCHES.get(portable_name(word))
        if parts and parts[1]:
            never[parts[0]] = (*never.get(parts[0], ()), parts[1])
        elif parts:
            off.add(parts[0])
        elif is_every_server(word):
            off |= ids
        elif switch:
            rows.append(Override("tools", *switch))
        else:
            lost.append(word)
    off |= set(unnamed_servers(_spelled(allow, tuple(ids)), tuple(ids)))
    whole = {parts[0] for word in allow or () if (parts := _mcp_parts(word, ids)) and not parts[1]}
    kept = {
        server: names
        for server, names in only.items()
        if server not in whole and not any(map(is_every_server, allow or ()))
    }
    return Limited(ToolLists(kept, never, frozenset(off)), tuple(rows), tuple(lost))


def shut_out(composition: Composition) -> tuple[Notice, ...]:
    """One warning a selected server of which the allow list names no tool."""
    ids = tuple(server.id for server in composition.servers)
    return shut_notices(composition.agent, unnamed_servers(_spelled(composition.tools.allow, ids), ids))


def _spelled(allow: tuple[str, ...] | None, ids: tuple[str, ...]) -> tuple[str, ...] | None:
    return limits(Tools(allow), "codex", ids).allow


def _mcp_parts(word: str, ids: frozenset[str]) -> tuple[str, str] | None:
    """`mcp__server__tool` as its parts, the tool "" for a whole server; None for any other word or an unselected server's."""
    if not word.startswith("mcp__"):
        return None
    rest = word[5:]
    for server in sorted(ids, key=len, reverse=True):
        if rest == server:
            return server, ""
        if rest.startswith(server + "__"):
            tool = rest[len(server) + 2 :]
            return server, "" if tool == "*" else tool
    return None
