"""MCP servers: `mcp.json` over all layers in one normal form.

See spec/10 and spec/15 V2 and V20 to V26. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outfitter.catalog.inheritance import SelectedId
from outfitter.catalog.skill_resolution import where
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Server
from outfitter.model.layers import Document, Layer
from outfitter.model.request import Notice, Position, Problem
from outfitter.model.settings import KeyPath
from outfitter.model.value import NamedTuple

if TYPE_CHECKING:
    from outfitter.catalog.mcp_form import Form

FILES = ("mcp.json", "mcp_config.json")
_ROOTS = ("mcpServers", "servers", "mcp_servers")


class Servers(NamedTuple):
    """The servers an agent can select, by id.

    `about` holds the warnings of each id, to be said where that id is selected: how it is written, or why it was left out
    (then it is not in `by_id`; code `server-invalid`, an error in `validate`). `hidden` ids are switched off. `notices` are
    about files, `problems` their syntax.
    """

    by_id: Mapping[str, Server]
    about: Mapping[str, tuple[Notice, ...]] = {}
    hidden: frozenset[str] = frozenset()
    notices: tuple[Notice, ...] = ()
    problems: tuple[Problem, ...] = ()


class _Definition(NamedTuple):
    """A server as written, and where."""

    raw: Any
    document: Document
    key: KeyPath
    layer: str


def servers(layers: Sequence[Layer], agents: Sequence[str]) -> Servers:
    """Return the tree's servers, overridden by id by those of `agents`.

    A later agent overrides an earlier one, a higher layer a lower one.
    """
    found: dict[str, _Definition] = {}
    notices: list[Notice] = []
    problems: list[Problem] = []
    for folder in (*(f"agents/{agent}/" for agent in reversed(agents)), ""):
        for layer in layers:
            documents = [layer.documents[folder + name] for name in FILES if folder + name in layer.documents]
            notices += _both(documents)
            for document in documents:
                problems += document.problems
                notices += (*document.notices, *(() if document.problems else _rootless(document)))
                for name, definition in _definitions(document, layer.label):
                    found.setdefault(name, definition)
    forms = _forms(found) if found else {}
    return Servers(
        {name: _server(name, forms[name], found[name]) for name in found if not (forms[name].off or forms[name].fault)},
        {name: about for name in found if (about := _about(name, forms[name], found[name]))},
        frozenset(name for name in found if forms[name].off),
        tuple(dict.fromkeys(notices)),
        tuple(dict.fromkeys(problems)),
    )


def machine_paths(server: Server) -> tuple[str, ...]:
    """Return the absolute paths in `command` and `args`, to warn if one does not exist (spec/15 V26)."""
    from outfitter.catalog.mcp_form import absolute_paths

    return absolute_paths(server.definition)


def _forms(found: Mapping[str, _Definition]) -> dict[str, Form]:
    """Each definition in normal form; the rules are loaded only where there is one."""
    from outfitter.catalog.mcp_form import normal_form

    return {name: normal_form(definition.raw) for name, definition in found.items()}


def _definitions(document: Document, layer: str) -> Iterator[tuple[str, _Definition]]:
    """Every server of a file: mappings by id, lists by `name`; `mcpServers` before its other spellings."""
    root = document.value if isinstance(document.value, Mapping) else {}
    for name in _ROOTS:
        block = root.get(name)
        if isinstance(block, Mapping):
            for server, raw in block.items():
                yield server, _Definition(raw, document, (name, server), layer)
        elif isinstance(block, list):
            for number, raw in enumerate(block):
                if isinstance(raw, Mapping) and isinstance(raw.get("name"), str):
                    plain = {key: value for key, value in raw.items() if key != "name"}
                    yield raw["name"], _Definition(plain, document, (name, str(number)), layer)


def _server(name: str, form: Form, definition: _Definition) -> Server:
    return Server(name, form.definition, definition.document.path, definition.layer)


def _about(name: str, form: Form, definition: _Definition) -> tuple[Notice, ...]:
    place = _place(definition.document, definition.key)
    if form.fault:
        return (Notice("warning", "server-invalid", f"{place}: MCP server {name!r} {form.fault}; skipped"),)
    return tuple(
        Notice(
            "warning", "server-written", f"{_place(definition.document, definition.key, remark.key)}: {remark.message}"
        )
        for remark in form.remarks
    )


def _place(document: Document, key: KeyPath, below: str = "") -> str:
    """`file:line: key path` of a server, or of something in it."""
    inner = tuple(below.split(".", 1)) if below else ()
    at = document.positions.get((*key, *inner)) or document.positions.get(key, Position())
    line = f":{at.line}" if at.line else ""
    return f"{document.path}{line}" + (f": {'.'.join((*key, *inner))}" if below else "")


def _both(documents: Sequence[Document]) -> tuple[Notice, ...]:
    if len(documents) < len(FILES):
        return ()
    text = f"{documents[0].path}: mcp_config.json is next to it; both are read, and mcp.json wins for each server id"
    return (Notice("warning", "server-files", text, "keep one of the two"),)


def _rootless(document: Document) -> tuple[Notice, ...]:
    """A file that has something, but no servers where they belong; list items without a name."""
    root = document.value if isinstance(document.value, Mapping) else {}
    if root and not any(isinstance(root.get(name), (Mapping, list)) for name in _ROOTS):
        text = f"{document.path}: no `mcpServers` in it; it brings no MCP server"
        return (Notice("warning", "server-root", text, 'write {"mcpServers": {"<id>": {…}}}'),)
    return tuple(
        Notice("warning", "server-nameless", f"{_place(document, (name, str(n)))}: a server in a list needs a `name`")
        for name in _ROOTS
        for n, raw in enumerate(root[name] if isinstance(root.get(name), list) else ())
        if not (isinstance(raw, Mapping) and isinstance(raw.get("name"), str))
    )


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
    spaces: dict[str, Servers] = {}
    for one in named:
        if one.id in disabled:
            continue
        if one.agent not in spaces:
            spaces[one.agent] = servers(reader.ranked(), (one.agent,) if one.agent else ())
        space = spaces[one.agent]
        found[one.id] = space.by_id.get(one.id)
        for notice in (*_about_selected(one, space), *_absent_paths(reader, space.by_id.get(one.id))):
            notices[notice] = None
    for space in spaces.values() or (servers(reader.ranked(), ()),):
        problems.update(dict.fromkeys(space.problems))
        notices.update(dict.fromkeys(space.notices))
    return Selected(tuple(server for server in found.values() if server), tuple(problems), tuple(notices))


def _about_selected(one: SelectedId, space: Servers) -> tuple[Notice, ...]:
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
    paths = machine_paths(server) if server else ()
    return tuple(
        Notice("warning", "server-path", f"{path} of MCP server {server.id!r} does not exist here")
        for path in paths
        if server and not reader.is_present(path)
    )


def definitions(servers: tuple[Server, ...]) -> Mapping[str, Mapping[str, object]]:
    """Servers by id, as an `json` holds them."""
    return {server.id: server.definition for server in servers}
