"""What native files of the project make a harness run: hooks, servers, extensions (measured). Pure."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from blake3 import blake3

from outfitter.model.exposure import NativePlace
from outfitter.trust.arguments import environment_faults
from outfitter.trust.declared import server_text, server_words
from outfitter.trust.drafts import Draft, canonical, clipped

# Settings of Claude Code that run nothing and send nothing; every other key is a row.
_QUIET = frozenset(
    [
        "$schema",
        "model",
        "language",
        "outputStyle",
        "theme",
        "cleanupPeriodDays",
        "includeCoAuthoredBy",
        "attribution",
        "alwaysThinkingEnabled",
        "disabledMcpjsonServers",
        "disableAllHooks",
        "skillOverrides",
        "effortLevel",
        "spinnerTipsEnabled",
        "prefersReducedMotion",
        "permissions",
        "respectGitignore",
        "showTurnDuration",
        "terminalProgressBarEnabled",
        "availableModels",
        "plansDirectory",
        "claudeMdExcludes",
    ]
)
_BYPASS = ("bypassPermissions", "dontAsk", "auto")
# Allowed without a question: any command, any server's tools, any tool.
_WIDE = frozenset(
    f"{tool}{rest}"
    for tool in ("Bash", "PowerShell", "Shell", "mcp__", "mcp__*", "*", "WebFetch")
    for rest in ("", "(*)", "(:*)", "(**)", "( *)", "(domain:*)")
)


def native_drafts(place: NativePlace, content: bytes, bases: tuple[str, ...]) -> Iterator[Draft]:
    """The rows of a file, or of a folder whose names and digests `content` lists."""
    label = "native"
    name = posixpath.relpath(place.path, place.root)
    document = _parsed(content) if place.form in ("claude-settings", "servers") else None
    if document is None:
        if content.strip():
            text = f"{name} ({'files that run' if place.form == 'folder' else 'settings'})"
            yield Draft("settings", label, place.path, 0, text, name, blake3(content).hexdigest(), place.root)
        return
    if place.form == "servers":
        servers = document.get("mcpServers")
        for server, definition in servers.items() if isinstance(servers, Mapping) else ():
            if isinstance(definition, Mapping):
                words = server_words(definition)
                yield Draft("server", label, place.path, _line(content, server), server_text(server, definition), server, definition, place.root, words, (place.root, *bases))  # fmt: skip
        return
    for key, value in document.items():
        if key not in _QUIET and value not in (None, {}, [], "", False):
            yield Draft("settings", label, place.path, _line(content, key), clipped(f"{key}: {_told(value)}"), key, value, place.root, tuple(_texts(value)), (place.root, *bases))  # fmt: skip
    wide = _permissions(document.get("permissions"))
    if wide:
        text = clipped(f"allows without asking: {', '.join(wide)}")
        yield Draft(
            "permissions", label, place.path, _line(content, "permissions"), text, "permissions", wide, place.root
        )


def home_only(place: NativePlace, content: bytes, trusted: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What a project's native settings set that only the home may set: (key, why).

    An address of this machine, or of a host that the home trusts, may be set.
    """
    from outfitter.catalog.model_rules import host, is_loopback
    from outfitter.trust.names import is_host_name

    document = _parsed(content) if place.form == "claude-settings" else None
    env = document.get("env") if document else None
    for key, why in environment_faults({"env": env}):
        name = key.partition(".")[2]
        target = host(str(env[name])) if isinstance(env, Mapping) else ""
        if not (is_host_name(name) and (is_loopback(target) or target in trusted)):
            yield key, why


def _permissions(value: Any) -> list[str]:
    """What a `permissions` block allows that is as wide as any command, or wider."""
    if not isinstance(value, Mapping):
        return []
    allow, more = value.get("allow"), value.get("additionalDirectories")
    found = [str(word) for word in allow if str(word).strip() in _WIDE] if isinstance(allow, list) else []
    found += [f"defaultMode {value['defaultMode']}"] if value.get("defaultMode") in _BYPASS else []
    return found + ([f"directory {one}" for one in more] if isinstance(more, list) else [])


def _parsed(content: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _told(value: Any) -> str:
    """The commands in a value where there are any, else the value."""
    commands = [text for key, text in _pairs(value) if key == "command"]
    return "; ".join(commands) if commands else canonical(value)


def _pairs(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, str):
                yield str(key), inner
            yield from _pairs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _pairs(inner)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _line(content: bytes, key: str) -> int:
    """The line where a key is first written, 0 where it is not found so."""
    at = content.find(json.dumps(key).encode())
    return content.count(b"\n", 0, at) + 1 if at >= 0 else 0
