"""MCP servers of other tools as `mcp.json` holds them.

Their own keys kept, literal credentials replaced by references. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from outfitter.catalog.mcp_form import normal_form
from outfitter.model.value import NamedTuple
from outfitter.porting.reading import NativeFiles

_USER_INFO = re.compile(r"(://)[^/@\s]*@")
_OPTION = re.compile(r"--?(?:[\w-]*[-_])?(?:api[-_]?key|token|secret|password|access[-_]?key|auth)", re.IGNORECASE)
# What tokens of well-known services look like, wherever they stand.
_TOKEN = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|glpat-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|npm_[A-Za-z0-9]{30,})"
)
_QUERY = re.compile(r"([?&](?:api[-_]?key|token|key|secret|access_token)=)([^&#$]+)", re.IGNORECASE)
_INPUT = re.compile(r"\$\{input:([^}]+)\}")
_ENVIRONMENT = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")


class Definition(NamedTuple):
    """A server as a tree holds it, and the key paths whose literal values became references.

    With the variable of each.
    """

    values: Mapping[str, Any]
    replaced: tuple[tuple[str, str], ...] = ()


def block(files: NativeFiles, path: str, servers: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The usable servers of one file; the others, and every literal credential, are noted by key path."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, raw in servers.items():
        fault = normal_form(raw).fault
        if fault:
            files.note("skipped", path, f"MCP server {name!r} {fault}; it is left out")
            continue
        made = Definition(raw) if files.as_written else redacted(name, raw)
        for key, variable in made.replaced:
            said = f"{name}.{key} is a literal credential; ${{{variable}}} takes its place"
            files.note("secret", path, said, f"set {variable} in your environment")
        found[name] = made.values
    return found


def redacted(name: str, raw: Mapping[str, Any]) -> Definition:
    """A definition without literal credentials."""
    values: dict[str, Any] = json.loads(json.dumps(raw, default=str))
    replaced: list[tuple[str, str]] = []
    for key in normal_form(values).credentials:
        head, _, inner = key.partition(".")
        if head in ("env", "headers"):
            variable = _variable(inner if head == "env" else f"{name}_{inner}")
            values[head][inner] = f"${{{variable}}}"
            replaced.append((key, variable))
    _texts(name, values, (), replaced)
    return Definition(values, tuple(replaced))


def _texts(name: str, holder: Any, path: tuple[str, ...], replaced: list[tuple[str, str]]) -> None:
    """Credentials inside texts at any depth.

    User info of addresses, tokens by their form, options and query parts by their name.
    """
    pairs = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
    before = ""
    for key, value in pairs:
        inner = (*path, str(key))
        if isinstance(value, (dict, list)):
            _texts(name, value, inner, replaced)
        elif isinstance(value, str):
            text = _cleaned(name, inner, value, before, replaced)
            holder[key] = _ENVIRONMENT.sub(r"${\1}", _INPUT.sub(lambda found: f"${{{_variable(found[1])}}}", text))
        before = value if isinstance(value, str) and isinstance(holder, list) else ""


def _cleaned(name: str, path: tuple[str, ...], value: str, before: str, replaced: list[tuple[str, str]]) -> str:
    where = ".".join(path)

    def reference(word: str) -> str:
        variable = _variable(word)
        replaced.append((where, variable))
        return f"${{{variable}}}"

    if "$" in value or "{env:" in value:
        return value
    if _OPTION.fullmatch(before) and not value.startswith("-"):
        return reference(f"{name}_{before.strip('-')}")
    option, equals, given = value.partition("=")
    if equals and given and _OPTION.fullmatch(option):
        return f"{option}={reference(name + '_' + option.strip('-'))}"
    value = _USER_INFO.sub(lambda found: f"{found[1]}{reference(f'{name}_LOGIN')}@", value)
    value = _QUERY.sub(lambda found: found[1] + reference(f"{name}_{found[1].strip('?&=')}"), value)
    return _TOKEN.sub(lambda _: reference(f"{name}_TOKEN"), value)


def _variable(words: str) -> str:
    made = re.sub(r"[^A-Za-z0-9_]+", "_", words).upper().strip("_")
    return made if re.match(r"[A-Z_]", made) else f"MCP_{made}"


def mcp_text(servers: Mapping[str, Mapping[str, Any]]) -> bytes:
    """`mcp.json` as people write it: two blanks, the order of the source."""
    text = json.dumps({"mcpServers": servers}, indent=2, ensure_ascii=False)
    return (text + "\n").encode("utf-8", "surrogateescape")


def without_credentials(content: bytes) -> bytes:
    """A server file as it may be shown: literal credentials replaced, one spelling.

    Empty where it is no such file.
    """
    try:
        value = json.loads(content.decode("utf-8-sig"))
        shown = {name: redacted(name, raw).values for name, raw in value["mcpServers"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return b""
    return mcp_text(shown)
