"""Everything that stands in one place, translated: which tools are there, and their trees as one.

Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from outfitter.host import Sources
from outfitter.porting.growing import Growing, left_of
from outfitter.porting.reading import NativeFiles
from outfitter.porting.servers import mcp_text
from outfitter.porting.translation import (
    HOME_DIRECTORIES,
    PROJECT_DIRECTORIES,
    TOOLS,
    Carried,
    LeftBehind,
    Spot,
    Translation,
)

# Files outside a tool's directory that are its alone.
OUTSIDE: Mapping[str, tuple[str, ...]] = {
    "claude": (".mcp.json", "CLAUDE.md", ".claude-plugin"),
    "cursor": (".cursorrules",),
    "copilot": (".vscode/mcp.json",),
    "opencode": ("opencode.json", "opencode.jsonc"),
    "gemini": ("GEMINI.md",),
}


def spot_of(tool: str, place: str, boundary: str, home: bool) -> Spot:
    """Where a tool keeps its files below a directory.

    A directory that bears the tool's own name is that place itself.
    """
    directory = (HOME_DIRECTORIES if home else PROJECT_DIRECTORIES)[tool]
    if posixpath.basename(place) == posixpath.basename(PROJECT_DIRECTORIES[tool]):
        return Spot(tool, place, posixpath.dirname(place), boundary, home)
    return Spot(tool, posixpath.join(place, directory), place, boundary, home)


def translated(sources: Sources, spot: Spot, only: str = "") -> Translation:
    """One tool's files as a tree; `only` reads no other agent's file."""
    return translate_files(NativeFiles(sources, spot), only)


def translate_files(files: NativeFiles, only: str = "") -> Translation:
    """The same over files that are read in their own way."""
    found: Translation = import_module(f"outfitter.porting.{files.spot.tool}").translate(files, only)
    return found


def everything(sources: Sources, spots: Iterable[Spot]) -> Translation:
    """The trees of several spots as one.

    The first spot's resource wins, and one that differs from it is named.
    """
    found = [translated(sources, spot) for spot in spots]
    for spot in spots:
        if spot.tool == "claude":
            found += plugins(sources, spot)
    return merged(found)


def merged(found: Iterable[Translation]) -> Translation:
    """Several translations as one.

    Resources are agents, skills, commands and single files; servers merge by id.
    """
    each = list(found)
    files: dict[str, Carried] = {}
    owners: dict[str, tuple[int, str]] = {}
    folders: dict[str, str] = {}
    left: list[LeftBehind] = list(left_of(each))
    servers: dict[str, Any] = {}
    source = ""
    for number, one in enumerate(each):
        refused: set[str] = set()
        for path, file in one.files.items():
            if path == "mcp.json":
                continue
            unit = unit_of(path)
            owner = owners.setdefault(unit.casefold(), (number, file.source))
            if owner[0] == number:
                files[path] = file
            elif unit not in refused:
                refused.add(unit)
                if not _same(files.get(path), file):
                    left.append(
                        LeftBehind("named", file.source, _second(unit, owner[1]), f"outfitter import {one.tool}")
                    )
        folders.update({path: target for path, target in one.folders.items() if unit_of(path) not in refused})
        if "mcp.json" in one.files:
            source = source or one.files["mcp.json"].source
            servers.update({name: raw for name, raw in _servers(one.files["mcp.json"]).items() if name not in servers})
    if servers:
        files["mcp.json"] = Carried("mcp.json", source, mcp_text(servers))
    return Translation(
        ", ".join(dict.fromkeys(one.tool for one in each if one.files or one.left)),
        dict(sorted(files.items())),
        folders,
        tuple(dict.fromkeys(left)),
        _ids(files, "agents"),
        _ids(files, "skills"),
        tuple(sorted(path[9:-3] for path in files if path.startswith("commands/"))),
        tuple(servers),
    )


def _second(unit: str, owner: str) -> str:
    if unit == "agents.md":
        return f"not added to agents.md, which says what {owner} says"
    return f"has the same name as {owner}, which is taken"


def unit_of(path: str) -> str:
    """The resource that a file belongs to: an agent's folder, a skill's folder, else the file itself."""
    parts = path.split("/")
    if parts[0] == "agents" and len(parts) > 2:
        return "/".join(parts[:2])
    if parts[0] == "skills":
        return path if len(parts) < 3 else "/".join(parts[:2])
    return path


def plugins(sources: Sources, spot: Spot) -> list[Translation]:
    """What a plugin's manifest, or a marketplace's local plugins, bring beside the usual folders."""
    root = spot.around
    files = NativeFiles(sources, spot)
    found: list[Translation] = []
    if not files.is_folder(f"{root}/.claude-plugin"):
        return found
    manifest = files.json(f"{root}/.claude-plugin/plugin.json")
    if manifest is not None:
        found.append(_plugin(sources, spot, root, manifest[0]))
    market = files.json(f"{root}/.claude-plugin/marketplace.json")
    listed = market[0].get("plugins") if market is not None else None
    base = str((market[0].get("metadata") or {}).get("pluginRoot") or "") if market is not None else ""
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, Mapping):
            continue
        source = entry.get("source")
        path = f"{root}/.claude-plugin/marketplace.json"
        if not isinstance(source, str):
            said = f"plugin {entry.get('name')!r} comes from elsewhere; it is not fetched"
            files.note("named", path, said, "name its repository under sources: in settings.yml")
            continue
        place = posixpath.normpath(posixpath.join(root, base, source))
        if place != root and not place.startswith(root + "/"):
            files.note("skipped", path, f"plugin {entry.get('name')!r} points outside this directory; skipped")
            continue
        own = NativeFiles(sources, spot).json(f"{place}/.claude-plugin/plugin.json")
        if place != root or manifest is None:
            found.append(_plugin(sources, spot, place, {**(own[0] if own else {}), **entry}))
    return [*found, Translation("claude", left=tuple(files.left))]


def _plugin(sources: Sources, spot: Spot, root: str, manifest: Mapping[str, Any]) -> Translation:
    from outfitter.porting.claude import add_agents

    files = NativeFiles(sources, spot._replace(directory=root, around=root))
    growing = Growing(files)
    for folder in ("skills", *_paths(manifest.get("skills"))):
        growing.skills(posixpath.normpath(posixpath.join(root, folder)))
    for folder in ("commands", *_paths(manifest.get("commands"))):
        growing.commands(posixpath.normpath(posixpath.join(root, folder)))
    _plugin_servers(growing, root, manifest.get("mcpServers"))
    for folder in ("agents", *_paths(manifest.get("agents"))):
        add_agents(growing, posixpath.normpath(posixpath.join(root, folder)))
    hooks = manifest.get("hooks") or files.is_folder(f"{root}/hooks")
    if hooks:
        files.note("named", f"{root}/hooks", "hooks of a plugin, which only Claude Code runs; not copied")
    return growing.done("claude")


def _plugin_servers(growing: Growing, root: str, value: Any) -> None:
    path = f"{root}/.claude-plugin/plugin.json"
    if isinstance(value, Mapping):
        growing.add_servers(path, value)
    for name in (".mcp.json", *_paths(value)):
        path = posixpath.normpath(posixpath.join(root, name))
        if (path.startswith(root + "/") and path != f"{root}/.mcp.json") or name == ".mcp.json":
            found = growing.native.json(path)
            if found is not None:
                growing.add_servers(path, found[0].get("mcpServers", found[0]))
    rooted = [name for name, raw in growing.servers.items() if "CLAUDE_PLUGIN_ROOT" in str(raw)]
    if rooted:
        said = f"servers {', '.join(rooted)} start what lies in the plugin (${{CLAUDE_PLUGIN_ROOT}})"
        growing.native.note("named", path, said, "set CLAUDE_PLUGIN_ROOT, or write the path")


def _paths(value: Any) -> tuple[str, ...]:
    """The relative paths of a manifest's key, one or a list; what leaves the plugin is no path of it."""
    words = value if isinstance(value, list) else [value]
    kept = (posixpath.normpath(word) for word in words if isinstance(word, str) and not word.startswith("/"))
    return tuple(word for word in kept if not word.startswith(".."))


def _ids(files: Mapping[str, Carried], kind: str) -> tuple[str, ...]:
    name = "agent.md" if kind == "agents" else "SKILL.md"
    found = (path for path in files if path.startswith(f"{kind}/") and path.endswith(f"/{name}"))
    return tuple(sorted(path[len(kind) + 1 : -len(name) - 1] for path in found))


def _same(one: Carried | None, other: Carried) -> bool:
    return one is not None and one.text == other.text and bool(one.text)


def _servers(file: Carried) -> Mapping[str, Any]:
    import json

    servers: Mapping[str, Any] = json.loads(file.text)["mcpServers"]
    return servers


def all_spots(place: str, boundary: str, home: bool, tools: Iterable[str] = TOOLS) -> tuple[Spot, ...]:
    """The spot of each tool below one directory."""
    return tuple(spot_of(tool, place, boundary, home) for tool in tools)
