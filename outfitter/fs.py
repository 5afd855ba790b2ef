"""The bytes of regular files: opened without following or waiting, hashed and copied in a stream, whatever grows meanwhile."""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import IO, Any

from blake3 import blake3

from outfitter.model.outcome import Identity


def make_directories(path: str, home: str) -> None:
    """Make `path` and its missing parents, 0700 each; what exists is left as it is.

    A `home` that does not exist is not made (an unmounted or mistyped one must not fill up): `FileNotFoundError` names it.
    """
    missing: list[str] = []
    while not os.path.isdir(path):
        if path == home:
            raise FileNotFoundError(errno.ENOENT, "the home directory does not exist", path)
        missing.append(path)
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    for part in reversed(missing):
        try:
            os.mkdir(part, 0o700)
        except FileExistsError:
            if not os.path.isdir(part):
                raise NotADirectoryError(errno.ENOTDIR, "not a directory", part) from None


def make_cache(path: str, cache: str) -> None:
    """Make `path`, which lies in the cache directory `cache`; no more is made above it than the one directory that holds it."""
    make_directories(path, os.path.dirname(os.path.dirname(cache)))


def write_whole(descriptor: int, data: bytes) -> None:
    """Every byte, however many writes that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


CHUNK = 1 << 20
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def identity_of(status: os.stat_result) -> Identity:
    """What a later look compares (spec/60)."""
    return Identity(status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def open_source(path: str) -> tuple[int, os.stat_result]:
    """A regular file opened for reading, its last component not followed; what became something else meanwhile raises."""
    try:
        descriptor = os.open(path, READ)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        descriptor = _open_deep(path)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return descriptor, status


def _open_deep(path: str) -> int:
    """Open a file whose path is longer than the system takes at once, one directory after the other, no link followed."""
    *above, name = path.split("/")[1:]
    handle = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
            os.close(handle)
            handle = inner
        return os.open(name, READ, dir_fd=handle)
    finally:
        os.close(handle)


def digest_of(descriptor: int, size: int) -> bytes:
    """BLAKE3 of the first `size` bytes: a file that grows for ever must not be read for ever."""
    hasher, offset = blake3(), 0
    while offset < size and (chunk := os.pread(descriptor, min(CHUNK, size - offset), offset)):
        hasher.update(chunk)
        offset += len(chunk)
    return hasher.digest()


def copy_bytes(source: int, out: int, size: int) -> bytes:
    """Copy the first `size` bytes, streamed; their BLAKE3."""
    hasher, offset = blake3(), 0
    while offset < size and (chunk := os.pread(source, min(CHUNK, size - offset), offset)):
        hasher.update(chunk)
        write_whole(out, chunk)
        offset += len(chunk)
    return hasher.digest()


def owner(path: str) -> int:
    """The user id that owns a path, links not followed; -1 where there is none."""
    try:
        return os.lstat(path).st_uid
    except OSError:
        return -1


def create(path: str) -> IO[bytes]:
    """A new file, open for writing. Raises `FileExistsError` where there is anything at the path."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def flush(file: IO[bytes]) -> None:
    """Everything written so far reaches the disk."""
    file.flush()
    os.fsync(file.fileno())


def put_json(path: str, value: dict[str, Any], sort_keys: bool = True) -> None:
    """A new file that holds one JSON document."""
    with create(path) as file:
        file.write(json.dumps(value, indent=1, sort_keys=sort_keys).encode() + b"\n")
        flush(file)


def replace_json(path: str, value: dict[str, Any]) -> None:
    """The document at a path, replaced at once; keys stay in the order given."""
    temporary = f"{path}.{os.urandom(6).hex()}.tmp"
    put_json(temporary, value, sort_keys=False)
    os.rename(temporary, path)


DOCUMENT_LIMIT = 256 << 20


def read_document(path: str) -> tuple[Any, str]:
    """A JSON file of ours: (value, "") or (None, why not): `missing` or the reader's words."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, "missing"
    except OSError as error:
        return None, error.strerror or str(error)
    try:
        data = _document_bytes(descriptor)
        # A name given twice is read in two ways by different readers: no such file is ours.
        return json.loads(data, object_pairs_hook=_no_repeats), ""
    except OSError as error:
        return None, error.strerror or str(error)
    except RecursionError:
        return None, "nested too deeply"
    except UnicodeError:
        return None, "not UTF-8 text"
    except ValueError as error:
        return None, str(error)


def _document_bytes(descriptor: int) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        data = b""
        while len(data) <= DOCUMENT_LIMIT and (piece := os.read(descriptor, DOCUMENT_LIMIT + 1)):
            data += piece
    finally:
        os.close(descriptor)
    if len(data) > DOCUMENT_LIMIT:
        raise OSError(errno.EFBIG, "too large")
    return data


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name is given twice in one object")
    return value
