"""Read layers on demand, so that a launch reads an agent's closure and nothing else.

The resolvers of this package ask a `TreeReader` for names, documents and digests. While layers are loaded, the reader fetches
what it does not have yet; once they are complete, it answers from what was read.
"""

from __future__ import annotations

import posixpath
from bisect import insort
from collections.abc import Callable, Hashable, Mapping
from typing import Protocol, TypeVar, cast

from attrs import evolve

from outfitter.model.layers import Document, DocumentForm, Entry, Layer, Layers

# Deep enough for every tree that people write; a listing this deep counts as the whole.
DEEP = 48

Found = TypeVar("Found")

# Marks the key of a document that was read as plain text: the same file may be needed with its front matter, too.
TEXT = "\0text"


class Fetch(Protocol):
    """Reads what a `TreeReader` does not have yet."""

    def names(self, layer: Layer, path: str, depth: int) -> Mapping[str, Entry]:
        """Return the entries below a directory of a layer, by path relative to the layer's root."""
        ...

    def document(self, layer: Layer, path: str, form: DocumentForm) -> Document:
        """Read and parse a file of a layer; `path` is relative to the layer's root."""
        ...

    def digest(self, physical: str) -> str:
        """Return a file's BLAKE3 in hex."""
        ...

    def content(self, physical: str) -> bytes:
        """Return a small file's bytes."""
        ...

    def is_present(self, path: str) -> bool:
        """Return whether an absolute path exists."""
        ...


class TreeReader:
    """Layers that are read on demand.

    Layers are numbered in order of precedence; the repository comes last. Caches what resolvers find (`cached`) until `restart`.
    """

    def __init__(self, layers: Layers, fetch: Fetch | None = None) -> None:
        """`layers` as far as they have been read; without `fetch` they are complete."""
        self._given = layers
        self._fetch = fetch
        self.repository = len(layers.trees)
        # Layer numbers as resources are looked up: native layers that are on by default give way to all others.
        self.order = tuple(sorted(range(len(layers.trees)), key=lambda number: layers.trees[number].yields))
        numbered = (*layers.trees, *((layers.repository,) if layers.repository else ()))
        self._documents = [dict(layer.documents) for layer in numbered]
        self._layers: list[Layer] = [
            evolve(layer, documents=documents) for layer, documents in zip(numbered, self._documents, strict=True)
        ]
        self._digests, self._contents = dict(layers.digests), dict(layers.contents)
        self._present = dict(layers.present)
        self._cache: dict[Hashable, object] = {}
        self._index: dict[int, dict[str, list[str]]] = {}
        self.fetched = 0

    @property
    def trees(self) -> tuple[Layer, ...]:
        """The trees, highest precedence first, as far as they have been read."""
        return tuple(self._layers[: self.repository])

    @property
    def layers(self) -> Layers:
        """Everything as far as it has been read."""
        return evolve(
            self._given,
            trees=self.trees,
            repository=self._layers[self.repository] if self._given.repository else None,
            digests=self._digests,
            contents=self._contents,
            present=self._present,
        )

    def roots(self) -> tuple[tuple[str, str], ...]:
        """Return kind and root of every tree, highest precedence first."""
        return tuple((tree.kind, tree.root) for tree in self.trees)

    def restart(self) -> None:
        """Forget what resolvers found; what was read stays."""
        self._cache.clear()
        self.fetched = 0

    def complete(self) -> TreeReader:
        """Read nothing from here on; what resolvers found stays."""
        self._fetch = None
        return self

    def note_beside(self, beside: str) -> TreeReader:
        """Set what `Layers.beside` says."""
        self._given = evolve(self._given, beside=beside)
        return self

    def cached(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """Return what `find` returns, called once for each key; the key's first part names what is cached."""
        if key not in self._cache:
            self._cache[key] = find()
        return cast(Found, self._cache[key])

    def layer(self, number: int) -> Layer:
        """A layer by its number."""
        return self._layers[number]

    def ranked(self) -> tuple[Layer, ...]:
        """The trees as resources are looked up."""
        return tuple(self._layers[number] for number in self.order)

    def gives(self, number: int, native: bool) -> bool:
        """Whether a layer's shared files reach an agent.

        Those of a layer that yields only one that is `native` itself.
        """
        return native or not self._layers[number].yields

    def entry(self, number: int, path: str) -> Entry | None:
        """Return the entry at a path, None if there is none in what was listed."""
        return self._layers[number].entries.get(path)

    def is_file(self, number: int, path: str) -> bool:
        """Return whether a regular file is at a path."""
        entry = self._layers[number].entries.get(path)
        return entry is not None and entry.kind == "file"

    def is_folder(self, number: int, path: str) -> bool:
        """Return whether a directory is at a path."""
        entry = self._layers[number].entries.get(path)
        return entry is not None and entry.kind == "directory"

    def children(self, number: int, path: str) -> list[str]:
        """The names in a folder, sorted; "" is the layer's root."""
        if number not in self._index:
            found: dict[str, list[str]] = {}
            for name in self._layers[number].entries:
                parent, _, leaf = name.rpartition("/")
                found.setdefault(parent, []).append(leaf)
            for leaves in found.values():
                leaves.sort()
            self._index[number] = found
        return self._index[number].get(path, [])

    def below(self, number: int, path: str) -> list[Entry]:
        """Return every entry below a directory, sorted by path; none if its names were not read."""
        if not self.listed(number, path, DEEP):
            return []
        found: list[Entry] = []
        waiting = [path]
        for folder in waiting:
            for name in self.children(number, folder):
                entry = self._layers[number].entries[f"{folder}/{name}" if folder else name]
                found.append(entry)
                if entry.kind == "directory":
                    waiting.append(entry.path)
        return sorted(found, key=lambda entry: entry.path)

    def listed(self, number: int, path: str, depth: int = 1) -> bool:
        """Return whether a directory is listed to a depth; it is listed now if reading is not complete."""
        listed = self._layers[number].listed
        here, levels = path, 0
        while True:
            known = listed.get(here, 0)
            if known >= DEEP or known - levels >= depth:
                return True
            if not here:
                break
            here, levels = posixpath.dirname(here), levels + 1
        if self._fetch is None:
            return False
        self._add_names(number, path, depth, self._fetch)
        return True

    def _add_names(self, number: int, path: str, depth: int, fetch: Fetch) -> None:
        layer = self._layers[number]
        below = fetch.names(layer, path, depth)
        self.fetched += 1
        if number in self._index:
            for name in below.keys() - layer.entries.keys():
                parent, _, leaf = name.rpartition("/")
                insort(self._index[number].setdefault(parent, []), leaf)
        entries, listed = {**layer.entries, **below}, {**layer.listed, path: depth}
        self._layers[number] = evolve(layer, entries=entries, listed=listed)

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
            entry = self._layers[number].entries.get(here)
            if entry is None or entry.kind != "directory":
                break
        return entry

    def document(self, number: int, path: str, form: DocumentForm) -> Document | None:
        """Return a file's parse, None if it is not a regular file. As text, any parse of it will do."""
        known = self._documents[number]
        key = path + TEXT if form == "text" else path
        found = known.get(path) or known.get(key)
        if found is None and self._fetch is not None and self.is_file(number, path):
            found = self._documents[number][key] = self._fetch.document(self._layers[number], path, form)
            self.fetched += 1
        return found

    def digest(self, physical: str) -> str:
        """Return a file's BLAKE3 in hex, "" if it was not read."""
        if physical not in self._digests and self._fetch is not None:
            self._digests[physical] = self._fetch.digest(physical)
            self.fetched += 1
        return self._digests.get(physical, "")

    def content(self, physical: str) -> bytes:
        """Return a small file's bytes, b"" if it was not read."""
        if physical not in self._contents and self._fetch is not None:
            self._contents[physical] = self._fetch.content(physical)
            self.fetched += 1
        return self._contents.get(physical, b"")

    def is_present(self, path: str) -> bool:
        """Return whether an absolute path exists; True if nobody looked."""
        if path not in self._present and self._fetch is not None:
            self._present[path] = self._fetch.is_present(path)
            self.fetched += 1
        return self._present.get(path, True)

    def place(self, number: int, path: str) -> str:
        """The absolute path of an entry as a person would write it.

        In a native layer the file that it was translated from.
        """
        if self._layers[number].is_native and path in self._layers[number].entries:
            return self._layers[number].entries[path].target
        return posixpath.join(self._layers[number].root, path)
