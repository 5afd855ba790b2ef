"""A loadout's MCP servers, each resolved in the namespace of the agent that declares it (spec/10)."""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.catalog import mcp
from outfitter.catalog.inheritance import SelectedId
from outfitter.catalog.skill_resolution import where
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Server
from outfitter.model.request import Notice, Problem
from outfitter.model.value import NamedTuple


class Selected(NamedTuple):
    """The servers in order of selection, and what was wrong with their files or definitions."""

    servers: tuple[Server, ...]
    problems: tuple[Problem, ...]
    notices: tuple[Notice, ...]


def select(reader: TreeReader, named: tuple[SelectedId, ...], disabled: tuple[str, ...]) -> Selected:
    """Return the selected servers.

    Of an id that is selected twice the nearest agent's counts, in the first place.
    """
    found: dict[str, Server | None] = {}
    problems: dict[Problem, None] = {}
    notices: dict[Notice, None] = {}
    spaces: dict[str, mcp.Servers] = {}
    for one in named:
        if one.id in disabled:
            continue
        if one.agent not in spaces:
            spaces[one.agent] = mcp.servers(reader.ranked(), (one.agent,) if one.agent else ())
        space = spaces[one.agent]
        found[one.id] = space.by_id.get(one.id)
        for notice in (*_about(one, space), *_absent_paths(reader, space.by_id.get(one.id))):
            notices[notice] = None
    for space in spaces.values() or (mcp.servers(reader.ranked(), ()),):
        problems.update(dict.fromkeys(space.problems))
        notices.update(dict.fromkeys(space.notices))
    return Selected(tuple(server for server in found.values() if server), tuple(problems), tuple(notices))


def _about(one: SelectedId, space: mcp.Servers) -> tuple[Notice, ...]:
    about = space.about.get(one.id, ())
    if one.id in space.by_id or about:
        return about
    if one.id in space.hidden:
        return (Notice("notice", "server-off", f"MCP server {one.id!r} is switched off"),)
    from outfitter.model.wording import did_you_mean

    text = f"{where(one.place)}: MCP server {one.id!r} was not found in any layer"
    return (Notice("warning", "server-missing", text, did_you_mean(one.id, space.by_id)),)


def _absent_paths(reader: TreeReader, server: Server | None) -> tuple[Notice, ...]:
    """Paths of another machine in `command` or `args` (V26)."""
    paths = mcp.machine_paths(server) if server else ()
    return tuple(
        Notice("warning", "server-path", f"{path} of MCP server {server.id!r} does not exist here")
        for path in paths
        if server and not reader.is_present(path)
    )


def definitions(servers: tuple[Server, ...]) -> Mapping[str, Mapping[str, object]]:
    """Servers by id, as an `mcp.json` holds them."""
    return {server.id: server.definition for server in servers}
