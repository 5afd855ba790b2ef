"""A second opinion on every result: a plain recursive walk without code of the product (spec/60)."""

from __future__ import annotations

import os
import stat

from blake3 import blake3

CONTEXT = "outfitter 2026-11-30 tree v1"
KINDS = {stat.S_IFIFO: b"fifo", stat.S_IFSOCK: b"socket", stat.S_IFBLK: b"block", stat.S_IFCHR: b"char"}


def entry(path: bytes) -> bytes:
    """Return the tag byte and the digest of one entry."""
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFDIR:
        return b"d" + digest(path)
    if kind == stat.S_IFLNK:
        return b"l" + blake3(os.readlink(path)).digest()
    if kind == stat.S_IFREG:
        hasher = blake3()
        with open(path, "rb") as file:
            while chunk := file.read(1 << 22):
                hasher.update(chunk)
        return (b"x" if status.st_mode & 0o100 else b"f") + hasher.digest()
    return b"o" + blake3(KINDS[kind]).digest()


def digest(path: bytes) -> bytes:
    """Return a directory's digest."""
    parts = []
    for name in sorted(os.listdir(path)):
        tagged = entry(os.path.join(path, name))
        parts.append(tagged[:1] + name + b"\0" + tagged[1:])
    return blake3(b"".join(parts), derive_key_context=CONTEXT).digest()


def fingerprint(root: str) -> str:
    """Return the fingerprint of a directory in hex."""
    return digest(os.fsencode(root)).hex()


def contents(root: str) -> dict[bytes, bytes]:
    """Return relative path → digest of every regular file."""
    digests: dict[bytes, bytes] = {}
    top = os.fsencode(root)
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                digests[os.path.relpath(path, top)] = entry(path)[1:]
    return digests
