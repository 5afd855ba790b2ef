"""Pi packages by identity, and native settings without those that a composition already brings (OFTR-006.7). Pure."""

import posixpath
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from outfitter.adapters.native_json import Json
from outfitter.model.request import resolved

_SCHEMES = ("https://", "http://", "ssh://", "git://", "git+https://", "git+ssh://", "file://")
_SCP = re.compile(r"^(?:[^@/\s]+@)([^:/\s]+):(?!//)(.+)$")


class Reconciled(NamedTuple):
    """Settings with the doubled packages taken out, and the sources that went."""

    settings: Json
    removed: tuple[str, ...]


def package_identity(source: str, base: str, home: str) -> str:
    """One name for all spellings of a package (006.7.2).

    npm: the name without its version; git: host and path without scheme, user, `.git` and ref; else the absolute path,
    a relative one standing in `base`.
    """
    text = source.strip()
    if text.startswith("npm:"):
        return "npm:" + _npm_name(text[4:].strip())
    if text.startswith("github:"):
        return _git_identity("github.com/" + text[7:])
    if text.startswith("git:") and not text.startswith("git://"):
        return _git_identity(text[4:].strip())
    if text.startswith("file://"):
        return "path:" + posixpath.normpath(_unquoted(text.removeprefix("file://")))
    if text.startswith(_SCHEMES) or _SCP.match(text):
        return _git_identity(text)
    return "path:" + resolved(text, home, base)


def reconcile(settings: Json, brought: Iterable[str], native: str, home: str) -> Reconciled | None:
    """The settings without every `packages` entry of an identity in `brought`; all else, and the order, kept (006.7.1, 3).

    None where `packages` is not what Pi writes, so that nothing is guessed (006.7.5).
    """
    packages = settings.get("packages", [])
    if not isinstance(packages, list):
        return None
    sources = [_source(entry) for entry in packages]
    if any(source is None for source in sources):
        return None
    taken = frozenset(brought)
    doubled = [package_identity(str(source), native, home) in taken for source in sources]
    removed = tuple(str(source) for source, gone in zip(sources, doubled, strict=True) if gone)
    if not removed:
        return Reconciled(settings, ())
    kept = [entry for entry, gone in zip(packages, doubled, strict=True) if not gone]
    return Reconciled({**settings, "packages": kept}, removed)


def distinct(sources: tuple[str, ...], base: str, home: str) -> tuple[str, ...]:
    """Each package once, where it was first named, in the last spelling: an agent's own word beats its parents'."""
    return tuple({package_identity(source, base, home): source for source in sources}.values())


def _source(entry: Any) -> str | None:
    """The source of an entry: a string, or an object with one."""
    value = entry.get("source") if isinstance(entry, dict) else entry
    return value if isinstance(value, str) and value.strip() else None


def _npm_name(spec: str) -> str:
    """`@scope/name@1.2` → `@scope/name`."""
    start = 1 if spec.startswith("@") else 0
    at = spec.find("@", start)
    return (spec if at < 0 else spec[:at]).strip()


def _git_identity(url: str) -> str:
    scp = _SCP.match(url)
    if scp:
        host, path = scp[1], scp[2]
    else:
        bare = url.split("://", 1)[1] if "://" in url else url
        authority, _, path = bare.partition("/")
        host = authority.rpartition("@")[2].partition(":")[0]
    path = path.partition("#")[0].partition("@")[0]
    path = _unquoted(path).strip("/").removesuffix(".git").strip("/")
    return f"git:{host.lower()}/{path}"


def _unquoted(text: str) -> str:
    """A URL's path with its percent escapes resolved."""
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)
