"""Digest and copy files that are mostly holes, at the cost of their data alone (spec/60).

Disk images, databases and core dumps may hold a terabyte by name and a page in fact.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from blake3 import blake3

# A file with more bytes of holes than this is digested by its data alone.
HOLES = 64 * 1024 * 1024
_BLOCK = 64 * 1024
_CHUNK = 1 << 20
_CONTEXT = "outfitter 2026-12-01 sparse file v1"


def is_sparse(status: os.stat_result) -> bool:
    """Return whether a regular file has so many holes that reading it whole is a waste."""
    return status.st_size - status.st_blocks * 512 > HOLES


def sparse_digest(descriptor: int, size: int) -> bytes:
    """Return a digest of the content of a file's first `size` bytes, wherever its holes are.

    It covers the size and each block of 64 KiB that is not all zeros, with its offset. It is never the BLAKE3 of the bytes.
    """
    hasher = blake3(size.to_bytes(8, "little"), derive_key_context=_CONTEXT)
    zeros = bytes(_BLOCK)
    done = 0
    for start, end in data_of(descriptor, size):
        # An extent may begin in the middle of a block that the one before has already covered.
        for offset in range(max(start - start % _BLOCK, done), end, _BLOCK):
            block = _read(descriptor, offset, min(_BLOCK, size - offset))
            if block != zeros[: len(block)]:
                hasher.update(offset.to_bytes(8, "little"))
                hasher.update(block)
            done = offset + _BLOCK
    return hasher.digest()


def copy_data(source: int, out: int, size: int) -> None:
    """Copy the data of the first `size` bytes to an empty file, which then has that size."""
    os.ftruncate(out, size)
    for start, end in data_of(source, size):
        offset = start
        while offset < end and (chunk := os.pread(source, min(_CHUNK, end - offset), offset)):
            view = memoryview(chunk)
            while view:
                written = os.pwrite(out, view, offset)
                view, offset = view[written:], offset + written


def ask_for_room(out: int, status: os.stat_result) -> None:
    """Raise `ENOSPC` if the data of a large file has no room where the open file `out` is.

    Small ones are not asked about: the write itself tells, and leaves little.
    """
    data = min(status.st_size, status.st_blocks * 512)
    if data >= _CHUNK:
        room = os.fstatvfs(out)
        if data > room.f_bavail * room.f_frsize:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def data_of(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges (start, end) of data below `size`; all of it if the file system cannot tell."""
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                yield end, size
            return
        if start >= size:
            return
        end = min(os.lseek(descriptor, start, os.SEEK_HOLE), size)
        yield start, end


def _read(descriptor: int, offset: int, length: int) -> bytes:
    parts = []
    while length and (part := os.pread(descriptor, length, offset)):
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return b"".join(parts)
