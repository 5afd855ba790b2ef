"""Reads from loaded layers and records what is missing, so that a launch reads only what it needs.

The resolvers of this package ask a `TreeReader` for names, documents and digests. What was not read yet is recorded
in `missing`; the `load layers` stage reads it and asks again until nothing is missing. `compose` asks once more, with
complete layers.

The resolvers of this package ask a `TreeReader` for names, documents and digests. What is missing is noted in `wants`; the
`load layers` stage reads it and asks again until nothing is wanted. `compose` asks for the last time, of complete layers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from outfitter.model.layers import Document, DocumentForm, Entry, Layer, Layers
from outfitter.model.value import NamedTuple

# Deep enough for every tree that people write; a listing this deep counts as the whole.
DEEP = 48

Found = TypeVar("Found")

# Marks the key of a document that was read as plain text: the same file may be needed with its front matter, too.
TEXT = "\0text"


class Missing(NamedTuple):
    """What to read next.

    Documents as (layer, path) → form, listings as (layer, path) → depth, digests and contents by physical path, and
    absolute paths whose existence matters.
    """

    documents: dict[tuple[int, str], DocumentForm]
    listings: dict[tuple[int, str], int]
    digests: set[str]
    contents: set[str]
    present: set[str]

    def __bool__(self) -> bool:
        return any(self[:])


class TreeReader:
    """Reads from loaded layers and records what is still missing.

    Layers are numbered in order of precedence; the repository comes last.
    """

    def __init__(self, layers: Layers, before: TreeReader | None = None) -> None:
        """`layers` as far as they have been read; `before` is the reader over them when less had been."""
        self.layers = layers
        self.trees: tuple[Layer, ...] = layers.trees
        self.repository = len(layers.trees)
        # Layer numbers as resources are looked up: native layers that are on by default give way to all others.
        self.order = tuple(sorted(range(len(layers.trees)), key=lambda number: layers.trees[number].yields))
        self.missing = Missing({}, {}, set(), set(), set())
        self.numbered: tuple[Layer, ...] = (*layers.trees, *((layers.repository,) if layers.repository else ()))
        self._cache: dict[Hashable, object] = {}
        self.index = {n: layer.names for n, layer in enumerate(self.numbered) if layer.names is not None}
        if before is not None:
            known = before.index.items()
            self.index.update(
                {n: names for n, names in known if self.numbered[n].entries is before.numbered[n].entries}
            )

    def cached(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """Return what `find` returns, called once for each key; the key's first part names what is cached."""
        if key not in self._cache:
            self._cache[key] = find()
        return cast(Found, self._cache[key])

    def layer(self, number: int) -> Layer:
        """A layer by its number."""
        return self.numbered[number]

    def ranked(self) -> tuple[Layer, ...]:
        """The trees as resources are looked up."""
        return tuple(self.trees[number] for number in self.order)

    def gives(self, number: int, native: bool) -> bool:
        """Whether a layer's shared files reach an agent.

        Those of a layer that yields only one that is `native` itself.
        """
        return native or not self.trees[number].yields

    def entry(self, number: int, path: str) -> Entry | None:
        """Return the entry at a path, None if there is none in what was listed."""
        return self.numbered[number].entries.get(path)

    def is_file(self, number: int, path: str) -> bool:
        """Whether a regular file is at a path."""
        entry = self.numbered[number].entries.get(path)
        return entry is not None and entry.kind == "file"

    def is_folder(self, number: int, path: str) -> bool:
        """Whether a directory is at a path."""
        entry = self.numbered[number].entries.get(path)
        return entry is not None and entry.kind == "directory"

    def children(self, number: int, path: str) -> list[str]:
        """The names in a folder, sorted; "" is the layer's root."""
        if number not in self.index:
            found: dict[str, list[str]] = {}
            for name in self.numbered[number].entries:
                parent, _, leaf = name.rpartition("/")
                found.setdefault(parent, []).append(leaf)
            for leaves in found.values():
                leaves.sort()
            self.index[number] = found
        return self.index[number].get(path, [])

    def below(self, number: int, path: str) -> list[Entry]:
        """Return every entry below a directory, sorted by path; [] if it must be listed first."""
        if not self.listed(number, path, DEEP):
            return []
        found: list[Entry] = []
        waiting = [path]
        for folder in waiting:
            for name in self.children(number, folder):
                entry = self.numbered[number].entries[f"{folder}/{name}" if folder else name]
                found.append(entry)
                if entry.kind == "directory":
                    waiting.append(entry.path)
        return sorted(found, key=lambda entry: entry.path)

    def listed(self, number: int, path: str, depth: int = 1) -> bool:
        """Whether a directory is listed to a depth; records it as missing otherwise."""
        listed = self.numbered[number].listed
        here, levels = path, 0
        while True:
            known = listed.get(here, 0)
            if known >= DEEP or known - levels >= depth:
                return True
            if not here:
                break
            here, levels = posixpath.dirname(here), levels + 1
        self.missing.listings[(number, path)] = max(depth, self.missing.listings.get((number, path), 0))
        return False

    def find(self, number: int, path: str) -> Entry | None:
        """Return the entry at any path of a layer, listing level by level.

        If a parent is not a directory, that parent is returned.
        """
        here = ""
        entry: Entry | None = None
        for name in path.split("/"):
            if not self.listed(number, here):
                return None
            here = f"{here}/{name}" if here else name
            entry = self.numbered[number].entries.get(here)
            if entry is None or entry.kind != "directory":
                break
        return entry

    def document(self, number: int, path: str, form: DocumentForm) -> Document | None:
        """Return a file's parse; None if it is not a regular file, or must be read first.

        As text any parse of it will do.
        """
        known = self.numbered[number].documents
        key = path + TEXT if form == "text" else path
        found = known.get(path) or known.get(key)
        if found is None and self.is_file(number, path):
            self.missing.documents[(number, key)] = form
        return found

    def digest(self, physical: str) -> str:
        """Return a file's BLAKE3 in hex, "" if it must be read first."""
        found = self.layers.digests.get(physical)
        if found is None:
            self.missing.digests.add(physical)
        return found or ""

    def content(self, physical: str) -> bytes:
        """Return a small file's bytes, b"" if they must be read first."""
        found = self.layers.contents.get(physical)
        if found is None:
            self.missing.contents.add(physical)
        return found or b""

    def is_present(self, path: str) -> bool:
        """Whether something exists at an absolute path; True until that is known."""
        found = self.layers.present.get(path)
        if found is None:
            self.missing.present.add(path)
        return found is not False

    def place(self, number: int, path: str) -> str:
        """The absolute path of an entry as a person would write it.

        In a native layer the file that it was translated from.
        """
        if self.numbered[number].is_native and path in self.numbered[number].entries:
            return self.numbered[number].entries[path].target
        return posixpath.join(self.numbered[number].root, path)
