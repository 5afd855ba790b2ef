"""The evidence pair on disk: both files or neither, 0600 in 0700 (spec/70)."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from typing import Any

from outfitter.edges.private_files import put_json
from outfitter.evidence.result import RESULT_PATH, TRACE_PATH

LIMIT = 256 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_STAGING = ".outfitter-"
# Between making its staging directory and taking the lock on it a live launcher needs microseconds.
_SETTLED_SECONDS = 1.0


def check_root(root: str) -> str:
    """ "" if a pair may be written to `root`, else why not: it must be absent or an empty directory, its parent writable."""
    parent = os.path.dirname(root) or "/"
    if os.path.islink(root) or (os.path.exists(root) and not os.path.isdir(root)):
        return "is not a directory"
    if os.path.isdir(root):
        return _unusable(root)
    if not os.path.isdir(parent):
        return "its parent directory does not exist"
    return _writable(parent)


def write_pair(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    """Write the pair (or, without a trace, the result alone) so that a reader sees all of it or nothing.

    A sibling temporary directory is filled, flushed and renamed over `root`. Where a rename cannot replace it (a mount
    point, a parent that is not ours to write in), the files are written inside: trace, flush, then the result by rename.
    Raises `OSError`.
    """
    try:
        _write_beside(root, trace, result)
    except OSError:
        if not os.path.isdir(root) or os.listdir(root):
            raise
        _write_inside(root, trace, result)


def read_document(path: str) -> tuple[Any, str]:
    """A JSON file of ours: (value, "") or (None, why not): `missing` or the reader's words."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, "missing"
    except OSError as error:
        return None, error.strerror or str(error)
    try:
        data = _bytes(descriptor)
        # A name given twice is read in two ways by different readers: no such file is ours.
        return json.loads(data, object_pairs_hook=_once), ""
    except OSError as error:
        return None, error.strerror or str(error)
    except RecursionError:
        return None, "nested too deeply"
    except UnicodeError:
        return None, "not UTF-8 text"
    except ValueError as error:
        return None, str(error)


def _bytes(descriptor: int) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        data = b""
        while len(data) <= LIMIT and (piece := os.read(descriptor, LIMIT + 1)):
            data += piece
    finally:
        os.close(descriptor)
    if len(data) > LIMIT:
        raise OSError(errno.EFBIG, "too large")
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name is given twice in one object")
    return value


def _writable(directory: str) -> str:
    return "" if os.access(directory, os.W_OK | os.X_OK) else f"cannot write in {directory}"


def _unusable(root: str) -> str:
    """Why an existing directory cannot take a pair and become private."""
    try:
        if os.listdir(root):
            return "is not empty: an attempt gets a fresh directory"
    except OSError as error:
        return error.strerror or str(error)
    if os.geteuid() not in (0, os.stat(root).st_uid):
        return "belongs to another user"
    return _writable(root)


def _write_beside(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    _tidy(root)
    staging = f"{root}{_STAGING}{os.urandom(6).hex()}.tmp"
    os.mkdir(staging, 0o700)
    held = os.open(staging, _DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        _fill(staging, trace, result)
        os.rename(staging, root)
        _flush(os.path.dirname(root))
    finally:
        os.close(held)
        _discard(staging)


def _tidy(root: str) -> None:
    """Take away what a launcher that was killed while it wrote a pair for the same root left beside it; a live one holds its own."""
    parent, name = os.path.split(root)
    try:
        beside = os.listdir(parent)
    except OSError:
        return
    for found in beside:
        if found.startswith(name + _STAGING) and found.endswith(".tmp"):
            staging = os.path.join(parent, found)
            try:
                held = os.open(staging, _DIRECTORY)
                try:
                    if time.time() - os.fstat(held).st_ctime > _SETTLED_SECONDS:
                        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        _discard(staging)
                finally:
                    os.close(held)
            except OSError:
                continue


def _fill(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    if trace is not None:
        _put(root, TRACE_PATH, trace)
    _put(root, RESULT_PATH, result)
    _flush(root)


def _write_inside(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    os.chmod(root, 0o700)
    hidden = RESULT_PATH + f".{os.urandom(6).hex()}.tmp"
    try:
        if trace is not None:
            _put(root, TRACE_PATH, trace)
            _flush(root)
        _put(root, hidden, result)
        os.rename(os.path.join(root, hidden), os.path.join(root, RESULT_PATH))
    except OSError:
        _discard(root, (hidden, TRACE_PATH, "trace", "result"))
        raise
    _flush(os.path.join(root, os.path.dirname(RESULT_PATH)))
    _flush(root)


def _put(root: str, relative: str, value: dict[str, Any]) -> None:
    path = os.path.join(root, relative)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    put_json(path, value)
    _flush(os.path.dirname(path))


def _flush(directory: str) -> None:
    descriptor = os.open(directory or "/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _discard(root: str, names: tuple[str, ...] = (TRACE_PATH, RESULT_PATH, "trace", "result", "")) -> None:
    """Remove what is left of a staging directory, or of a root that could not be filled: only names of our own."""
    for relative in names:
        path = os.path.join(root, relative)
        try:
            os.rmdir(path) if relative in ("trace", "result", "") else os.unlink(path)
        except OSError:
            continue
