"""Codex CLI: agents in TOML, servers of `config.toml`, skills and prompts. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from outfitter.porting import front_text
from outfitter.porting.growing import Growing
from outfitter.porting.instructions import read_by_all
from outfitter.porting.reach import reached
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import MOST_LISTED, Translation

# Server keys by another name here (spec of `mcp.json`); every other key is kept, Codex reads it back.
_RENAMED = {"http_headers": "headers"}
# Keys of an agent's file and what they become; None: handled apart.
_KEYS = {"name": "name", "description": "description", "model": "model", "model_reasoning_effort": "thinking"}
_APART = ("developer_instructions", "mcp_servers", "sandbox_mode", "approval_policy", "skills", *_KEYS)


def translate(files: NativeFiles, only: str = "") -> Translation:
    """The tree of one `.codex` directory; `only` reads no other agent's file."""
    spot = files.spot
    growing = Growing(files)
    growing.skills(f"{spot.directory}/skills")
    growing.commands(f"{spot.directory}/prompts", depth=1)
    config = _document(files, f"{spot.directory}/config.toml")
    if config is not None:
        growing.add_servers(f"{spot.directory}/config.toml", _servers(config[0].get("mcp_servers")))
    many: list[str] = []
    named = _agents_of_config(growing, config[0], only, many) if config is not None else set()
    for path, entry in files.files(f"{spot.directory}/agents", ".toml", 3):
        stem = posixpath.basename(path).removesuffix(".toml")
        if f"{spot.directory}/agents/{path}" in named or (only and only != stem):
            continue
        content = files.read(f"{spot.directory}/agents/{path}", entry.target)
        document = files.toml(f"{spot.directory}/agents/{path}", content) if content is not None else None
        if document is not None:
            _agent(growing, stem, f"{spot.directory}/agents/{path}", document, {}, many)
    if config is not None:
        _named(files, config[0])
    read_by_all(growing)
    return growing.done("codex")


def _document(files: NativeFiles, path: str) -> tuple[Mapping[str, Any], Any] | None:
    content = files.alone(path)
    return None if content is None else files.toml(path, content)


def _agents_of_config(growing: Growing, config: Mapping[str, Any], only: str, many: list[str]) -> set[str]:
    """`[agents.NAME]` tables: a description, and a file of its own. Gives the files that they name."""
    spot = growing.native.spot
    named: set[str] = set()
    table = config.get("agents")
    for name, values in table.items() if isinstance(table, Mapping) else ():
        place = values.get("config_file") if isinstance(values, Mapping) else None
        if not isinstance(place, str):
            continue
        path = posixpath.normpath(posixpath.join(spot.directory, place))
        named.add(path)
        if only and only != name:
            continue
        if not path.startswith(spot.directory + "/"):
            said = f"agents.{name}.config_file points outside {spot.directory}; the agent is left out"
            growing.native.note("skipped", f"{spot.directory}/config.toml", said)
            continue
        document = _document(growing.native, path)
        if document is not None and ("agents", str(name).casefold()) not in growing.taken:
            _agent(growing, str(name), path, document, values, many)
    return named


def _agent(
    growing: Growing,
    name: str,
    source: str,
    document: tuple[Mapping[str, Any], Any],
    outer: Mapping[str, Any],
    many: list[str],
) -> None:
    plain, spelled = document
    own = _servers(plain.get("mcp_servers"))
    values: dict[str, Any] = {"name": name}
    for key, mapped in _KEYS.items():
        given = plain.get(key, outer.get(key))
        if isinstance(given, (str, int, float, bool)) and key != "name":
            values[mapped] = str(given)
    if str(plain.get("name", name)) != name:
        values["label"] = str(plain["name"])
    if plain.get("sandbox_mode") == "read-only":
        values["readonly"] = True
    elif plain.get("sandbox_mode"):
        growing.native.note(
            "named", source, f"sandbox_mode {plain['sandbox_mode']!r} is a permission; it is not copied"
        )
    if plain.get("approval_policy"):
        growing.native.note("named", source, "approval_policy is a permission; it is not copied")
    listed = reached(None, (), tuple(growing.servers), many)
    if listed.get("mcp") or own:
        values["mcp"] = list(dict.fromkeys((*listed.get("mcp", ()), *own)))
    if 0 < len(growing.ids["skills"]) <= MOST_LISTED:
        values["skills"] = [skill for skill in growing.ids["skills"] if skill not in _switched_off(plain)]
    values.update({key: value for key, value in plain.items() if key not in _APART})
    body = str(plain.get("developer_instructions") or "")
    growing.agent(name, source, front_text.written(values, _comments(spelled), body), own=own)


def _switched_off(plain: Mapping[str, Any]) -> tuple[str, ...]:
    """Skills that an agent's `skills.config` switches off, by their folders' names."""
    block = plain.get("skills")
    rows = block.get("config") if isinstance(block, Mapping) else None
    off = [row for row in rows or () if isinstance(row, Mapping) and row.get("enabled") is False]
    return tuple(posixpath.basename(str(row.get("path", "")).removesuffix("/SKILL.md")) for row in off)


def _comments(document: Any) -> dict[str, tuple[str, ...]]:
    """The comments of a TOML file, by the front matter key that they come to stand above."""
    found: dict[str, tuple[str, ...]] = {}
    waiting: list[str] = []
    for key, item in document.body:
        text = item.as_string().strip() if key is None else ""
        if key is None:
            waiting += [text.lstrip("# ")] if text.startswith("#") else []
            continue
        mapped = _KEYS.get(key.key, "readonly" if key.key == "sandbox_mode" else key.key)
        behind = item.trivia.comment.lstrip("# ").strip() if hasattr(item, "trivia") else ""
        comments = (*waiting, *((behind,) if behind else ()))
        if comments:
            found[mapped] = (*found.get(mapped, ()), *comments)
        waiting = []
    # What stood above the instructions belongs to the file.
    lost = found.pop("developer_instructions", ())
    if lost:
        found["name"] = (*lost, *found.get("name", ()))
    return found


def _servers(table: Any) -> dict[str, Any]:
    """Servers as `mcp.json` holds them: headers from variables become references."""
    found: dict[str, Any] = {}
    for name, values in table.items() if isinstance(table, Mapping) else ():
        if not isinstance(values, Mapping):
            continue
        made = {_RENAMED.get(key, key): value for key, value in values.items()}
        headers = dict(made.get("headers") or {})
        for header, variable in (made.pop("env_http_headers", None) or {}).items():
            headers[header] = f"${{{variable}}}"
        bearer = made.pop("bearer_token_env_var", None)
        if bearer:
            headers["Authorization"] = f"Bearer ${{{bearer}}}"
        if headers:
            made["headers"] = headers
        passed = made.pop("env_vars", None)
        if isinstance(passed, list):
            known = made.get("env") or {}
            made["env"] = {**{str(word): f"${{{word}}}" for word in passed if isinstance(word, str)}, **known}
        found[str(name)] = made
    return found


def _named(files: NativeFiles, config: Mapping[str, Any]) -> None:
    """What stays Codex's own."""
    path = f"{files.spot.directory}/config.toml"
    rest = [key for key in config if key not in ("mcp_servers", "agents")]
    guards = [key for key in rest if key in ("sandbox_mode", "approval_policy", "sandbox_workspace_write", "hooks")]
    if guards:
        said = f"{', '.join(guards)}: Codex goes on applying them; no other program does"
        files.note(
            "named", path, said, "write tools: {deny: […]} or readonly: true in the agents that must keep to them"
        )
    others = [key for key in rest if key not in guards]
    if others:
        files.note("named", path, f"{', '.join(others[:8])}: Codex's own settings; not copied")
    if files.below(f"{files.spot.directory}/rules"):
        files.note("named", f"{files.spot.directory}/rules", "command rules, which only Codex applies; not copied")
