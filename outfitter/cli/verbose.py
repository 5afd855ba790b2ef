"""What `--verbose` adds to every command but `run`: where it looked, what it read, what it left out and why, and how long it took (spec/80)."""

from __future__ import annotations

import posixpath
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from outfitter.cli.context import Context
from outfitter.cli.plan_lines import origin_text
from outfitter.host import StepNote
from outfitter.model.layers import Layer, Layers
from outfitter.model.projection import Prepared
from outfitter.model.settings import SettingsFiles
from outfitter.model.wording import counted, listed
from outfitter.settings.scopes import FILES

# Why a name of a tree is left out, by the kind of its entry.
SKIPPED = {
    "special": "not a regular file",
    "outside": "a symlink out of the tree",
    "dangling": "a dangling symlink",
    "unreadable": "unreadable",
}
_MS = 1000.0
# Process-wide state: the lines that `explain` has printed, so that it prints none twice.
_EXPLAINED: set[str] = set()


def run_verbosely(main: Callable[[list[str], Context], int], name: str, words: list[str], context: Context) -> int:
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


def explain(context: Context, lines: Iterable[str]) -> None:
    """Say what was read; a command that reads twice (`sync`, `doctor`) says only what is new the second time."""
    for line in lines:
        if line not in _EXPLAINED:
            _EXPLAINED.add(line)
            context.console.detail(line)


def settings_details(files: SettingsFiles, home: str) -> Iterator[str]:
    """Each settings file, whether it is there or not."""
    read = {scope.path: f"{scope.kind}, {counted(len(scope.values), 'key')}" for scope in files.scopes}
    trees = (posixpath.join(files.project_root, ".agents"), posixpath.join(home, ".agents"))
    names = dict.fromkeys(row[0] for row in FILES)
    places = [posixpath.join(tree, name) for tree in dict.fromkeys(trees) for name in names]
    for path in dict.fromkeys((*places, *read)):
        yield f"settings: {path}: {read.get(path, 'not there')}"


def tree_details(layers: Layers) -> Iterator[str]:
    """Each tree, what was read of it, and what was left out."""
    for tree in layers.trees:
        yield from _tree(tree)


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


_NS_PER_MS = 1_000_000


def decisions(prepared: Prepared) -> Iterator[str]:
    """Layers, agent, harness, isolation, and every strategy that a setting decided; one line each."""
    asked, composition, plan = prepared.request, prepared.composition, prepared.plan
    yield from (f"layer: {kind} {root}" for kind, root in prepared.trees)
    body = next(
        (part for part in composition.fragments if part.kind == "body" and part.agent == composition.agent), None
    )
    where = f" in layer {body.layer}, {body.path}" if body else ""
    yield f"agent: {composition.agent} ({_by(prepared, 'default_agent', asked.agent)}){where}"
    yield f"harness: {plan.harness} ({_by(prepared, 'default_harness', asked.harness)}), {plan.launch.executable}"
    if plan.harness == "claude":
        given = "--isolated" if asked.isolated else None
        yield f"isolation: {'isolated' if given else prepared.settings.values.get('isolation') or 'inherit'} ({_by(prepared, 'isolation', given)})"
    rows = (*plan.strategies.declared, plan.strategies.unknown)
    decided = [row for row in rows if row.origin.scope != "default"]
    yield from (f"state: {row.path.key} {row.strategy} ({origin_text(row.origin)})" for row in decided)
    yield f"state: {len(rows) - len(decided)} of {counted(len(rows), 'path')} at the default"


def timings(steps: tuple[StepNote, ...]) -> Iterator[str]:
    """One line a stage, in order: its name, its milliseconds, and how it ended if not well."""
    for step in steps:
        ended = "" if step.status == "ok" else f" ({step.status})"
        yield f"stage: {step.name:<20} {(step.ended_ns - step.started_ns) / _NS_PER_MS:9.1f} ms{ended}"


def _by(prepared: Prepared, key: str, given: str | None) -> str:
    """The command line, else the setting's file and line, else the default."""
    if given is not None:
        return "command line"
    origin = prepared.settings.origins.get((key,))
    return origin_text(origin) if origin is not None else "default"
