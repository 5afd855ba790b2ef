"""Load layers.

Reads: the four settings files, cached remote settings, and every `.agents` tree in order of precedence.
Adds: `Layers`.
Effects: reads only.
"""

from __future__ import annotations

import posixpath
from typing import Literal

from attrs import evolve
from returns.result import Success

from outfitter.catalog.assembly import lacks, needs
from outfitter.catalog.tree_reader import TEXT, Missing, TreeReader
from outfitter.host import Sources
from outfitter.model.layers import Document, DocumentForm, Layer, Layers
from outfitter.model.request import Problem, Request
from outfitter.model.settings import Settings
from outfitter.railway import Effect, Outcome, attempt, fold
from outfitter.settings.scopes import Read, Root, local_scopes, roots, with_remotes
from stages.gather_facts import cache_directory
from stages.merge_settings import merge_settings

Reach = Literal["agent", "names", "all"]
# Directories of other tools that may be used where they are.
NATIVE = (".claude", ".codex", ".pi", ".cursor", ".github", ".opencode", ".gemini", ".copilot", ".config")
# What every launch lists of a tree, and how deep: names of resources, not what is inside them.
SHALLOW = (("", 1), ("agents", 2), ("skills", 2), ("knowledge", 1), ("deepwork", 3))


def load_layers(sources: Sources, request: Request, reach: Reach = "agent") -> Effect[Layers]:
    """Every layer the request stands on; `agent` reads only what that agent's closure needs.

    `names` reads what `list` shows, `all` everything that any agent reaches (validate, dump). What is wrong with settings is
    in `problems`; there are no trees then.
    """
    return attempt("read the tree", lambda: _loaded(sources, request, reach))


def load_scopes(sources: Sources, request: Request) -> Effect[Layers]:
    """The settings files alone, no trees: for commands that ask nothing else. Remote settings not fetched yet are left out."""
    return attempt("read the settings", lambda: Success(_scopes(sources, request, absent_is_fine=True)))


def _loaded(sources: Sources, request: Request, reach: Reach) -> Outcome[Layers]:
    found = _scopes(sources, request)
    prompts = tuple(_prompt(sources, request, path) for path in request.append_prompts)
    found = evolve(found, append_prompts=prompts)
    settings = fold(merge_settings(found), _settings, lambda _: None)
    return Success(_trees(sources, request, found, settings, reach) if settings else found)


def _scopes(sources: Sources, request: Request, absent_is_fine: bool = False) -> Layers:
    read = local_scopes(sources, request)
    local = fold(merge_settings(_as_layers(read)), _settings, lambda _: None)
    if local and local.values.get("remote_settings"):
        directory = cache_directory(local, request.ambient)
        read = with_remotes(sources, read, local, directory, absent_is_fine)
    return _as_layers(read)


def _as_layers(read: Read) -> Layers:
    return Layers(read.project_root, read.scopes, (), problems=read.problems, notices=read.notices)


def _settings(settings: Settings) -> Settings | None:
    return settings


def _trees(sources: Sources, request: Request, found: Layers, settings: Settings, reach: Reach) -> Layers:
    """The trees that the merged settings name, read until nothing more is wanted."""
    places = roots(sources, request, found.project_root, settings, cache_directory(settings, request.ambient))
    repository = Root("repository", "project", found.project_root, found.project_root)
    layers = evolve(
        found,
        trees=tuple(_layer(sources, root, SHALLOW) for root in places.roots),
        repository=_layer(sources, repository, ()),
        notices=(*found.notices, *places.notices),
    )
    chosen = settings.values.get("native_layers")
    early = bool(chosen) or (chosen is None and reach != "agent")
    whole = _complete(
        sources, request, _with_natives(sources, request, layers, settings, "") if early else layers, settings, reach
    )
    if reach == "agent" and not lacks(TreeReader(whole), settings, request.agent):
        return whole
    if chosen is None and not early:
        asked = str(request.agent or settings.values.get("default_agent") or "")
        whole = _complete(sources, request, _with_natives(sources, request, layers, settings, asked), settings, reach)
    return evolve(whole, beside=_beside(sources, request, whole))


def _beside(sources: Sources, request: Request, layers: Layers) -> str:
    """What other tools' files stand in a project whose own tree has no agents."""
    project = next((tree for tree in layers.trees if tree.kind == "project"), None)
    if project is not None and any(path.startswith("agents/") for path in project.entries):
        return ""
    from outfitter.porting.beside import beside, told

    root = layers.project_root
    return told(beside(sources, root, sources.project_root(request.ambient.cwd, request.ambient.home)[1]))


def _with_natives(sources: Sources, request: Request, layers: Layers, settings: Settings, asked: str) -> Layers:
    """The layers with tools' own directories: those that settings name, else all, which give way.

    Where one of them has the agent `asked` for, no other agent's file is read.
    """
    if not _has_native(sources, request, layers):
        return layers
    from outfitter.porting import in_place

    chosen = settings.values.get("native_layers")
    boundary = sources.project_root(request.ambient.cwd, request.ambient.home)[1]
    spots = in_place.spots(sources, request.ambient, layers.project_root, boundary, chosen)
    natives = tuple(in_place.layer_of(sources, spot, asked, chosen is None) for spot in spots)
    if asked and not any(in_place.has_agent(native, asked) for native in natives):
        natives = tuple(in_place.layer_of(sources, spot, "", chosen is None) for spot in spots)
    return evolve(layers, trees=in_place.at_rank(layers.trees, natives))


def _has_native(sources: Sources, request: Request, layers: Layers) -> bool:
    """Whether another tool's directory is there at all; looked for before its translation is loaded."""
    names = {*_names(sources, layers.project_root), *_names(sources, request.ambient.home)}
    return not names.isdisjoint(NATIVE)


def _names(sources: Sources, path: str) -> tuple[str, ...]:
    try:
        return sources.names(path)
    except OSError:
        return ()


def _complete(sources: Sources, request: Request, layers: Layers, settings: Settings, reach: Reach) -> Layers:
    """Layers read until nothing more is wanted."""
    reader: TreeReader | None = None
    while True:
        reader = _needs(layers, settings, request, reach, reader)
        if not reader.missing:
            return _indexed(layers, reader)
        layers = _read(sources, layers, reader.missing)


def _indexed(layers: Layers, reader: TreeReader) -> Layers:
    """The layers with the index that reading them has made, so that composing does not make it again."""
    trees = (evolve(tree, names=reader.index.get(number)) for number, tree in enumerate(layers.trees))
    return evolve(layers, trees=tuple(trees))


def _needs(layers: Layers, settings: Settings, request: Request, reach: Reach, before: TreeReader | None) -> TreeReader:
    if reach == "agent":
        return needs(layers, settings, request.agent, before)
    from outfitter.catalog.closure import needs_all, needs_names

    if reach == "names":
        return needs_names(layers)
    from outfitter.catalog.lint import tree_findings

    reader = needs_all(layers, settings)
    list(tree_findings(reader))
    return reader


def _layer(sources: Sources, root: Root, listings: tuple[tuple[str, int], ...]) -> Layer:
    layer = Layer(root.kind, root.label, root.path, root.boundary, {}, {})
    for path, depth in listings:
        if not path or path in layer.entries:
            layer = _listed(sources, layer, path, depth)
    return layer


def _listed(sources: Sources, layer: Layer, path: str, depth: int) -> Layer:
    """A layer with the names below one more of its folders."""
    found = sources.listing(f"{layer.root}/{path}" if path else layer.root, layer.boundary, depth)
    prefix = f"{path}/" if path else ""
    below = {prefix + name: entry._replace(path=prefix + name) for name, entry in found.items()} if prefix else found
    return evolve(layer, entries={**layer.entries, **below}, listed={**layer.listed, path: depth})


def _read(sources: Sources, layers: Layers, missing: Missing) -> Layers:
    """Layers with everything that was wanted: what is not there any more is remembered as such."""
    numbered = [*layers.trees, *((layers.repository,) if layers.repository else ())]
    for (number, path), depth in missing.listings.items():
        numbered[number] = _listed(sources, numbered[number], path, depth)
    for number, layer in enumerate(numbered):
        documents = {
            key: _document(sources, _file(layer, key.removesuffix(TEXT)), form)
            for (owner, key), form in missing.documents.items()
            if owner == number
        }
        if documents:
            numbered[number] = evolve(layer, documents={**layer.documents, **documents})
    count = len(layers.trees)
    return evolve(
        layers,
        trees=tuple(numbered[:count]),
        repository=numbered[count] if layers.repository else None,
        digests={**layers.digests, **{path: sources.digest(path) for path in missing.digests}},
        contents={**layers.contents, **{path: sources.read(path) or b"" for path in missing.contents}},
        present={**layers.present, **{path: _is_present(sources, path) for path in missing.present}},
    )


def _file(layer: Layer, path: str) -> str:
    """The file behind a path of a layer: a native layer's is where it is."""
    return layer.entries[path].target if layer.is_native else f"{layer.root}/{path}"


def _document(sources: Sources, path: str, form: DocumentForm) -> Document:
    """The file behind an entry, under the name a person knows it by."""
    found = sources.document(path, form)
    return found or Document(path, None, {}, problems=(Problem(path, "vanished while it was read"),))


def _prompt(sources: Sources, request: Request, path: str) -> Document:
    place = path if path.startswith("/") else f"{request.ambient.cwd}/{path}"
    found = sources.document(place, "text")
    return found or Document(place, None, {}, problems=(Problem(place, "--append-prompt: no such file"),))


def _is_present(sources: Sources, path: str) -> bool:
    """Whether something stands at a path; what cannot be looked at counts as there."""
    try:
        return posixpath.basename(path) in sources.names(posixpath.dirname(path))
    except OSError:
        return True
