"""The conflict store: `conflicts/<run id>/` holds what could not become durable (spec/50).

Each content is a file named by 12 hex digits of its path and bytes, so that the same one is stored once, with a small JSON index
of the same name. Everything is 0600 in 0700. Both files are flushed: the run directory they come from is removed.
"""

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from blake3 import blake3

from outfitter.atomic import AtomicFile, hold, open_directory
from outfitter.fs import NEW, copy_bytes, give_to_owner_of, open_regular, temporary_name, write_atomic
from outfitter.host import Unsaved

_CONTENT = re.compile(r"[0-9a-f]{12}")


class Conflict(NamedTuple):
    """A stored content.

    `place` is its absolute file, `size` in bytes, `kept_ns` when it was stored (wall clock). `member` as in `Unsaved`.
    """

    id: str
    run_id: str
    place: str
    path: str
    durable: str
    reason: str
    credential: bool
    size: int
    kept_ns: int
    member: str = ""


def store(conflicts: str, source: str, unsaved: Unsaved, flush: Callable[[int], None] = os.fsync) -> str:
    """Copy `source` into the store `conflicts`; return the absolute path of the copy."""
    directory = open_directory(os.path.join(conflicts, unsaved.run_id), flush)
    try:
        AtomicFile.tidy(os.path.join(conflicts, unsaved.run_id))
        name = _store_content(directory, source, unsaved, flush)
        _store_index(directory, name, unsaved, flush)
        flush(directory)
    finally:
        os.close(directory)
    return os.path.join(conflicts, unsaved.run_id, name)


def _store_content(directory: int, source: str, unsaved: Unsaved, flush: Callable[[int], None]) -> str:
    descriptor, status = open_regular(source)
    temporary = temporary_name()
    try:
        out = os.open(temporary, NEW, 0o600, dir_fd=directory)
        try:
            hold(out)
            os.fchmod(out, 0o600)
            give_to_owner_of(directory, out)
            digest = copy_bytes(descriptor, out, status.st_size)
            flush(out)
        finally:
            os.close(out)
        name = blake3(os.fsencode(unsaved.path) + b"\0" + digest).hexdigest()[:12]
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    finally:
        os.close(descriptor)
    return name


def _store_index(directory: int, name: str, unsaved: Unsaved, flush: Callable[[int], None]) -> None:
    if _exists(directory, name + ".json"):
        return
    fields = {**unsaved._asdict(), "kept_ns": time.time_ns()}
    write_atomic(
        name + ".json", json.dumps(fields).encode(), sync=flush, directory=directory, temporary=temporary_name()
    )


def _exists(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def stored_conflicts(conflicts: str) -> tuple[Conflict, ...]:
    """Return everything stored, oldest first; without a valid index, what can be told."""
    entries = [
        _entry(conflicts, run, name)
        for run in _names(conflicts)
        for name in _names(os.path.join(conflicts, run))
        if _CONTENT.fullmatch(name)
    ]
    return tuple(sorted((entry for entry in entries if entry), key=lambda entry: (entry.kept_ns, entry.id)))


def totals(conflicts: str) -> tuple[int, int]:
    """Return how many contents are stored, and their bytes."""
    count = size = 0
    for run in _names(conflicts):
        for name in _names(os.path.join(conflicts, run)):
            if _CONTENT.fullmatch(name):
                count += 1
                with suppress(OSError):
                    size += os.lstat(os.path.join(conflicts, run, name)).st_size
    return count, size


def drop(entry: Conflict) -> None:
    """Remove a stored content and its index, and the directory of its run once that is empty."""
    os.unlink(entry.place)
    with suppress(OSError):
        os.unlink(entry.place + ".json")
    with suppress(OSError):
        os.rmdir(os.path.dirname(entry.place))


def _entry(conflicts: str, run: str, name: str) -> Conflict | None:
    place = os.path.join(conflicts, run, name)
    try:
        status = os.lstat(place)
    except OSError:
        return None
    index = _index(place + ".json")
    durable = _text_of(index, "durable", "")
    return Conflict(
        id=name,
        run_id=run,
        place=place,
        path=_text_of(index, "path", "?"),
        durable=durable if os.path.isabs(durable) else "",
        reason=_text_of(index, "reason", "its index is lost"),
        credential=index.get("credential") is not False,
        size=status.st_size,
        kept_ns=index["kept_ns"] if isinstance(index.get("kept_ns"), int) else status.st_mtime_ns,
        member=_text_of(index, "member", ""),
    )


def _text_of(index: dict[str, Any], name: str, otherwise: str) -> str:
    value = index.get(name)
    return value if isinstance(value, str) else otherwise


def _index(path: str) -> dict[str, Any]:
    try:
        descriptor, status = open_regular(path)
        try:
            value = json.loads(os.pread(descriptor, min(status.st_size, 1 << 20), 0))
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
