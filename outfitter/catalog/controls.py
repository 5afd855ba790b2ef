"""`controls` of an agent: the generic block and each harness's own, decoded and inherited (spec/10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.catalog.fields import Fields, merged
from outfitter.model.composition import Controls, Tools
from outfitter.model.value import NamedTuple

HARNESSES = ("pi", "claude", "codex")
# An agent that set these would choose where the harness's state goes, or whose home it sees.
FORBIDDEN = ("PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HOME")
_OWN = ("environment", "args", "session_directory", "deepwork")


class ControlSet(NamedTuple):
    """The generic controls and those of each harness that has a block."""

    generic: Controls = Controls()
    harness: Mapping[str, Controls] = {}


def controls(fields: Fields) -> ControlSet:
    """Decode `controls`; the variables that Outfitter itself sets are refused."""
    blocks = {name: _block(fields, "controls", name) for name in HARNESSES if fields.mapping("controls", name)}
    return ControlSet(_block(fields, "controls"), blocks)


def inherited(low: ControlSet, high: ControlSet) -> ControlSet:
    """Maps merge by key, lists unite, the nearest scalar wins; block by block."""
    names = [name for name in HARNESSES if name in low.harness or name in high.harness]
    blocks = {name: joined(low.harness.get(name, Controls()), high.harness.get(name, Controls())) for name in names}
    return ControlSet(joined(low.generic, high.generic), blocks)


def joined(low: Controls, high: Controls) -> Controls:
    """Two blocks of the same kind, the second nearer."""
    return Controls(
        environment={**low.environment, **high.environment},
        args=(*low.args, *high.args),
        session_directory=high.session_directory or low.session_directory,
        deepwork_jobs=tuple(dict.fromkeys((*low.deepwork_jobs, *high.deepwork_jobs))),
        extra=merged(low.extra, high.extra),
    )


def _block(fields: Fields, *path: str) -> Controls:
    own = fields.mapping(*path)
    skipped = (*_OWN, *(HARNESSES if len(path) == 1 else ()))
    return Controls(
        environment=_environment(fields, *path, "environment"),
        args=_arguments(fields, *path, "args"),
        session_directory=fields.text(*path, "session_directory"),
        deepwork_jobs=fields.words(*path, "deepwork", "jobs", split=True) if fields.mapping(*path, "deepwork") else (),
        extra={key: value for key, value in own.items() if key not in skipped and value is not None},
    )


def _environment(fields: Fields, *path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.mapping(*path).items():
        key = (*path, str(name))
        if name in FORBIDDEN:
            fields.fault(key, "may not be set by an agent", "it decides where state is kept; remove it")
        elif not name or "=" in name or "\0" in name:
            fields.fault(key, "is not the name of an environment variable")
        elif value is not None:
            found[str(name)] = _word(fields, key, value)
    return found


def _arguments(fields: Fields, *path: str) -> tuple[str, ...]:
    return tuple(_word(fields, key, item) for key, item in fields.items(*path))


def _word(fields: Fields, path: tuple[str, ...], value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, int, float)):
        fields.fault(path, "must be text")
        return ""
    if "\0" in str(value):
        fields.fault(path, "contains a NUL character")
    return str(value).replace("\0", "")


WRITING = ("edit", "write", "bash")
# Keys of other tools that say nothing about what an agent may do.
_HARMLESS = ("modelConfig", "connection", "skillsConfig")
_SUSPECT = ("permission", "policy", "deny", "disallow")


class AgentLimits(NamedTuple):
    """An agent's own limits: allowed (None: no list) and denied tools, and servers it must not have."""

    tools: Tools = Tools()
    disabled_servers: tuple[str, ...] = ()


def limits(fields: Fields) -> AgentLimits:
    """Return everything in an agent's front matter that narrows it; warn about limits that are unknown."""
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
    return AgentLimits(Tools(allow, tuple(dict.fromkeys(deny))), servers)


def _tools(fields: Fields) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    key = "tools" if fields.get("tools") is not None else "allowed-tools"
    value = fields.get(key)
    if value is None:
        return None, ()
    if not isinstance(value, Mapping):
        return _names(fields, key, denying=False), ()
    for other in value:
        if other not in ("allow", "deny"):
            fields.warn((key, str(other)), "limit-not-understood", "is neither allow nor deny; it is not applied")
    allow = _names(fields, key, "allow", denying=False) if value.get("allow") is not None else None
    return allow, _names(fields, key, "deny", denying=True)


def _names(fields: Fields, *path: str, denying: bool) -> tuple[str, ...]:
    """Return tool names. A name that could be an option or a list is invalid.

    An allow list drops it, a deny list rejects it.
    """
    found: list[str] = []
    for name in fields.words(*path, split=True):
        if not name.startswith("-") and not any(c.isspace() for c in name):
            found.append(name)
        elif denying:
            fields.fault(path, f"{name!r} is not a tool name: it contains a space or begins with '-'")
        else:
            fields.warn(
                path, "tool-name", f"{name!r} is not a tool name (it contains a space or begins with '-'); skipped"
            )
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
            fields.warn(("permissions", str(name)), "limit-not-understood", "unknown limit; it is not applied")
    return tuple(denied)


def _foreign(fields: Fields) -> None:
    understood = ("permissions", "disallowedTools", "disallowed-tools")
    for key, value in fields.values.items():
        known = key in _HARMLESS or (key in understood and (key != "permissions" or isinstance(value, Mapping)))
        if not known and any(word in key.lower() for word in _SUSPECT):
            fields.warn((key,), "limit-not-understood", "unknown limit; it is not applied")


def union(low: Tools, high: Tools) -> Tools:
    """Inherited and own limits joined: both lists are unions, and deny wins (spec/10)."""
    allow: Any = low.allow
    if high.allow is not None:
        allow = tuple(dict.fromkeys((*(low.allow or ()), *high.allow)))
    return Tools(allow, tuple(dict.fromkeys((*low.deny, *high.deny))))
