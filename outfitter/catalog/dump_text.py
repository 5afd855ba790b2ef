"""Agents and servers written anew for a dump: one deterministic spelling, every path inside the dump (spec/30)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from outfitter.catalog.agents import Agent
from outfitter.catalog.controls import ControlSet
from outfitter.catalog.mcp_form import normal_form
from outfitter.catalog.model_rules import faults
from outfitter.model.composition import Controls, Server

_SECRET = "looks like a credential"
_USER_INFO = re.compile(r"(://)[^/@]*@")


def agent_text(one: Agent, changed: Mapping[str, Any]) -> bytes:
    """`agent.md` of an agent: its own keys (those in `changed` instead, None to leave one out), JSON values in YAML, and its body."""
    tools = one.limits.tools
    values: dict[str, Any] = {
        "name": one.id,
        "label": one.label if one.label != one.id else None,
        "description": one.description,
        "abstract": True if one.abstract else None,
        "mainAgent": None if one.main else False,
        "inherits": [name for name, _ in one.inherits],
        "plugins": list(one.plugins),
        "model": one.model,
        "thinking": one.thinking,
        "tools": _tools(tools.allow, tools.deny),
        "controls": _controls(one.controls),
        **changed,
    }
    lines = [
        f"{key}: {json.dumps(value, ensure_ascii=False, sort_keys=True)}\n"
        for key, value in values.items()
        if _says(value)
    ]
    return "".join(("---\n", *lines, "---\n", one.body)).encode("utf-8", "surrogateescape")


def _says(value: Any) -> bool:
    return value is not None and value != "" and value != [] and value != {}


def _tools(allow: tuple[str, ...] | None, deny: tuple[str, ...]) -> dict[str, list[str]]:
    limits = {} if allow is None else {"allow": list(allow)}
    return {**limits, **({"deny": list(deny)} if deny else {})}


def _controls(controls: ControlSet) -> dict[str, Any]:
    return {**_block(controls.generic), **{name: _block(block) for name, block in controls.harness.items()}}


def _block(block: Controls) -> dict[str, Any]:
    values = {
        **block.extra,
        "environment": dict(block.environment),
        "args": list(block.args),
        "session_directory": block.session_directory,
        "deepwork": {"jobs": list(block.deepwork_jobs)} if block.deepwork_jobs else {},
    }
    return {key: value for key, value in values.items() if _says(value)}


def plain_text(content: str) -> bytes:
    """A prompt file that reads back as this content: a text that begins with a fence gets an empty front matter before it."""
    fence = "---\n---\n" if content.startswith("---") else ""
    return (fence + content).encode("utf-8", "surrogateescape")


def json_text(value: Any) -> bytes:
    """JSON for a file: sorted, indented, with a final newline."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def server_map(servers: tuple[Server, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Servers as `mcp.json` holds them, and the key paths of literal credentials, which are replaced by references."""
    written: dict[str, Any] = {}
    redacted: list[str] = []
    for server in servers:
        definition = json.loads(json.dumps(server.definition))
        for key, said in normal_form(definition).remarks:
            if _SECRET in said:
                _redact(server.id, definition, key)
                redacted.append(f"{server.id}.{key}")
        written[server.id] = definition
    return written, tuple(redacted)


def registry_map(providers: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Providers as `models.json` holds them without what no composition takes (literal credentials first), and its key paths."""
    written: dict[str, Any] = json.loads(json.dumps(providers))
    dropped: list[str] = []
    for name, provider in written.items():
        models = [model for model in provider.get("models") or () if isinstance(model, dict)]
        for label, definition in ((name, provider), *((f"{name}/{model.get('id')}", model) for model in models)):
            for path, _, _ in tuple(faults(definition)):
                holder = definition if len(path) == 1 else definition[path[0]]
                holder.pop(path[-1], None)
                dropped.append(".".join((label, *path)))
    return written, tuple(dropped)


def literal_credentials(servers: tuple[Server, ...]) -> tuple[str, ...]:
    """The literal values of servers that look like credentials, longest first: what no output may show."""
    found: list[str] = []
    for server in servers:
        for key, said in normal_form(dict(server.definition)).remarks:
            block, _, inner = key.partition(".")
            if _SECRET in said and block in ("env", "headers"):
                found.append(str(server.definition[block][inner]))
    return tuple(sorted(filter(None, found), key=len, reverse=True))


def _redact(server: str, definition: dict[str, Any], key: str) -> None:
    block, _, inner = key.partition(".")
    if block in ("env", "headers"):
        words = inner if block == "env" else f"{server}_{inner}"
        definition[block][inner] = "${" + re.sub(r"[^A-Za-z0-9_]", "_", words).upper() + "}"
    elif block == "args":
        definition["args"][int(inner)] = _USER_INFO.sub(r"\1", definition["args"][int(inner)])
    else:
        definition[block] = _USER_INFO.sub(r"\1", definition[block])
