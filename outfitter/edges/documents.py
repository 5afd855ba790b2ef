"""Reading and parsing files: never hangs, never reads past a limit, and remembers by content what it has parsed (spec/10, spec/95 YML)."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from typing import Any

from blake3 import blake3

from outfitter import __version__
from outfitter.fs import make_cache, read_regular, write_atomic
from outfitter.model.layers import Document, DocumentForm
from outfitter.model.outcome import path_bytes
from outfitter.model.request import Notice, Position, Problem
from outfitter.syntax.fault import Parsed, Remark

# Part of every cache key: raise it whenever `outfitter.syntax` reads something differently.
FORMAT = 3
# A tree's JSON may hold literal credentials, which go nowhere but where they are needed (spec/80); text needs no parsing.
_NOT_REMEMBERED = ("json", "text")
_SCHEMA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schemas", "settings.json")


def documents(cache_directory: str | None, remember: bool = True) -> Callable[[str, DocumentForm], Document | None]:
    """A reader of documents over a cache in `<cache_directory>/documents/v1` (None: no cache; without `remember` it is only read).

    The reader takes an absolute path and a form and never raises for what a file is or holds: an absent file is None,
    all else a `Document`, whose problems say why it could not be read. A dangling link is not absent (spec/95 YML-15).
    """
    cache = os.path.join(cache_directory, "documents", "v1") if cache_directory is not None else ""

    def document(path: str, form: DocumentForm) -> Document | None:
        try:
            content = read_regular(path_bytes(path))
        except FileNotFoundError:
            return _flawed(path, "is a dangling symlink") if os.path.islink(path_bytes(path)) else None
        except NotADirectoryError:
            return None
        except OSError as error:
            return _flawed(path, _reason(path, error))
        return _named(path, _remembered(cache, content, form, remember))

    return document


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _reason(path: str, error: OSError) -> str:
    if error.errno == errno.EFBIG:
        return f"is {error.strerror}"
    try:
        mode = os.stat(path_bytes(path)).st_mode
    except OSError:
        mode = stat.S_IFREG
    return f"cannot be read: {error.strerror}" if stat.S_ISREG(mode) else f"is {_kind(mode)}, not a regular file"


def _flawed(path: str, message: str) -> Document:
    return Document(path, None, {}, problems=(Problem(path, message),))


def _named(path: str, parsed: Parsed) -> Document:
    """A parse as the document of one file: problems and notices carry its path."""
    return Document(
        path,
        parsed.value,
        parsed.positions,
        parsed.body,
        tuple(Problem(path, flaw.message, flaw.key, flaw.at, flaw.hint) for flaw in parsed.flaws),
        tuple(Notice("warning", it.code, f"{path}:{it.line}: {it.message}", it.hint) for it in parsed.remarks),
        parsed.text,
    )


def _remembered(cache: str, content: bytes, form: DocumentForm, remember: bool) -> Parsed:
    """The parse of these bytes: from the cache where it holds one beyond doubt, else fresh and then remembered if it has no flaw."""
    schema = _schema() if form == "settings" else b""
    keep = cache and form not in _NOT_REMEMBERED and not (form == "settings" and _holds_credentials(content))
    place = os.path.join(cache, _key(content, form, schema)) if keep else ""
    known = _load(place, content, form) if place else None
    if known is not None:
        return known
    from outfitter.syntax.parse import parse

    parsed = parse(content, form, schema)
    if place and remember and not parsed.flaws:
        _save(place, parsed)
    return parsed


def _holds_credentials(content: bytes) -> bool:
    if b"://" not in content:
        return False
    from outfitter.syntax.address import has_credentials

    return has_credentials(content.decode("utf-8", "replace"))


def _schema() -> bytes:
    with open(_SCHEMA, "rb") as file:
        return file.read()


def _key(content: bytes, form: DocumentForm, schema: bytes) -> str:
    """Everything a parse depends on: the bytes, the form, the readers' version, and for settings the schema they passed."""
    digest = blake3(f"{FORMAT}\0{__version__}\0{form}\0".encode())
    return digest.update(blake3(schema).digest()).update(content).hexdigest()


def _load(place: str, content: bytes, form: DocumentForm) -> Parsed | None:
    """A remembered parse; None at any doubt: unreadable, cut, altered, of another shape."""
    try:
        checksum, _, payload = read_regular(place).partition(b"\n")
        if blake3(payload).hexdigest().encode() != checksum:
            return None
        text = content.decode("utf-8").removeprefix("\ufeff") if form == "markdown" else ""
        return _unpacked(json.loads(payload), text)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _unpacked(packed: dict[str, Any], text: str) -> Parsed:
    places = {tuple(path): Position(line, column) for path, line, column in packed["positions"]}
    remarks = tuple(Remark(*remark) for remark in packed["remarks"])
    return Parsed(packed["value"], places, text, packed["start"], (), remarks)


def _save(place: str, parsed: Parsed) -> None:
    """Remember a parse, privately and atomically; a write failure is ignored."""
    packed = {
        "value": parsed.value,
        "positions": [[list(path), at.line, at.column] for path, at in parsed.positions.items()],
        "start": parsed.start,
        "remarks": [list(remark) for remark in parsed.remarks],
    }
    directory = os.path.dirname(place)
    try:
        payload = json.dumps(packed, separators=(",", ":")).encode()
        make_cache(directory, os.path.dirname(os.path.dirname(directory)))
        write_atomic(place, (blake3(payload).hexdigest().encode(), b"\n", payload))
    except (OSError, ValueError):
        return
