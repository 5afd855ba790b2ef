"""Packed trees as bytes: a header, the folders' columns, and a BLAKE3 checksum over all of it (spec/50 baseline, spec/60 cache). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct

from attrs import evolve
from blake3 import blake3

from outfitter.fingerprint.tree import DIGEST_SIZE, NO_DIGEST, STAT, Folder, Remark, Rows, pack
from outfitter.model.outcome import Row, Tree

MAGIC = b"outfitter tree 1\n"
CHECKSUM_SIZE = 32
_HEAD = Struct("<32s?3xIqQQQ")
_FOLDER = Struct("<IIIIq32s")
_REMARK = Struct("<III")


def dump(tree: Tree, durable: Sequence[Row] = ()) -> bytes:
    """A tree and further rows as one checksummed byte string; `load` gives them back."""
    groups = (pack(tree.rows).folders, pack(durable).folders)
    counts = (len(groups[0]), tree.taken_ns, tree.files_read, tree.files_cached, len(groups[1]))
    parts = [MAGIC, _HEAD.pack(tree.digest, tree.complete, *counts)]
    for group in groups:
        for folder in group.values():
            parts += _dump_folder(folder)
    body = b"".join(parts)
    return body + blake3(body).digest()


def _dump_folder(folder: Folder) -> list[bytes]:
    remarks = [_REMARK.pack(r.place, len(r.target), len(r.note)) + r.target + r.note.encode() for r in folder.remarks]
    path, names, tags, stats, digests = folder[:5]
    sizes = (len(path), len(names), len(tags), len(remarks), folder.newest, folder.digest or NO_DIGEST)
    return [_FOLDER.pack(*sizes), path, names, tags, stats, digests, *remarks]


def dump_later(tree: Tree, changed: Mapping[bytes, Folder | None], record: bytes) -> bytes:
    """What a tree is beside the dumped one whose checksum is `record`: its own header, and the folders that changed (None: gone)."""
    there = Rows({path: folder for path, folder in changed.items() if folder})
    gone = Rows({path: Folder(path, b"", b"", b"", b"") for path, folder in changed.items() if not folder})
    return record + dump(evolve(tree, rows=there), gone)


def load_later(data: bytes, tree: Tree, record: bytes) -> tuple[Tree, frozenset[bytes]]:
    """The tree that `dump_later` was given, made from the dumped one, and the paths that changed; raises as `load`, or where `record` is another."""
    if data[:CHECKSUM_SIZE] != record:
        raise ValueError("of another record")
    later, gone = load(data[CHECKSUM_SIZE:])
    there = pack(later.rows).folders
    folders = {**pack(tree.rows).folders, **there}
    for path in gone.folders:
        folders.pop(path, None)
    return evolve(later, rows=Rows(folders)), frozenset([*there, *gone.folders])


def load(data: bytes) -> tuple[Tree, Rows]:
    """The inverse of `dump`; raises `ValueError`, `IndexError` or `struct.error` where the bytes are not whole, not of this version, or damaged."""
    end = len(data) - CHECKSUM_SIZE
    if end < len(MAGIC) + _HEAD.size or not data.startswith(MAGIC):
        raise ValueError("no tree of this version")
    if blake3(memoryview(data)[:end]).digest() != data[end:]:
        raise ValueError("damaged")
    digest, complete, count, taken, read, cached, others = _HEAD.unpack_from(data, len(MAGIC))
    offset = len(MAGIC) + _HEAD.size
    folders, offset = _load_folders(data, offset, count)
    more, offset = _load_folders(data, offset, others)
    return Tree(Rows(folders), digest, complete, taken, read, cached), Rows(more)


def _load_folders(data: bytes, offset: int, number: int) -> tuple[dict[bytes, Folder], int]:
    """So many folders from an offset on, and the offset after them. There may be a hundred thousand: nothing is called for one."""
    folders: dict[bytes, Folder] = {}
    unpack, head, row, make = _FOLDER.unpack_from, _FOLDER.size, STAT.size, Folder._make
    for _ in range(number):
        path_size, names_size, count, remarks, newest, digest = unpack(data, offset)
        names = offset + head + path_size
        tags = names + names_size
        stats = tags + count
        digests = stats + count * row
        end = digests + count * DIGEST_SIZE
        path = data[offset + head : names]
        noted, offset = _load_remarks(data, end, remarks) if remarks else ((), end)
        own = b"" if digest == NO_DIGEST else digest
        columns = (data[names:tags], data[tags:stats], data[stats:digests], data[digests:end])
        folders[path] = make((path, *columns, noted, newest, own))
    return folders, offset


def _load_remarks(data: bytes, offset: int, number: int) -> tuple[tuple[Remark, ...], int]:
    noted: list[Remark] = []
    for _ in range(number):
        index, target, note = _REMARK.unpack_from(data, offset)
        middle = offset + _REMARK.size + target
        noted.append(Remark(index, data[offset + _REMARK.size : middle], data[middle : middle + note].decode()))
        offset = middle + note
    return tuple(noted), offset
