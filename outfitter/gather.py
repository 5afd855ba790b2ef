"""Packed rows of several directories as those of one. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from outfitter.model.outcome import Row
from outfitter.tree import Folder, Rows, join, pack


def moved(rows: Sequence[Row], prefix: bytes) -> dict[bytes, Folder]:
    """The folders of `rows` as they are below the directory `prefix` (raw, no slash at its end)."""
    places = ((join(prefix, path) if path else prefix, folder) for path, folder in pack(rows).folders.items())
    return {path: folder._replace(path=path) for path, folder in places}


def together(parts: Iterable[Mapping[bytes, Folder]], rows: Sequence[Row]) -> Rows:
    """Folders and single rows as one; a folder that some of the rows belong to is packed anew, and so is one that comes twice."""
    whole: dict[bytes, Folder] = {}
    more = list(rows)
    for part in parts:
        for path, folder in part.items():
            if path in whole:
                more += Rows({path: folder})
            else:
                whole[path] = folder
    for path in {posixpath.dirname(row.path) for row in more} & whole.keys():
        more += Rows({path: whole.pop(path)})
    return Rows({**pack(more).folders, **whole})
