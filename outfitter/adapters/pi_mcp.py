"""Pi's `mcp.json` for one run: native servers, over them the overlays', over them the selected ones (spec/40, OFTR-006.3.10). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.adapters.native_json import Json, json_bytes, json_object
from outfitter.model.composition import Composition, Server
from outfitter.model.request import Notice

_PI_ID = re.compile(r"^[A-Za-z0-9_-]+$")
_DEFAULTED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):-([^}]*)\}")
_IDENTITIES = ("id", "name", "source", "path")


def merged_mcp(
    native: tuple[str, bytes | None],
    overlays: Iterable[tuple[str, bytes]],
    composition: Composition,
    env: Mapping[str, str],
) -> tuple[bytes, tuple[Notice, ...]]:
    """The generated file, and what to say.

    `native` and `overlays` are (path, bytes), lowest first. A file that is no JSON object is a warning and left out.
    """
    merged: Json = {}
    notices: list[Notice] = []
    for path, raw in (native, *overlays):
        if raw is None or not raw.strip():
            continue
        found = json_object(raw)
        if found is None:
            message = f"{path}: not a JSON object; its MCP servers are left out of this run"
            notices.append(Notice("warning", "mcp-unreadable", message))
        else:
            merged = merge_documents(merged, found)
    selected, lost = _selected(composition, env)
    merged = merge_documents(merged, {"mcpServers": selected})
    return json_bytes(merged), (*notices, *lost)


def merge_documents(low: Mapping[str, Any], high: Mapping[str, Any]) -> Json:
    """Two `.mcp.json` documents as one: servers by id, whole; other mappings key by key; arrays by identity (006.3.10)."""
    made = dict(low)
    for key, value in high.items():
        old = made.get(key)
        if key == "mcpServers" and isinstance(old, dict) and isinstance(value, dict):
            made[key] = {**old, **value}
        elif isinstance(old, dict) and isinstance(value, dict):
            made[key] = merge_documents(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            made[key] = list({_identity(entry): entry for entry in (*old, *value)}.values())
        else:
            made[key] = value
    return made


def _identity(entry: Any) -> str:
    """What makes an array entry the same as another: its id or name, else its whole content."""
    if isinstance(entry, dict):
        for key in _IDENTITIES:
            if isinstance(entry.get(key), str):
                return f"{key}={entry[key]}"
    return json.dumps(entry, sort_keys=True)


def _selected(composition: Composition, env: Mapping[str, str]) -> tuple[Json, tuple[Notice, ...]]:
    """The selected servers as Pi can take them, and a warning for each that it would drop without a word.

    By default Pi offers a server's tools through its script tool alone. Where an allow list names them, they are offered
    directly: the script tool is not on that list.
    """
    made: Json = {}
    notices: list[Notice] = []
    agent = composition.agent
    direct = {} if composition.tools.allow is None else {"exposure": "direct"}
    for server in composition.servers:
        why = _refused(server)
        if why:
            message = f"agent {agent}: MCP server {server.id!r}: {why}; it is left out"
            notices.append(Notice("warning", "mcp-omitted", message))
            continue
        if "available_tools" in server.definition:
            message = f"agent {agent}: MCP server {server.id!r}: pi has no list of available_tools; all its tools are in reach"
            notices.append(Notice("warning", "mcp-tools-unlimited", message))
        made[server.id] = _defaulted({**direct, **server.definition}, env)
    return made, tuple(notices)


def _refused(server: Server) -> str:
    if not _PI_ID.match(server.id):
        return "pi takes only letters, digits, _ and - in a server's name"
    kind = server.definition.get("type")
    return "" if kind in (None, "stdio", "http") else f"pi has no {kind!r} transport"


def _defaulted(value: Any, env: Mapping[str, str]) -> Any:
    """Every `${NAME:-text}` as what Pi understands: a reference where the variable is set, else the text (spec/15 V24)."""
    if isinstance(value, str):
        return _DEFAULTED.sub(lambda m: "${" + m[1] + "}" if env.get(m[1]) else m[2], value)
    if isinstance(value, dict):
        return {key: _defaulted(inner, env) for key, inner in value.items()}
    return [_defaulted(inner, env) for inner in value] if isinstance(value, list) else value
