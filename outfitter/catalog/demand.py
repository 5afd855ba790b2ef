"""Looking into layers while noting what was not read yet, so that a launch reads an agent's closure and nothing else.

The resolvers of this package ask a `Demand` for names, documents and digests. What is missing is noted in `wants`; the
`load layers` stage reads it and asks again until nothing is wanted. `compose` asks for the last time, of complete layers.
"""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from outfitter.model.layers import Document, DocumentForm, Entry, Layer, Layers


class Wants(NamedTuple):
    """What to read next: documents and whole subtrees as (layer, path), digests by physical path."""

    documents: dict[tuple[int, str], DocumentForm]
    subtrees: set[tuple[int, str]]
    digests: set[str]

    def __bool__(self) -> bool:
        return bool(self.documents or self.subtrees or self.digests)


class Demand:
    """Layers with a memory of what was asked in vain. Layers are numbered in order of precedence; the repository comes last."""

    def __init__(self, layers: Layers) -> None:
        """`layers` as far as they have been read."""
        self.layers = layers
        self.trees: tuple[Layer, ...] = layers.trees
        self.repository = len(layers.trees)
        self.wants = Wants({}, set(), set())
        self._all: tuple[Layer, ...] = (*layers.trees, *((layers.repository,) if layers.repository else ()))
        self._children: dict[int, dict[str, list[str]]] = {}

    def layer(self, number: int) -> Layer:
        """A layer by its number."""
        return self._all[number]

    def entry(self, number: int, path: str) -> Entry | None:
        """What stands at a path, as far as it was listed."""
        return self._all[number].entries.get(path)

    def is_file(self, number: int, path: str) -> bool:
        """Whether a regular file stands at a path."""
        entry = self._all[number].entries.get(path)
        return entry is not None and entry.kind == "file"

    def is_folder(self, number: int, path: str) -> bool:
        """Whether a folder stands at a path."""
        entry = self._all[number].entries.get(path)
        return entry is not None and entry.kind == "directory"

    def children(self, number: int, path: str) -> list[str]:
        """The names in a folder, sorted; "" is the layer's root."""
        if number not in self._children:
            found: dict[str, list[str]] = {}
            for name in self._all[number].entries:
                parent, _, leaf = name.rpartition("/")
                found.setdefault(parent, []).append(leaf)
            for leaves in found.values():
                leaves.sort()
            self._children[number] = found
        return self._children[number].get(path, [])

    def below(self, number: int, path: str) -> list[Entry]:
        """Every entry below a folder, sorted by path; wants its subtree and gives () where that was not listed yet."""
        if not self.subtree(number, path):
            return []
        found: list[Entry] = []
        waiting = [path]
        for folder in waiting:
            for name in self.children(number, folder):
                entry = self._all[number].entries[f"{folder}/{name}" if folder else name]
                found.append(entry)
                if entry.kind == "directory":
                    waiting.append(entry.path)
        return sorted(found, key=lambda entry: entry.path)

    def subtree(self, number: int, path: str) -> bool:
        """Whether a folder is listed in whole; wants it otherwise. A missing folder is."""
        listed = self._all[number].listed
        here = path
        while here not in listed:
            if not here:
                self.wants.subtrees.add((number, path))
                return False
            here = posixpath.dirname(here)
        return True

    def document(self, number: int, path: str, form: DocumentForm) -> Document | None:
        """A file's parse; None where there is no regular file, or it is wanted first."""
        found = self._all[number].documents.get(path)
        if found is None and self.is_file(number, path):
            self.wants.documents[(number, path)] = form
        return found

    def digest(self, physical: str) -> str:
        """A file's BLAKE3 in hex, "" while it is wanted."""
        found = self.layers.digests.get(physical)
        if found is None:
            self.wants.digests.add(physical)
        return found or ""

    def place(self, number: int, path: str) -> str:
        """The absolute path of an entry as a person would write it."""
        return posixpath.join(self._all[number].root, path)
