"""What a provider of `models.json` may contain (006.9.7, spec/10).

Credentials are references only, headers are valid headers, and each host is known. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_AUTHORIZATION = re.compile(rf"(?:[A-Za-z][A-Za-z0-9_-]*[ \t]+)?(?:{REFERENCE.pattern})")
_CREDENTIAL_HEADERS = frozenset(("authorization", "proxy-authorization", "x-api-key", "api-key"))
_EXECUTABLE = re.compile(r"(command|cmd|exec|executable|helper|script)$", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile("[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]")
_HOST = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/?#\\\s]*@)?(\[[0-9a-f:.]+\]|[^/?#\\\s:@\[\]$]+)(?::\d*)?(?:[/?#][^\\\s]*)?"
)
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|\[::1\]")

# (key path below the provider, what is wrong, what to do)
Fault = tuple[tuple[str, ...], str, str]


def faults(definition: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield everything that makes a provider or model invalid; no message shows a value."""
    for name in definition:
        if _EXECUTABLE.search(name):
            yield (name,), "a program that yields a credential is not run", "apiKey: $NAME, and set the variable"
    key = definition.get("apiKey")
    if key is not None and (not isinstance(key, str) or not REFERENCE.fullmatch(key.strip())):
        yield ("apiKey",), _about_key(key), "write $NAME and set the variable"
    url = definition.get("baseUrl")
    if isinstance(url, str) and "@" in url and _has_user_part(url):
        yield ("baseUrl",), "contains a user name or password", "write apiKey: $NAME and set the variable"
    headers = definition.get("headers")
    if headers is not None and not isinstance(headers, Mapping):
        yield ("headers",), "must be a mapping of text", ""
    for name, value in headers.items() if isinstance(headers, Mapping) else ():
        why, hint = _about_header(name, value)
        if why:
            yield ("headers", name), why, hint


def _has_user_part(url: str) -> bool:
    from outfitter.syntax.address import user_parts

    return any(user_parts(url))


def normal(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with references as Pi reads them: `$NAME` alone, `${NAME}` in other text."""
    made = dict(definition)
    if isinstance(made.get("apiKey"), str):
        made["apiKey"] = _spelled(made["apiKey"])
    if isinstance(made.get("headers"), Mapping):
        made["headers"] = {name: _spelled(value) for name, value in made["headers"].items()}
    return made


def variables(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """The environment variables that a provider or model sends: its credential's, then its headers'."""
    headers = definition.get("headers")
    values = (definition.get("apiKey"), *(headers.values() if isinstance(headers, Mapping) else ()))
    found = [match for value in values if isinstance(value, str) for match in REFERENCE.finditer(value)]
    return tuple(dict.fromkeys(match[1] or match[2] for match in found))


def credential(definition: Mapping[str, Any]) -> str:
    """The credential's variable, "" for none."""
    key = definition.get("apiKey")
    found = REFERENCE.fullmatch(key.strip()) if isinstance(key, str) else None
    return (found[1] or found[2]) if found else ""


def host(url: str) -> str:
    """Return an address's host in lower case without its port; the address if it has no plain host."""
    found = _HOST.fullmatch(url.strip().lower())
    return found[1] if found else url.strip()


def is_loopback(name: str) -> bool:
    """Whether a host is this machine."""
    return _LOOPBACK.fullmatch(name) is not None


def _spelled(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    whole = REFERENCE.fullmatch(value.strip())
    if whole:
        return f"${whole[1] or whole[2]}"
    return re.sub(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}", r"${\1}", value)


def _about_key(key: Any) -> str:
    if isinstance(key, str) and key.lstrip().startswith("!"):
        return "a command that yields a key is not run"
    return "must name an environment variable, not hold a literal value"


def _about_header(name: str, value: Any) -> tuple[str, str]:
    if not isinstance(value, str):
        return "must be text", ""
    if _BREAKS.search(name) or _BREAKS.search(value):
        return "contains a line break or control character", ""
    if not _HEADER_NAME.fullmatch(name):
        return "is not a header name", ""
    if value.lstrip().startswith("!"):
        return "a command that yields a value is not run", "write $NAME and set the variable"
    if name.lower() in _CREDENTIAL_HEADERS and not _AUTHORIZATION.fullmatch(value.strip()):
        return "must refer to an environment variable, not hold a literal credential", "write Bearer ${NAME}"
    return "", ""
