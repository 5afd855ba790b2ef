"""Where cached checkouts of remote catalogs lie: `<cache>/sources/<name>/checkout` (spec/10, spec/20)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from blake3 import blake3

SLUG_LIMIT = 60


def source_name(repository: str, ref: str | None = None, path: str | None = None) -> str:
    """Return the folder name of an entry: a readable slug of host and path, and 12 hex of BLAKE3.

    `repository` is a git address, or `owner/repo` on GitHub. Entries of one repository with another ref or `path` have their own
    folder: what one of them lacks in a new commit must not take the last good checkout from another. Different credentials for
    one address, or spellings of one path, share a folder.
    """
    from outfitter.syntax.address import without_credentials

    address = without_credentials(uri_of(repository))
    bare = re.sub(r"^[a-z+]+://", "", address).removesuffix(".git").removesuffix("/")
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", bare).strip("-.")[:SLUG_LIMIT].strip("-.") or "source"
    inner = posixpath.normpath(path) if path else "."
    parts = (address, ref or "") if inner == "." else (address, ref or "", inner)
    return f"{slug}-{blake3(chr(0).join(parts).encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def uri_of(repository: str) -> str:
    """Return the git address; `owner/repo` means GitHub."""
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*/[\w.-]+", repository):
        return f"https://github.com/{repository}.git"
    return repository


def repository_of(entry: Mapping[str, Any]) -> str:
    """Return the repository that a `sources` or `remote_settings` entry names, "" for a local entry."""
    for key in ("uri", "github"):
        value = entry.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def checkout(cache_directory: str, entry: Mapping[str, Any]) -> str:
    """Return the directory of an entry's cached checkout."""
    ref, path = entry.get("ref"), entry.get("path")
    name = source_name(
        repository_of(entry), str(ref) if ref is not None else None, str(path) if path is not None else None
    )
    return posixpath.join(cache_directory, "sources", name, "checkout")


def inside(root: str, path: Any) -> str:
    """Return a path below a checkout, the checkout itself without a path, or "" if it leaves the checkout."""
    if path is None or path == "":
        return root
    joined = posixpath.normpath(posixpath.join(root, str(path)))
    return joined if joined == root or joined.startswith(root + "/") else ""
