"""Packed trees as bytes: a header, the columns of the folders, and a BLAKE3 checksum of all of it.

Pure. Used for the baseline (spec/50) and for the stat cache (spec/60).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct

from attrs import evolve
from blake3 import blake3

from outfitter.fingerprint.tree import DIGEST_SIZE, NO_DIGEST, STAT, ChildExtra, Folder, Rows, pack
from outfitter.model.outcome import Row, Tree

MAGIC = b"outfitter tree 1\n"
CHECKSUM_SIZE = 32
_HEAD = Struct("<32s?3xIqQQQ")
_FOLDER = Struct("<IIIIq32s")
_EXTRA = Struct("<III")


def dump(tree: Tree, durable: Sequence[Row] = ()) -> bytes:
    """Return a tree and further rows as one checksummed byte string; `load` reverses it."""
    groups = (pack(tree.rows).folders, pack(durable).folders)
    counts = (len(groups[0]), tree.taken_ns, tree.files_read, tree.files_cached, len(groups[1]))
    parts = [MAGIC, _HEAD.pack(tree.digest, tree.complete, *counts)]
    for group in groups:
        for folder in group.values():
            parts += _dump_folder(folder)
    body = b"".join(parts)
    return body + blake3(body).digest()


def _dump_folder(folder: Folder) -> list[bytes]:
    extras = [_EXTRA.pack(e.child, len(e.target), len(e.note)) + e.target + e.note.encode() for e in folder.extras]
    path, names, tags, stats, digests = folder[:5]
    sizes = (len(path), len(names), len(tags), len(extras), folder.newest, folder.digest or NO_DIGEST)
    return [_FOLDER.pack(*sizes), path, names, tags, stats, digests, *extras]


def dump_later(tree: Tree, changed: Mapping[bytes, Folder | None], record: bytes) -> bytes:
    """Return a tree as its difference from a dumped one with the checksum `record`.

    The result holds the tree's own header and the changed folders; a folder of None was removed.
    """
    present = Rows({path: folder for path, folder in changed.items() if folder})
    gone = Rows({path: Folder(path, b"", b"", b"", b"") for path, folder in changed.items() if not folder})
    return record + dump(evolve(tree, rows=present), gone)


def load_later(data: bytes, tree: Tree, record: bytes) -> tuple[Tree, frozenset[bytes]]:
    """Return the tree given to `dump_later` and the paths that changed; `tree` is the dumped one.

    Raises as `load` does, and `ValueError` if `record` is not the checksum of that dump.
    """
    if data[:CHECKSUM_SIZE] != record:
        raise ValueError("belongs to another record")
    later, gone = load(data[CHECKSUM_SIZE:])
    present = pack(later.rows).folders
    folders = {**pack(tree.rows).folders, **present}
    for path in gone.folders:
        folders.pop(path, None)
    return evolve(later, rows=Rows(folders)), frozenset([*present, *gone.folders])


def load(data: bytes) -> tuple[Tree, Rows]:
    """Return what `dump` was given.

    Raises `ValueError`, `IndexError` or `struct.error` if the bytes are damaged, truncated or of another version.
    """
    end = len(data) - CHECKSUM_SIZE
    if end < len(MAGIC) + _HEAD.size or not data.startswith(MAGIC):
        raise ValueError("not a tree of this version")
    if blake3(memoryview(data)[:end]).digest() != data[end:]:
        raise ValueError("damaged")
    digest, complete, count, taken, read, cached, others = _HEAD.unpack_from(data, len(MAGIC))
    offset = len(MAGIC) + _HEAD.size
    folders, offset = _load_folders(data, offset, count)
    more, offset = _load_folders(data, offset, others)
    return Tree(Rows(folders), digest, complete, taken, read, cached), Rows(more)


def _load_folders(data: bytes, offset: int, number: int) -> tuple[dict[bytes, Folder], int]:
    """Return `number` folders that start at an offset, and the offset after them."""
    # There may be a hundred thousand folders, so the loop calls no function of ours.
    folders: dict[bytes, Folder] = {}
    unpack, head, row, make = _FOLDER.unpack_from, _FOLDER.size, STAT.size, Folder._make
    for _ in range(number):
        path_size, names_size, count, extras, newest, digest = unpack(data, offset)
        names = offset + head + path_size
        tags = names + names_size
        stats = tags + count
        digests = stats + count * row
        end = digests + count * DIGEST_SIZE
        path = data[offset + head : names]
        noted, offset = _load_extras(data, end, extras) if extras else ((), end)
        own = b"" if digest == NO_DIGEST else digest
        columns = (data[names:tags], data[tags:stats], data[stats:digests], data[digests:end])
        folders[path] = make((path, *columns, noted, newest, own))
    return folders, offset


def _load_extras(data: bytes, offset: int, number: int) -> tuple[tuple[ChildExtra, ...], int]:
    noted: list[ChildExtra] = []
    for _ in range(number):
        index, target, note = _EXTRA.unpack_from(data, offset)
        middle = offset + _EXTRA.size + target
        noted.append(ChildExtra(index, data[offset + _EXTRA.size : middle], data[middle : middle + note].decode()))
        offset = middle + note
    return tuple(noted), offset
