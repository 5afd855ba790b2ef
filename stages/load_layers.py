"""Load layers.

Reads: every `.agents` tree that the settings name, in order of precedence.
Adds: `TreeReader`, over complete `Layers`.
Effects: reads only.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Literal

from attrs import evolve
from returns.result import Success

from outfitter.catalog.assembly import lacks, read_agent
from outfitter.catalog.tree_reader import TreeReader
from outfitter.host import Sources
from outfitter.model.layers import Document, DocumentForm, Entry, Layer, Layers
from outfitter.model.request import Problem, Request
from outfitter.model.settings import Settings, SettingsFiles
from outfitter.model.value import NamedTuple
from outfitter.railway import Effect, Outcome, attempt
from outfitter.settings.scopes import Root, roots

Reach = Literal["agent", "names", "all"]
# Directories of other tools that may be used where they are.
NATIVE = (".claude", ".codex", ".pi", ".cursor", ".github", ".opencode", ".gemini", ".copilot", ".config")
# What every launch lists of a tree, and how deep: names of resources, not what is inside them.
SHALLOW = (("", 1), ("agents", 2), ("skills", 2), ("knowledge", 1), ("deepwork", 3))


def load_layers(
    sources: Sources, files: SettingsFiles, settings: Settings, request: Request, reach: Reach = "agent"
) -> Effect[TreeReader]:
    """Return the layers that the request needs; `agent` reads only the closure of the request's agent.

    `names` reads what `list` shows, `all` everything that any agent reaches (validate, dump).
    Errors: `EffectFailed` if a directory cannot be read.
    """

    def load() -> Outcome[TreeReader]:
        return Success(_Loading(sources, files, settings, request, reach).loaded())

    return attempt("read the tree", load)


class _Loading(NamedTuple):
    """What one loading of layers is given."""

    sources: Sources
    files: SettingsFiles
    settings: Settings
    request: Request
    reach: Reach

    def loaded(self) -> TreeReader:
        """Read the layers; native ones only if settings name them, or if something is found in no other layer."""
        chosen, layers = self.settings.values.get("native_layers"), self.layers()
        early = bool(chosen) or (chosen is None and self.reach != "agent")
        reader = self.read(self.with_natives(layers, "") if early else layers)
        if self.reach == "agent" and not lacks(reader, self.settings, self.request.agent):
            return reader
        if chosen is None and not early:
            asked = str(self.request.agent or self.settings.values.get("default_agent") or "")
            reader = self.read(self.with_natives(layers, asked))
        return reader.note_beside(self.beside(reader))

    def layers(self) -> Layers:
        """The trees that the settings name, with the names that every launch lists."""
        fetch, project = _Fetch(self.sources), self.files.project_root
        found = roots(self.sources, self.request, self.files, self.settings)
        return Layers(
            project,
            tuple(_shallow(fetch, root) for root in found.roots),
            tuple(_prompt(self.sources, self.request, path) for path in self.request.append_prompts),
            Layer("repository", "project", project, project, {}, {}),
            notices=(*self.files.notices, *found.notices),
        )

    def with_natives(self, layers: Layers, asked: str) -> Layers:
        """Add tools' own directories: those that settings name, else all, which give way.

        If one of them has the agent `asked` for, no other agent's file is read.
        """
        if not self.has_native():
            return layers
        from outfitter.porting import in_place

        chosen = self.settings.values.get("native_layers")
        sources, environment = self.sources, self.request.ambient
        spots = in_place.spots(sources, environment, layers.project_root, self.files.boundary, chosen)
        natives = tuple(in_place.layer_of(sources, spot, asked, chosen is None) for spot in spots)
        if asked and not any(in_place.has_agent(native, asked) for native in natives):
            natives = tuple(in_place.layer_of(sources, spot, "", chosen is None) for spot in spots)
        return evolve(layers, trees=in_place.at_rank(layers.trees, natives))

    def has_native(self) -> bool:
        """Return whether another tool's directory exists; asked before its translation is imported."""
        names = {*self.names(self.files.project_root), *self.names(self.request.ambient.home)}
        return not names.isdisjoint(NATIVE)

    def names(self, path: str) -> tuple[str, ...]:
        """Return the names in a directory, () if it cannot be read."""
        try:
            return self.sources.names(path)
        except OSError:
            return ()

    def beside(self, reader: TreeReader) -> str:
        """Name other tools' files in a project whose own tree has no agents."""
        project = next((tree for tree in reader.trees if tree.kind == "project"), None)
        if project is not None and any(path.startswith("agents/") for path in project.entries):
            return ""
        from outfitter.porting.beside import beside, told

        return told(beside(self.sources, self.files.project_root, self.files.boundary))

    def read(self, layers: Layers) -> TreeReader:
        """Run the resolvers until they read nothing new, so that their last results rest on everything.

        The first run reads; the second one is the last, unless what was read led to other questions.
        """
        reader = TreeReader(layers, _Fetch(self.sources))
        while True:
            reader.restart()
            _resolve(reader, self.settings, self.request, self.reach)
            if not reader.fetched:
                return reader.complete()


def _resolve(reader: TreeReader, settings: Settings, request: Request, reach: Reach) -> None:
    if reach == "agent":
        read_agent(reader, settings, request.agent)
        return
    from outfitter.catalog.closure import read_all, read_names

    if reach == "names":
        read_names(reader)
        return
    from outfitter.catalog.lint import tree_findings

    read_all(reader, settings)
    for _ in tree_findings(reader):
        pass


def _shallow(fetch: _Fetch, root: Root) -> Layer:
    """A tree with the names that every launch lists."""
    entries: dict[str, Entry] = {}
    listed: dict[str, int] = {}
    layer = Layer(root.kind, root.label, root.path, root.boundary, entries, {}, listed)
    for path, depth in SHALLOW:
        if not path or path in entries:
            entries |= fetch.names(layer, path, depth)
            listed[path] = depth
    return layer


class _Fetch:
    """Reads trees through `Sources`, for a `TreeReader`."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def names(self, layer: Layer, path: str, depth: int) -> Mapping[str, Entry]:
        folder = f"{layer.root}/{path}" if path else layer.root
        below = self._sources.listing(folder, layer.boundary, depth)
        return (
            {f"{path}/{name}": entry._replace(path=f"{path}/{name}") for name, entry in below.items()}
            if path
            else below
        )

    def document(self, layer: Layer, path: str, form: DocumentForm) -> Document:
        # A native layer's files are where the tool keeps them.
        place = layer.entries[path].target if layer.is_native else f"{layer.root}/{path}"
        return self._sources.document(place, form) or _absent(place, "vanished while it was read")

    def digest(self, physical: str) -> str:
        return self._sources.digest(physical)

    def content(self, physical: str) -> bytes:
        return self._sources.read(physical) or b""

    def is_present(self, path: str) -> bool:
        """What cannot be looked at counts as present."""
        try:
            return posixpath.basename(path) in self._sources.names(posixpath.dirname(path))
        except OSError:
            return True


def _prompt(sources: Sources, request: Request, path: str) -> Document:
    place = path if path.startswith("/") else f"{request.ambient.cwd}/{path}"
    return sources.document(place, "text") or _absent(place, "--append-prompt: no such file")


def _absent(path: str, message: str) -> Document:
    return Document(path, None, {}, problems=(Problem(path, message),))
