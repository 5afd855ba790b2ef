"""Tool limits as trees write them, foreign spellings too: never wider than written (spec/10 `tools`, spec/15 V12 and V27)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.catalog.fields import Fields
from outfitter.model.composition import Tools
from outfitter.model.value import NamedTuple

WRITING = ("edit", "write", "bash")
# Keys of other tools that say nothing about what an agent may do.
_HARMLESS = ("modelConfig", "connection", "skillsConfig")
_SUSPECT = ("permission", "policy", "deny", "disallow")


class Limits(NamedTuple):
    """An agent's own limits: allowed (None: no list) and denied tools, and servers it must not have."""

    tools: Tools = Tools()
    disabled_servers: tuple[str, ...] = ()


def limits(fields: Fields) -> Limits:
    """Everything in an agent's front matter that narrows it; what is not understood is a warning, for it is not applied."""
    allow, deny = _tools(fields)
    enabled = fields.get("toolConfig", "enabledBuiltinTools")
    if enabled and allow is None:
        allow = _names(fields, "toolConfig", "enabledBuiltinTools", denying=False)
    deny += tuple(name for key in ("disallowedTools", "disallowed-tools") for name in _names(fields, key, denying=True))
    if fields.flag("readonly") or fields.flag("read_only"):
        deny += WRITING
    deny += _permissions(fields)
    _foreign(fields)
    servers = tuple(word for word, _ in fields.slugs("toolConfig", "disabledServers"))
    return Limits(Tools(allow, tuple(dict.fromkeys(deny))), servers)


def _tools(fields: Fields) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    key = "tools" if fields.get("tools") is not None else "allowed-tools"
    value = fields.get(key)
    if value is None:
        return None, ()
    if not isinstance(value, Mapping):
        return _names(fields, key, denying=False), ()
    for other in value:
        if other not in ("allow", "deny"):
            fields.warn((key, str(other)), "limit-not-understood", "is neither allow nor deny and not applied")
    allow = _names(fields, key, "allow", denying=False) if value.get("allow") is not None else None
    return allow, _names(fields, key, "deny", denying=True)


def _names(fields: Fields, *path: str, denying: bool) -> tuple[str, ...]:
    """Tool names; one that could be taken for an option or a list is dropped from an allow list and refused in a deny list."""
    found: list[str] = []
    for name in fields.words(*path, split=True):
        if not name.startswith("-") and not any(c.isspace() for c in name):
            found.append(name)
        elif denying:
            fields.fault(path, f"{name!r} is no tool name: it holds a blank or begins with '-'")
        else:
            fields.warn(path, "tool-name", f"{name!r} is no tool name (a blank, or '-' in front); left out")
    return tuple(found)


def _permissions(fields: Fields) -> tuple[str, ...]:
    value = fields.get("permissions")
    if not isinstance(value, Mapping):
        return ()
    denied: list[str] = []
    for name, rule in value.items():
        if str(rule).lower() in ("deny", "false", "never") and str(name).lower() in WRITING:
            denied += WRITING if str(name).lower() in ("edit", "write") else ("bash",)
        elif str(rule).lower() not in ("allow", "true"):
            fields.warn(("permissions", str(name)), "limit-not-understood", "limit is not understood and not applied")
    return tuple(denied)


def _foreign(fields: Fields) -> None:
    understood = ("permissions", "disallowedTools", "disallowed-tools")
    for key, value in fields.values.items():
        known = key in _HARMLESS or (key in understood and (key != "permissions" or isinstance(value, Mapping)))
        if not known and any(word in key.lower() for word in _SUSPECT):
            fields.warn((key,), "limit-not-understood", "limit is not understood and not applied")


def union(low: Tools, high: Tools) -> Tools:
    """Inherited and own limits joined: both lists are unions, and deny wins (spec/10)."""
    allow: Any = low.allow
    if high.allow is not None:
        allow = tuple(dict.fromkeys((*(low.allow or ()), *high.allow)))
    return Tools(allow, tuple(dict.fromkeys((*low.deny, *high.deny))))
