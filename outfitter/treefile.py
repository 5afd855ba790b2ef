"""Packed trees as bytes: a header, the folders' columns, and a BLAKE3 checksum over all of it (spec/50 baseline, spec/60 cache). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from blake3 import blake3

from outfitter.model.outcome import Row, Tree
from outfitter.tree import DIGEST_SIZE, NO_DIGEST, STAT, Folder, Remark, Rows, pack

MAGIC = b"outfitter tree 1\n"
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


def load(data: bytes) -> tuple[Tree, Rows] | None:
    """The inverse of `dump`, or None where the bytes are not whole, not of this version, or damaged."""
    end = len(data) - DIGEST_SIZE
    if (
        end < len(MAGIC) + _HEAD.size
        or not data.startswith(MAGIC)
        or blake3(memoryview(data)[:end]).digest() != data[end:]
    ):
        return None
    digest, complete, count, taken, read, cached, others = _HEAD.unpack_from(data, len(MAGIC))
    offset = len(MAGIC) + _HEAD.size
    groups: tuple[dict[bytes, Folder], dict[bytes, Folder]] = ({}, {})
    for group, number in zip(groups, (count, others), strict=True):
        for _ in range(number):
            folder, offset = _load_folder(data, offset)
            group[folder.path] = folder
    return Tree(Rows(groups[0]), digest, complete, taken, read, cached), Rows(groups[1])


def _load_folder(data: bytes, offset: int) -> tuple[Folder, int]:
    path_size, names_size, count, remarks, newest, digest = _FOLDER.unpack_from(data, offset)
    a = offset + _FOLDER.size
    b = a + path_size
    c = b + names_size
    d = c + count
    e = d + count * STAT.size
    f = e + count * DIGEST_SIZE
    end = f
    if not remarks:
        own = digest if digest != NO_DIGEST else b""
        return Folder(data[a:b], data[b:c], data[c:d], data[d:e], data[e:f], (), newest, own), end
    noted: list[Remark] = []
    for _ in range(remarks):
        index, target, note = _REMARK.unpack_from(data, end)
        middle = end + _REMARK.size + target
        noted.append(Remark(index, data[end + _REMARK.size : middle], data[middle : middle + note].decode()))
        end = middle + note
    own = b"" if digest == NO_DIGEST else digest
    return Folder(data[a:b], data[b:c], data[c:d], data[d:e], data[e:f], tuple(noted), newest, own), end
