"""A tool's own directory as a layer that is used where it is.

Read, never written, the same translation as an import. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from outfitter.host import Sources
from outfitter.model.layers import Document, DocumentForm, Entry, Layer
from outfitter.model.request import Ambient, Notice, Problem
from outfitter.porting.gather import spot_of
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import TOOLS, Carried, Spot, Translation
from outfitter.syntax.parse import parse

# As deep as any listing: nothing more is asked for below a layer that is complete.
_WHOLE = 48


def spots(sources: Sources, ambient: Ambient, project_root: str, boundary: str, wanted: Any = None) -> tuple[Spot, ...]:
    """The tools' directories that are there, the project's first; `wanted` names tools (None: all)."""
    tools = TOOLS if wanted is None else tuple(tool for tool in TOOLS if tool in wanted)
    found: list[Spot] = []
    same = sources.real(project_root) == sources.real(ambient.home)
    places = [(ambient.home, "", True)] if same else [(project_root, boundary, False), (ambient.home, "", True)]
    for place, limit, home in places:
        names = set(sources.names(place))
        for tool in tools:
            spot = spot_of(tool, place, limit, home)
            top = posixpath.relpath(spot.directory, place).split("/")[0]
            if top in names:
                found.append(spot)
    return tuple(found)


def layer_of(sources: Sources, spot: Spot, only: str, yields: bool) -> Layer:
    """One spot as a layer; `only` translates no other agent.

    Literal values of servers stay: nothing is copied.
    """
    files = NativeFiles(sources, spot, as_written=True)
    from outfitter.porting.gather import translate_files

    found = translate_files(files, only)
    directory = posixpath.relpath(spot.directory, spot.around)
    label = f"native ~/{directory}" if spot.home else f"native {directory}"
    return Layer(
        "native-home" if spot.home else "native",
        label,
        spot.directory,
        spot.boundary,
        entries(found),
        {path: document(file) for path, file in found.files.items() if not file.copy},
        {"": _WHOLE},
        yields=yields,
        tool=spot.tool,
    )


def entries(found: Translation) -> dict[str, Entry]:
    """The listing of a translation: its files, and every folder above them."""
    made: dict[str, Entry] = {}
    for path, file in found.files.items():
        parts = path.split("/")
        for count in range(1, len(parts)):
            folder = "/".join(parts[:count])
            made.setdefault(folder, Entry(folder, "directory", found.folders.get(folder, folder)))
        made[path] = Entry(path, "file", file.copy or file.source, file.executable)
    return dict(sorted(made.items()))


def document(file: Carried) -> Document:
    """A translated file as it is read.

    Under the native file's name, with its places where the text is the file's own.
    """
    form: DocumentForm = "json" if file.path.endswith(".json") else "markdown"
    parsed = parse(file.text, form)
    kept = parsed.positions if file.exact else {}
    return Document(
        file.source,
        parsed.value,
        kept,
        parsed.body,
        tuple(Problem(file.source, flaw.message, flaw.key, flaw.at, flaw.hint) for flaw in parsed.flaws),
        tuple(Notice("warning", it.code, f"{file.source}: {it.message}", it.hint) for it in parsed.remarks),
        parsed.text,
    )


def has_agent(layer: Layer, name: str) -> bool:
    """Whether a native layer defines an agent."""
    return f"agents/{name}/agent.md" in layer.entries


def at_rank(trees: tuple[Layer, ...], natives: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """The trees with native layers in their place.

    The project's below its own tree, the home's below the home's.
    """
    made: list[Layer] = []
    waiting: Mapping[str, str] = {"project": "native", "home": "native-home"}
    left = list(natives)
    for tree in trees:
        if tree.kind == "home":
            made += [one for one in left if one.kind == "native"]
            left = [one for one in left if one.kind != "native"]
        elif tree.kind == "source":
            made += left
            left = []
        made.append(tree)
        if tree.kind in waiting:
            made += [one for one in left if one.kind == waiting[tree.kind]]
            left = [one for one in left if one.kind != waiting[tree.kind]]
    return (*made, *left)
