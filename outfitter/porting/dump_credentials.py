"""Credentials kept out of a dump: whole files, literal values at any depth, and tokens in texts. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from outfitter.catalog.dump_text import RECORD, DumpFile, json_text
from outfitter.catalog.model_rules import REFERENCE
from outfitter.model.layers import DocumentForm
from outfitter.porting.secrets import HIDDEN, without_tokens
from outfitter.syntax.address import has_credentials, without_credentials
from outfitter.syntax.parse import parse

# Files in which programs keep nothing but logins and keys.
_NAMES = frozenset(
    (
        "auth.json", "mcp-auth.json", "models-store.json", ".credentials.json", "credentials.json", ".claude.json",
        ".netrc", "_netrc", ".git-credentials", ".npmrc", ".pypirc", ".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
    )
)  # fmt: skip
_ENDINGS = (".pem", ".p12", ".pfx", ".key", ".keystore", ".jks", ".env")
_FORMS: Mapping[str, DocumentForm] = {".json": "json", ".yml": "yaml", ".yaml": "yaml", ".md": "markdown"}
_SECRET_KEY = re.compile(
    r"(api|auth|access|secret|private|signing|encryption|client)[_-]?keys?$|(token|secret|password|passwd|passphrase|credentials?|authorization|cookie)$",
    re.IGNORECASE,
)
# A variable or a header may be called anything that ends in a word for a secret.
_SECRET_VARIABLE = re.compile(r"(^|[_-])(key|pat|pwd|pass|auth)$", re.IGNORECASE)
_VARIABLES = re.compile(r"(env|environment|headers)$", re.IGNORECASE)
_OPTION = re.compile(r"--?([A-Za-z][A-Za-z0-9_-]*)(?:=(.+))?", re.DOTALL)
# A shorter value could be replaced elsewhere in a text by mistake.
_SHORTEST = 6

Path = tuple[str | int, ...]


class Cleaned(NamedTuple):
    """A file without credentials, None where all of it is left out, and the places that held one."""

    file: DumpFile | None
    places: tuple[str, ...] = ()


def is_credential_file(path: str) -> bool:
    """Return whether a file is by its name one that holds logins or keys."""
    name = posixpath.basename(path)
    if name.endswith((".example", ".sample", ".template")):
        return False
    return name in _NAMES or name.endswith(_ENDINGS) or name.startswith(".env.")


def cleaned(file: DumpFile, content: bytes) -> Cleaned:
    """Return a dump's file without anything that looks like a credential; `content` is what it would hold.

    A file that is parsed (JSON, YAML, TOML, front matter) is looked into at every depth, every other one for tokens alone.
    """
    if file.path == RECORD:
        return Cleaned(file)
    if is_credential_file(file.path):
        return Cleaned(None, ("the whole file",))
    value = _parsed(file.path, content)
    found = tuple(literals(value))
    safe = _replaced(file.path, content, value, found) if found else content
    if safe is None:
        return Cleaned(None, tuple(_shown(path) for path, _ in found))
    hidden, count = without_tokens(safe)
    places = (*(_shown(path) for path, _ in found), *(("a token",) if count else ()))
    return Cleaned(file._replace(content=hidden, source="") if places else file, places)


def literals(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield (key path, text) of each literal that looks like a credential, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, str):
                yield from (((*path, str(key)), inner),) if _is_secret(path, str(key), inner) else ()
            else:
                yield from literals(inner, (*path, str(key)))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            before = value[place - 1] if place else None
            if isinstance(inner, str):
                yield from (((*path, place), inner),) if _is_secret_word(before, inner) else ()
            else:
                yield from literals(inner, (*path, place))


def _is_secret(path: Path, key: str, text: str) -> bool:
    named = _SECRET_KEY.search(key) or (
        path and isinstance(path[-1], str) and _VARIABLES.search(path[-1]) and _SECRET_VARIABLE.search(key)
    )
    return _is_literal(text) if named else has_credentials(text)


def _is_secret_word(before: Any, word: str) -> bool:
    """Return whether an item of a list is the value of an option such as `--token`."""
    own = _OPTION.fullmatch(word)
    if own and own[2] and _SECRET_KEY.search(own[1]):
        return _is_literal(own[2])
    option = _OPTION.fullmatch(before) if isinstance(before, str) else None
    if option and not option[2] and _SECRET_KEY.search(option[1]) and not word.startswith("-"):
        return _is_literal(word)
    return has_credentials(word)


def _is_literal(text: str) -> bool:
    """Return whether a text is a value of its own: not empty, no reference, no placeholder."""
    return bool(text.strip()) and not REFERENCE.search(text) and text != HIDDEN.decode()


def _parsed(path: str, content: bytes) -> Any:
    """Return what a file of a kind that we parse holds, None for any other."""
    ending = posixpath.splitext(path)[1].lower()
    if ending == ".toml":
        return _toml(content)
    if ending == ".json" and content.lstrip()[:1] == b"[":
        return _json(content)
    form = _FORMS.get(ending)
    return parse(content, form).value if form else None


def _toml(content: bytes) -> Any:
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8"))
    except ValueError:
        return None


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _replaced(path: str, content: bytes, value: Any, found: tuple[tuple[Path, str], ...]) -> bytes | None:
    """Return the content with references for the literals, None if that is not certain to be right."""
    if path.endswith(".json"):
        copied = json.loads(json.dumps(value))
        for place, text in found:
            _set(copied, place, _stand_in(place, text))
        return json_text(copied)
    for place, text in sorted(found, key=lambda one: -len(one[1])):
        raw = text.encode("utf-8", "surrogateescape")
        if len(raw) < _SHORTEST or raw not in content:
            return None
        content = content.replace(raw, _stand_in(place, text).encode("utf-8", "surrogateescape"))
    return None if tuple(literals(_parsed(path, content))) else content


def _stand_in(place: Path, text: str) -> str:
    """Return what takes a literal's place: a reference named after its key, or the address alone."""
    if has_credentials(text):
        return without_credentials(text)
    option = _OPTION.fullmatch(text)
    if option and option[2]:
        return text[: text.index("=") + 1] + _reference(option[1])
    return _reference(next((str(key) for key in reversed(place) if isinstance(key, str)), "CREDENTIAL"))


def _reference(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return "${" + re.sub(r"[^A-Za-z0-9_]", "_", words).upper().lstrip("0123456789") + "}"


def _set(value: Any, path: Path, text: str) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = text


def _shown(path: Path) -> str:
    return ".".join(map(str, path))
