"""What `--verbose` adds to every command but `run`: where it looked, what it read, what it left out and why, and how long it took (spec/80)."""

from __future__ import annotations

import posixpath
import sys
import time
from collections.abc import Callable, Iterator

from outfitter.cli.context import Context
from outfitter.model.layers import Layer, Layers
from outfitter.model.wording import counted, listed
from outfitter.places import FILES

# Why a name of a tree is left out, by the kind of its entry.
SKIPPED = {
    "special": "no regular file",
    "outside": "a link that leaves what the tree may reach",
    "dangling": "a link that leads nowhere",
    "unreadable": "it cannot be read",
}
_MS = 1000.0
# What this process has explained already.
_SAID: set[str] = set()


def told(main: Callable[[list[str], Context], int], name: str, words: list[str], context: Context) -> int:
    """Run a command between two remarks: the places that it goes by, and its exit code and time."""
    here = context.ambient
    for what, place in (
        ("program", f"{posixpath.dirname(posixpath.dirname(__file__))}, Python {sys.version.partition(' ')[0]}"),
        ("working directory", here.cwd),
        ("home", here.home),
        ("state", here.state_root),
        ("temporary", here.temp_root),
    ):
        context.console.detail(f"{what}: {place}")
    began = time.perf_counter()
    ended = "stopped"
    try:
        code = int(main(words, context))
        ended = f"exit {code}"
        return code
    finally:
        context.console.detail(f"{name}: {ended} after {(time.perf_counter() - began) * _MS:.1f} ms")


def explain(context: Context, layers: Layers) -> None:
    """Say what was read; a command that reads twice (`sync`, `doctor`) says only what is new the second time."""
    for line in reading_details(layers, context.ambient.home):
        if line not in _SAID:
            _SAID.add(line)
            context.console.detail(line)


def reading_details(layers: Layers, home: str) -> Iterator[str]:
    """Each settings file and each tree, whether it is there or not; what was read of a tree, and what was left out."""
    yield from _settings(layers, home)
    for tree in layers.trees:
        yield from _tree(tree)


def _settings(layers: Layers, home: str) -> Iterator[str]:
    read = {scope.path: f"{scope.kind}, {counted(len(scope.values), 'key')}" for scope in layers.scopes}
    trees = (posixpath.join(layers.project_root, ".agents"), posixpath.join(home, ".agents"))
    names = dict.fromkeys(row[0] for row in FILES)
    places = [posixpath.join(tree, name) for tree in dict.fromkeys(trees) for name in names]
    for path in dict.fromkeys((*places, *read)):
        yield f"settings: {path}: {read.get(path, 'not there')}"


def _tree(tree: Layer) -> Iterator[str]:
    place = f"layer: {tree.kind} {tree.root}"
    if not tree.entries:
        yield f"{place}: nothing there"
        return
    documents = [path for path, document in tree.documents.items() if document is not None]
    read = f"read {listed(documents)}" if documents else "read nothing but names"
    yield f"{place}: {counted(len(tree.entries), 'name')}, {read}"
    for path, entry in tree.entries.items():
        if entry.kind in SKIPPED:
            where = f" ({entry.target})" if entry.target else ""
            yield f"skipped: {tree.root}/{path}{where}: {SKIPPED[entry.kind]}"
