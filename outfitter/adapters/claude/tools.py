"""Tool limits as Claude Code takes them, for the session and for each subagent (spec/40).

See also spec/10, "Tools". Measured: `--tools` limits the built-in tools of the session and of every subagent in it. It
does not limit MCP tools; a denied `mcp__server` removes that server's tools, `mcp__*` those of all servers. Without
`Skill` no skill is offered, without `Agent` no subagent.

Pure.
"""

from __future__ import annotations

import re

from outfitter.adapters.tools import ToolLimits, limits, native_name, unknown_notices
from outfitter.model.composition import Composition, Tools
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

ALL_SERVERS = "mcp__*"


class SessionTools(NamedTuple):
    """The values of `--tools` and `--disallowedTools`.

    `allow` None: not passed; "": no tools at all. `deny` "": not passed.
    """

    allow: str | None
    deny: str
    notices: tuple[Notice, ...] = ()


class SubagentTools(NamedTuple):
    """The front matter lists of a subagent's file; None if none is written.

    An empty allow list means no tools at all.
    """

    allow: tuple[str, ...] | None
    deny: tuple[str, ...]
    notices: tuple[Notice, ...] = ()


def server_name(server: str) -> str:
    """A server's id as it stands in the names of its tools."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", server)


def session_tools(composition: Composition, inherited: bool) -> SessionTools:
    """The whole session's limits.

    An allow list that names no tool of a server shuts that server's tools out: what is not allowed is denied. A single tool
    of a server cannot be allowed alone, so its server is shut out too, with a warning: narrower than written, never wider.
    An inherited run whose list names tools of servers still has those of the user's own servers, which is said.
    """
    servers = tuple(server_name(server.id) for server in composition.servers)
    found = limits(composition.tools, "claude", servers)
    notices = unknown_notices(found, composition.agent, "claude")
    deny = (*_whole(found.deny), *_patterns(found))
    if found.allow is None:
        return SessionTools(None, ",".join(deny), notices)
    shut, remarks = _shut_out(found.allow, servers, composition.agent)
    builtin = tuple(name for name in found.allow if not name.startswith("mcp__"))
    carriers = _carriers(composition, deny) if builtin else ()
    allow = ",".join(dict.fromkeys((*builtin, *carriers)))
    own = (_own_servers(composition.agent),) if inherited and ALL_SERVERS not in shut else ()
    return SessionTools(allow, ",".join(dict.fromkeys((*deny, *shut))), notices + remarks + own)


def subagent_tools(tools: Tools, agent: str, servers: tuple[str, ...]) -> SubagentTools:
    """A subagent's limits, written into its file as they stand (its list may name single MCP tools)."""
    found = limits(tools, "claude", tuple(map(server_name, servers)))
    notices = unknown_notices(found, agent, "claude")
    heads = [word.partition("(")[0] for word in found.patterns]
    whole = tuple(dict.fromkeys(native_name("claude", head) or head for head in heads))
    remarks = tuple(
        Notice(
            "warning", "tool-pattern", f"agent {agent}: a subagent cannot deny {word!r} alone; the whole tool is denied"
        )
        for word in found.patterns
    )
    deny = tuple(dict.fromkeys(_whole((*found.deny, *whole))))
    allow = found.allow
    if allow is not None:
        allow = tuple(name for name in allow if name not in whole)
    return SubagentTools(allow, deny, notices + remarks)


def _whole(deny: tuple[str, ...]) -> tuple[str, ...]:
    """Return a deny list with `NotebookEdit` added if `Edit` is denied."""
    return (*deny, "NotebookEdit") if "Edit" in deny and "NotebookEdit" not in deny else deny


def _patterns(found: ToolLimits) -> tuple[str, ...]:
    """Denied words with an argument pattern, the tool's own name in native spelling."""
    parts = (word.partition("(") for word in found.patterns)
    return tuple((native_name("claude", name) or name) + fence + rest for name, fence, rest in parts)


def _carriers(composition: Composition, deny: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tools that give access to selected skills and subagents.

    They reach nothing that the list does not allow.
    """
    wanted = (("Skill", composition.skills or composition.commands), ("Agent", composition.subagents))
    denied = {"Agent" if name == "Task" else name for name in deny}
    return tuple(name for name, selected in wanted if selected and name not in denied)


def _shut_out(
    allow: tuple[str, ...], servers: tuple[str, ...], agent: str
) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """What to deny so that no MCP tool outside the allow list is reached, and what to say about it."""
    named = tuple(name for name in allow if name.startswith("mcp__"))
    if not named:
        return (ALL_SERVERS,), tuple(_shut(agent, server) for server in servers)
    shut: list[str] = []
    remarks: list[Notice] = []
    for server in servers:
        prefix = f"mcp__{server}"
        if prefix in named or f"{prefix}__*" in named:
            continue
        shut.append(prefix)
        single = any(name.startswith(prefix + "__") for name in named)
        remarks.append(_single(agent, server) if single else _shut(agent, server))
    return tuple(shut), tuple(remarks)


def _shut(agent: str, server: str) -> Notice:
    return Notice(
        "warning",
        "tools-exclude-server",
        f"agent {agent}: server {server} is selected, but tools.allow names none of its tools; they are denied",
        f"add mcp__{server} to tools.allow (or mcp, for every selected server)",
    )


def _own_servers(agent: str) -> Notice:
    return Notice(
        "notice",
        "tools-own-servers",
        f"agent {agent}: tools.allow names tools of servers, so those of your own configuration's servers stay in reach",
        "--isolated leaves them out",
    )


def _single(agent: str, server: str) -> Notice:
    return Notice(
        "warning",
        "tools-single-mcp",
        f"agent {agent}: claude cannot allow single tools of server {server}; all of them are denied",
        f"allow mcp__{server} as a whole, or name the unwanted tools under tools.deny",
    )
