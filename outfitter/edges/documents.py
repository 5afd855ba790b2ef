"""Reading and parsing files: never hangs, never reads past a limit, and remembers by content what it has parsed (spec/10, spec/95 YML)."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable
from typing import Any

from blake3 import blake3

from outfitter import __version__
from outfitter.model.layers import Document, DocumentForm
from outfitter.model.request import Notice, Position, Problem
from outfitter.syntax.fault import Parsed, Remark

LIMIT = 10_000_000
# Part of every cache key: raise it whenever `outfitter.syntax` reads something differently.
FORMAT = 2
# A tree's JSON may hold literal credentials, which go nowhere but where they are needed (spec/80); text needs no parsing.
_NOT_REMEMBERED = ("json", "text")
# An address of a source may hold a token before its host.
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_SCHEMA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schemas", "settings.json")


def documents(cache_directory: str | None, remember: bool = True) -> Callable[[str, DocumentForm], Document | None]:
    """A reader of documents over a cache in `<cache_directory>/documents/v1` (None: no cache; without `remember` it is only read).

    The reader takes an absolute path and a form and never raises for what a file is or holds: an absent file is None,
    all else a `Document`, whose problems say why it could not be read. A dangling link is not absent (spec/95 YML-15).
    """
    cache = os.path.join(cache_directory, "documents", "v1") if cache_directory is not None else ""

    def document(path: str, form: DocumentForm) -> Document | None:
        try:
            content = read_regular(path)
        except FileNotFoundError:
            return _flawed(path, "is a link that leads nowhere") if os.path.islink(_raw(path)) else None
        except NotADirectoryError:
            return None
        except OSError as error:
            return _flawed(path, _reason(path, error))
        return _named(path, _remembered(cache, content, form, remember))

    return document


def read_regular(path: str) -> bytes:
    """The bytes of a regular file, links followed; `OSError` where it is anything else or holds `LIMIT` bytes or more. Never blocks."""
    descriptor = os.open(_raw(path), _OPEN)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, f"is {_kind(mode)}, not a regular file", path)
        parts: list[bytes] = []
        left = LIMIT
        while left and (part := os.read(descriptor, min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        if not left:
            raise OSError(0, f"is larger than {LIMIT // 1_000_000} MB", path)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _raw(path: str) -> bytes:
    """A path's bytes; one that a UTF-8 file named is UTF-8 whatever the locale says (spec/95 PYE-01)."""
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape")


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _reason(path: str, error: OSError) -> str:
    if error.errno == 0:
        return str(error.strerror)
    try:
        mode = os.stat(_raw(path)).st_mode
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
    """Remember a parse, privately and atomically; a cache that cannot be written is no one's trouble."""
    packed = {
        "value": parsed.value,
        "positions": [[list(path), at.line, at.column] for path, at in parsed.positions.items()],
        "start": parsed.start,
        "remarks": [list(remark) for remark in parsed.remarks],
    }
    directory = os.path.dirname(place)
    temporary = f"{directory}/.{os.urandom(8).hex()}.tmp"
    try:
        payload = json.dumps(packed, separators=(",", ":")).encode()
        _make_private(directory)
        _write(temporary, (blake3(payload).hexdigest().encode(), b"\n", payload))
        os.rename(temporary, place)
    except (OSError, ValueError):
        _unlink(temporary)


def _make_private(directory: str) -> None:
    """The cache's own directories, 0700, below a home that is there: a missing home is not made (spec/95 PYE-03)."""
    if os.path.isdir(directory):
        return
    cache = os.path.dirname(os.path.dirname(directory))
    os.stat(os.path.dirname(os.path.dirname(cache)))
    for place in (os.path.dirname(cache), cache, os.path.dirname(directory), directory):
        try:
            os.mkdir(place, 0o700)
        except FileExistsError:
            continue


def _write(path: str, parts: Iterable[bytes]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.writelines(parts)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
