"""The bytes of regular files: opened without following or waiting, hashed and copied in a stream, whatever grows meanwhile."""

from __future__ import annotations

import errno
import os
import stat

from blake3 import blake3

from outfitter.edges.directories import write_whole
from outfitter.model.outcome import Identity

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
