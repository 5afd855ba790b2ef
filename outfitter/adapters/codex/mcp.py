"""Selected MCP servers as Codex overrides, without secrets in arguments (OFTR-006.6.3 to 5).

Only secrets that the tree itself spells out can appear there. Pure.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from outfitter.adapters.codex.overrides import Override, Overrides, is_bare, unwritable
from outfitter.adapters.tools import is_every_server, limits, portable_name, shut_notices, unnamed_servers
from outfitter.model.composition import Composition, Server, Tools
from outfitter.model.request import Notice

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}\Z")
_ANY_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}")
_BEARER = re.compile(r"bearer\s+\$\{([A-Za-z_][A-Za-z0-9_]*)\}\Z", re.IGNORECASE)
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "fish")
# Keys of Codex's own that a server may carry as they are.
_OWN_KEYS = (
    "startup_timeout_sec",
    "tool_timeout_sec",
    "required",
    "enabled_tools",
    "disabled_tools",
    "default_tools_approval_mode",
)
# What a definition may say besides: remarks for people, and how another harness shows its tools.
_TAKEN = frozenset(("type", "command", "args", "env", "cwd", "url", "headers", "available_tools", *_OWN_KEYS))
_REMARKS = frozenset(("name", "title", "description", "icon", "icons", "comment", "alwaysLoad", "exposure"))
ADDITIVE = (
    "codex has no strict MCP isolation: the agent's MCP servers are additive to those of the user's own configuration"
)


class ToolLists(NamedTuple):
    """Tool limits by server.

    `only` are the tools that an allow list names, `never` those that a deny list names; `off` are whole servers.
    """

    only: Mapping[str, tuple[str, ...]] = {}
    never: Mapping[str, tuple[str, ...]] = {}
    off: frozenset[str] = frozenset()


class Environment(NamedTuple):
    """A mapping's entries by what Codex can do with them.

    `names` are passed through, `literals` are values, `renamed` had to go.
    """

    names: tuple[str, ...]
    literals: Mapping[str, str]
    renamed: tuple[str, ...]


def server_overrides(
    composition: Composition, lists: ToolLists, native: Mapping[str, Any], env: Mapping[str, str]
) -> Overrides:
    """Return the overrides for all selected servers.

    `native` are the servers in the user's own configuration, by id; `env` is the environment of the child.
    """
    level = "warning" if composition.servers else "notice"
    notices = [Notice("warning" if level == "warning" else "notice", "mcp-additive", ADDITIVE)]
    rows: list[Override] = []
    for server in composition.servers:
        found = _server(server, lists, env)
        theirs = _keys(native.get(server.id))
        ours = _set_keys(found.rows)
        if found.rows and theirs and _other_kind(ours, theirs):
            found = _left_out(
                f"MCP server {server.id}",
                f"your config.toml has one of that name of the other kind ({_kind(theirs)}), and codex would not start",
                "rename one of the two",
            )
        rows += found.rows
        notices += found.notices
        if found.rows and server.id in native:
            notices.append(_merged(server.id, sorted(theirs - ours - {"enabled"})))
            rows.append(Override(f"MCP server {server.id}", f"mcp_servers.{server.id}.enabled", True))
    return Overrides(tuple(rows), tuple(notices))


def _server(server: Server, lists: ToolLists, env: Mapping[str, str]) -> Overrides:
    label = f"MCP server {server.id!r}" if not is_bare(server.id) else f"MCP server {server.id}"
    if not is_bare(server.id):
        return _left_out(label, "codex key paths cannot express its name")
    if server.id in lists.off:
        return Overrides()
    definition = server.definition
    kind = definition.get("type") or ("stdio" if "command" in definition else "http")
    if kind not in ("stdio", "http"):
        return _left_out(label, f"codex has no {kind!r} transport")
    needed = "command" if kind == "stdio" else "url"
    if not isinstance(definition.get(needed), str):
        return _left_out(label, f"it has no {needed}")
    fields, notices = _stdio(label, definition, env) if kind == "stdio" else _http(label, definition, env)
    fields |= {key: definition[key] for key in _OWN_KEYS if definition.get(key) is not None}
    fields |= _limits(server, lists, fields)
    rows = tuple(Override(label, f"mcp_servers.{server.id}.{key}", value) for key, value in fields.items())
    bad = next((why for row in rows if (why := unwritable(row))), "")
    return _left_out(label, bad) if bad else Overrides(rows, (*notices, *_no_word(label, definition)))


def _left_out(label: str, why: str, hint: str = "") -> Overrides:
    return Overrides((), (Notice("warning", "mcp-omitted", f"{label}: {why}; skipped", hint),))


def _keys(definition: object) -> frozenset[str]:
    return frozenset(definition) if isinstance(definition, Mapping) else frozenset()


def _set_keys(rows: tuple[Override, ...]) -> frozenset[str]:
    """The keys of a server that overrides set; a bare server id holds no dot."""
    return frozenset(row.key.split(".")[2] for row in rows)


def _other_kind(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether the merged server would have both a command and an address, which Codex refuses."""
    return {"command", "url"} <= ours | theirs


def _kind(keys: frozenset[str]) -> str:
    return "stdio" if "command" in keys else "http"


def _merged(server: str, left: list[str]) -> Notice:
    message = f"MCP server {server}: codex merges it with the one of that name in your config.toml, key by key"
    return Notice("warning", "mcp-merged", f"{message}; your {', '.join(left)} stay in effect" if left else message)


def _no_word(label: str, definition: Mapping[str, Any]) -> tuple[Notice, ...]:
    """One warning for the keys of a server that Codex has nothing for."""
    keys = [key for key, value in definition.items() if value is not None and key not in _TAKEN | _REMARKS]
    if not keys:
        return ()
    hint = "codex has tool_timeout_sec and startup_timeout_sec, in seconds" if "timeout" in keys else ""
    return (Notice("warning", "mcp-keys", f"{label}: codex has nothing for {', '.join(keys)}; skipped", hint),)


def _limits(server: Server, lists: ToolLists, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The server's own `available_tools` and the agent's limits, as the two lists Codex has."""
    made: dict[str, Any] = {}
    available = server.definition.get("available_tools", fields.get("enabled_tools"))
    only = lists.only.get(server.id)
    if isinstance(available, list) and only is not None:
        made["enabled_tools"] = [name for name in only if name in available]
    elif isinstance(available, list) or only is not None:
        made["enabled_tools"] = list(available if isinstance(available, list) else only or ())
    if server.id in lists.never:
        already = fields.get("disabled_tools")
        made["disabled_tools"] = [*(already if isinstance(already, list) else ()), *lists.never[server.id]]
    return made


def _stdio(label: str, definition: Mapping[str, Any], env: Mapping[str, str]) -> tuple[dict[str, Any], list[Notice]]:
    fields: dict[str, Any] = {"command": definition["command"]}
    if isinstance(definition.get("args"), (list, tuple)) and definition["args"]:
        fields["args"] = [_text(word) for word in definition["args"]]
    found = _environment(_texts(definition.get("env")), env)
    if found.literals:
        fields["env"] = dict(found.literals)
    if found.names:
        fields["env_vars"] = list(found.names)
    if isinstance(definition.get("cwd"), str) and definition["cwd"]:
        fields["cwd"] = definition["cwd"]
    notices = [_renamed(label, "env", key) for key in found.renamed]
    if found.literals:
        notices.append(_exposed(label, "env", tuple(found.literals)))
    if definition["command"].rpartition("/")[2] not in _SHELLS:
        notices += [_unexpanded(label, word) for word in _words(fields) if _first_reference(word)]
    return fields, notices


def _http(label: str, definition: Mapping[str, Any], env: Mapping[str, str]) -> tuple[dict[str, Any], list[Notice]]:
    fields: dict[str, Any] = {"url": definition["url"]}
    literal: dict[str, str] = {}
    references: dict[str, str] = {}
    notices: list[Notice] = []
    for name, raw in _texts(definition.get("headers")).items():
        value = _settled(raw, env)
        bearer = _BEARER.match(value.strip()) if name.lower() == "authorization" else None
        reference = _REFERENCE.match(value)
        if bearer:
            fields["bearer_token_env_var"] = bearer[1]
        elif reference:
            references[name] = reference[1]
        elif _first_reference(value):
            notices.append(_renamed(label, "headers", name))
        else:
            literal[name] = value
    if literal:
        fields["http_headers"] = literal
        notices.append(_exposed(label, "headers", tuple(literal)))
    if references:
        fields["env_http_headers"] = references
    if _first_reference(fields["url"]):
        notices.append(_unexpanded(label, fields["url"]))
    return fields, notices


def _environment(entries: Mapping[str, str], env: Mapping[str, str]) -> Environment:
    names: list[str] = []
    literals: dict[str, str] = {}
    renamed: list[str] = []
    for key, raw in entries.items():
        value = _settled(raw, env)
        reference = _REFERENCE.match(value)
        if reference and reference[1] == key:
            names.append(key)
        elif _first_reference(value):
            renamed.append(key)
        else:
            literals[key] = value
    return Environment(tuple(names), literals, tuple(renamed))


def _settled(value: str, env: Mapping[str, str]) -> str:
    """A whole `${NAME:-text}` as the reference where the variable is set, else as its text (spec/15 V24)."""
    found = _REFERENCE.match(value)
    if not found or found[2] is None:
        return value
    return "${" + found[1] + "}" if env.get(found[1]) else found[2]


def _texts(value: object) -> dict[str, str]:
    """Return a mapping's entries as text, as an environment holds them: `true` and `1` as written."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): _text(inner) for key, inner in value.items() if inner is not None}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of a server in which Codex expands nothing."""
    return fields["command"], *fields.get("args", ()), fields.get("cwd", "")


def _renamed(label: str, field: str, key: str) -> Notice:
    message = f"{label}: codex cannot take {field}.{key} from a variable in this form; skipped"
    return Notice(
        "warning",
        "mcp-reference",
        message,
        "only ${NAME} under the key NAME, or as a whole header value, can be passed",
    )


def _exposed(label: str, field: str, keys: tuple[str, ...]) -> Notice:
    message = f"{label}: the literal values of {field} ({', '.join(keys)}) show in the process's arguments"
    return Notice("warning", "mcp-exposed", message, "write ${NAME} and export NAME instead")


def _unexpanded(label: str, word: str) -> Notice:
    message = f"{label}: codex does not expand {_first_reference(word)} there; it is passed as written"
    return Notice("warning", "mcp-unexpanded", message)


def _first_reference(text: str) -> str:
    """The first `${NAME}` or `${NAME:-text}` in a text, "" for none."""
    # Nothing after the last brace can be one: a search there would run to the end for each `${NAME:-`.
    reference = _ANY_REFERENCE.search(text, 0, text.rfind("}") + 1)
    return reference[0] if reference else ""


# Portable name → the override that takes Codex's tool of that kind away (measured).
_SWITCHES = {"bash": ("features.shell_tool", False), "web_search": ("web_search", "disabled")}


class Limited(NamedTuple):
    """The limits by server, switches for Codex's own tools, and the words that Codex cannot keep.

    If there are any such words, `tools` is unsupported.
    """

    lists: ToolLists
    rows: tuple[Override, ...]
    lost: tuple[str, ...]


def limited_tools(composition: Composition) -> Limited:
    """Return an agent's limits for Codex.

    An allow list for its own tools cannot be kept; what it says about servers is.
    """
    ids = frozenset(server.id for server in composition.servers)
    allow, deny = composition.tools.allow, composition.tools.deny
    only: dict[str, tuple[str, ...]] = {}
    never: dict[str, tuple[str, ...]] = {}
    off: set[str] = set()
    rows: list[Override] = []
    lost = [] if allow is None else list(allow) or ["(no tools)"]
    for server, tool in (part for word in allow or () if (part := _mcp_parts(word, ids))):
        only |= {server: (*only.get(server, ()), tool)} if tool else {}
    for word in deny:
        parts = _mcp_parts(word, ids)
        switch = _SWITCHES.get(portable_name(word))
        if parts and parts[1]:
            never[parts[0]] = (*never.get(parts[0], ()), parts[1])
        elif parts:
            off.add(parts[0])
        elif is_every_server(word):
            off |= ids
        elif switch:
            rows.append(Override("tools", *switch))
        else:
            lost.append(word)
    off |= set(unnamed_servers(_spelled(allow, tuple(ids)), tuple(ids)))
    whole = {parts[0] for word in allow or () if (parts := _mcp_parts(word, ids)) and not parts[1]}
    kept = {
        server: names
        for server, names in only.items()
        if server not in whole and not any(map(is_every_server, allow or ()))
    }
    return Limited(ToolLists(kept, never, frozenset(off)), tuple(rows), tuple(lost))


def shut_out(composition: Composition) -> tuple[Notice, ...]:
    """One warning a selected server of which the allow list names no tool."""
    ids = tuple(server.id for server in composition.servers)
    return shut_notices(composition.agent, unnamed_servers(_spelled(composition.tools.allow, ids), ids))


def _spelled(allow: tuple[str, ...] | None, ids: tuple[str, ...]) -> tuple[str, ...] | None:
    return limits(Tools(allow), "codex", ids).allow


def _mcp_parts(word: str, ids: frozenset[str]) -> tuple[str, str] | None:
    """Split `mcp__server__tool` into server and tool; the tool is "" for a whole server.

    None for any other word, and for a server that is not selected.
    """
    if not word.startswith("mcp__"):
        return None
    rest = word[5:]
    for server in sorted(ids, key=len, reverse=True):
        if rest == server:
            return server, ""
        if rest.startswith(server + "__"):
            tool = rest[len(server) + 2 :]
            return server, "" if tool == "*" else tool
    return None
