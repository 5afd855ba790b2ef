"""What a provider of `models.json` may contain (006.9.7, spec/10).

Credentials are references only, headers are valid headers, and each host is known. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_AUTHORIZATION = re.compile(rf"(?:[A-Za-z][A-Za-z0-9_-]*[ \t]+)?(?:{REFERENCE.pattern})")
_CREDENTIAL_HEADERS = frozenset(
    ("authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "x-auth-token")
)
# The words of a key's name: `credential_process`, `keyCommand`, `exec-args`.
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_EXECUTABLE = frozenset(
    ("command", "commands", "cmd", "cmds", "exec", "execute", "executable", "helper", "script", "scripts", "process", "shell", "spawn")
)  # fmt: skip
# Mappings that are keyed by a model's id, which may be any word.
_ID_MAPS = ("models", "modelOverrides")
_CREDENTIALS = frozenset(
    (
        "apikey", "authorization", "token", "apitoken", "authtoken", "accesstoken", "bearertoken", "refreshtoken", "secret",
        "clientsecret", "password", "passwd", "accesskey", "secretkey", "secretaccesskey", "privatekey", "credential",
    )
)  # fmt: skip
_ADDRESS_KEY = re.compile(r"(url|uri|host|endpoint|proxy|server|address)$", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile("[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]")
_HOST = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/?#\\\s]*@)?(\[[0-9a-f:.]+\]|[^/?#\\\s:@\[\]$]+)(?::\d*)?(?:[/?#][^\\\s]*)?"
)
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|\[::1\]")

# (key path below the provider, what is wrong, what to do)
Fault = tuple[tuple[str, ...], str, str]


def faults(definition: Mapping[str, Any]) -> Iterator[Fault]:
    """Return everything to refuse in a provider or a model, at any depth, with no value in a message."""
    refused: set[tuple[str, ...]] = set()
    for path, value in _walk(definition):
        if any(path[:depth] in refused for depth in range(1, len(path))):
            continue
        if _is_header(path):
            why, hint = _about_header(path[-1], value)
        else:
            why, hint = _about_value(path, value)
        if why:
            refused.add(path)
            yield path, why, hint


def _walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every key path below a value with what is there; the places of a list are its keys."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        place = (*path, str(key))
        yield place, inner
        yield from _walk(inner, place)


def _is_header(path: tuple[str, ...]) -> bool:
    """Return whether a key path is a header's: directly below a mapping called `headers` or the like."""
    return len(path) > 1 and path[-2].lower().endswith("headers")


def _about_value(path: tuple[str, ...], value: Any) -> tuple[str, str]:
    """Return what is wrong with anything but a header, and what to do."""
    name = path[-1]
    is_id = len(path) > 1 and path[-2] in _ID_MAPS
    if not is_id and _EXECUTABLE & {word.lower() for word in _WORDS.findall(name)}:
        return "a program that yields a credential is not run", "apiKey: $NAME, and set the variable"
    if name.lower().endswith("headers") and value is not None and not isinstance(value, Mapping):
        return "must be a mapping of text", ""
    if not is_id and value is not None and re.sub(r"[^a-z]", "", name.lower()) in _CREDENTIALS:
        return _about_key(name, value)
    if isinstance(value, str) and value.lstrip().startswith("!"):
        return "a command that yields a value is not run", "write $NAME and set the variable"
    if isinstance(value, str) and "@" in value and _has_user_part(value):
        return "contains a user name or password", "write apiKey: $NAME and set the variable"
    return "", ""


def _has_user_part(url: str) -> bool:
    from outfitter.syntax.address import user_parts

    return any(user_parts(url))


def normal(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with references as Pi reads them: `$NAME` alone, `${NAME}` in other text."""
    return {name: _normal((name,), value) for name, value in definition.items()}


def _normal(path: tuple[str, ...], value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _normal((*path, str(name)), inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_normal((*path, str(number)), inner) for number, inner in enumerate(value)]
    return _spelled(value) if path[-1] == "apiKey" or _is_header(path) else value


def variables(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """The environment variables that a provider or model sends, at any depth: its credential's first."""
    texts = [value for _, value in _walk(definition) if isinstance(value, str)]
    key = definition.get("apiKey")
    texts = [key, *texts] if isinstance(key, str) else texts
    found = [match for text in texts if "$" in text for match in REFERENCE.finditer(text)]
    return tuple(dict.fromkeys(match[1] or match[2] for match in found))


def addresses(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """Every address that a provider or model names, at any depth, under any key."""
    named = (
        value
        for path, value in _walk(definition)
        if isinstance(value, str)
        and value.strip()
        and not _is_header(path)
        and ("://" in value or _ADDRESS_KEY.search(path[-1]))
    )
    return tuple(dict.fromkeys(named))


def decides(key: str, value: Any) -> bool:
    """Return whether a field of a provider or model decides which host is talked to, or what it gets."""
    inner = (path[-1] for path, _ in _walk(value))
    said = _ADDRESS_KEY.search(key) or key == "apiKey" or key.lower().endswith("headers")
    return bool(
        said or any(decides(name, None) for name in inner) or variables({key: value}) or addresses({key: value})
    )


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


def _about_key(name: str, key: Any) -> tuple[str, str]:
    """What is wrong with a credential; a mapping is looked into for its own keys."""
    if isinstance(key, (Mapping, list)) and name != "apiKey":
        return "", ""
    if isinstance(key, str) and key.lstrip().startswith("!"):
        return "a command that yields a key is not run", "write $NAME and set the variable"
    if isinstance(key, str) and REFERENCE.fullmatch(key.strip()):
        return "", ""
    if isinstance(key, str) and name != "apiKey" and _AUTHORIZATION.fullmatch(key.strip()):
        return "", ""
    return "must name an environment variable, not hold a literal value", "write $NAME and set the variable"


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
