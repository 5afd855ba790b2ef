"""Prompt sources, and the identity's fragments in order.

See spec/10, "Files of a loadout", spec/30, spec/15 V1.
"""

from __future__ import annotations

import posixpath

from outfitter.catalog.agents import Agent
from outfitter.catalog.fields import FileSource
from outfitter.catalog.inheritance import Loadout
from outfitter.catalog.skills import is_off
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Fragment, FragmentKind
from outfitter.model.layers import Document, Entry
from outfitter.model.request import Notice, Problem
from outfitter.model.value import NamedTuple

CONTEXT = ("agents.md", "AGENTS.md")
SYSTEM = ("system-prompt.md",)


class Located(NamedTuple):
    """The layer and entry of a source, or a problem that stops the run, or a notice that does not."""

    layer: int = 0
    entry: Entry | None = None
    problem: Problem | None = None
    notice: Notice | None = None


def locate(reader: TreeReader, source: FileSource, owner: str) -> Located:
    """Return the entry that a `file` or `repo_file` means.

    A `file` is in its layer, relative to the tree's root or else to the agent; a `repo_file` is relative to the
    project's root.
    """
    wrong = refused(source.path)
    if wrong:
        return Located(problem=_problem(source, wrong))
    if source.repository:
        layer, tries = reader.repository, [source.path]
    else:
        layer, tries = source.place.layer, [source.path, *([f"agents/{owner}/{source.path}"] if owner else [])]
    for path in map(posixpath.normpath, tries):
        entry = reader.find(layer, path)
        if entry is None:
            continue
        if entry.kind in ("outside", "dangling", "special", "unreadable"):
            return Located(problem=_problem(source, f"{source.path!r} {STATES[entry.kind]}"))
        if entry.path == path:
            return Located(layer, entry)
    if source.repository:
        where = f"{source.place.path}:{source.place.at.line}"
        text = f"{where}: {source.place.key}: {source.path!r} is not in the project; left out"
        return Located(notice=Notice("warning", "repo-file-missing", text))
    return Located(problem=_problem(source, f"{source.path!r} does not exist in this layer"))


STATES = {
    "outside": "is a symlink that points outside",
    "dangling": "is a dangling symlink",
    "special": "is not a regular file",
    "unreadable": "cannot be read",
}


def refused(path: str) -> str:
    """Why a path may not stand in a source, "" if it may."""
    if path.startswith(("/", "~")):
        return f"{path!r} is absolute; write it relative to the tree"
    if ".." in path.split("/") or "\0" in path:
        return f"{path!r} leaves the tree"
    return ""


def _problem(source: FileSource, message: str) -> Problem:
    return Problem(source.place.path, message, source.place.key, source.place.at)


class PromptFragments(NamedTuple):
    """Fragments, and what was wrong with their sources."""

    fragments: tuple[Fragment, ...]
    problems: tuple[Problem, ...]
    notices: tuple[Notice, ...]


class _FragmentWriter:
    """Fragments being gathered."""

    def __init__(self, reader: TreeReader) -> None:
        self.reader = reader
        self.fragments: list[Fragment] = []
        self.problems: list[Problem] = []
        self.notices: list[Notice] = []

    def add(self, kind: FragmentKind, text: str, path: str, layer: str, **more: object) -> bool:
        """A fragment, unless it is empty: outer blank lines mean nothing, and an empty prompt file is none."""
        text = text.strip("\r\n").rstrip()
        if text:
            self.fragments.append(Fragment(kind, text + "\n", path, layer, **more))  # type: ignore[arg-type]
        return bool(text)

    def source(self, kind: FragmentKind, source: FileSource, owner: str) -> bool:
        """The fragment of a `file` or `repo_file`."""
        found = locate(self.reader, source, owner)
        self.problems += [found.problem] if found.problem else []
        self.notices += [found.notice] if found.notice else []
        if found.entry is None:
            return False
        if found.entry.kind != "file":
            self.problems.append(_problem(source, f"{source.path!r} is a directory, not a file"))
            return False
        document = self.reader.document(found.layer, found.entry.path, "text")
        if document is None:
            return False
        self.problems += document.problems
        label = self.reader.layer(found.layer).label
        return self.add(kind, document.text, document.path, label, agent=owner, trusted=not source.repository)

    def common(self, kind: FragmentKind, names: tuple[str, ...], native: bool) -> None:
        """Add the `agents.md` or `system-prompt.md` of the highest layer that has one, without front matter."""
        for layer, tree in enumerate(self.reader.trees):
            document = self._of_layer(layer, names)
            if document is None or not self.reader.gives(layer, native):
                continue
            self.problems += document.problems
            self.notices += document.notices
            if not is_off(document.value):
                self.add(kind, document.body, document.path, tree.label)
            return

    def _of_layer(self, layer: int, names: tuple[str, ...]) -> Document | None:
        found = [document for name in names if (document := self.reader.document(layer, name, "markdown"))]
        if len(found) > 1 and found[0].text != found[1].text:
            text = f"{found[1].path} is not used: {names[0]} next to it is"
            self.notices.append(Notice("warning", "context-twice", text))
        return found[0] if found else None


def identity(reader: TreeReader, line: tuple[Agent, ...], selected: Loadout) -> PromptFragments:
    """Return the whole identity in the order of spec/30.

    System, context, appended fragments, bodies, the run's own prompts.
    """
    writer = _FragmentWriter(reader)
    system = selected.system_prompt
    native = reader.layer(line[-1].layer).is_native
    if not (system and writer.source("system", *system)):
        writer.common("system", SYSTEM, native)
    writer.common("context", CONTEXT, native)
    for source, owner in selected.append:
        writer.source("append", source, owner)
    _bodies(writer, line)
    for document in reader.layers.append_prompts:
        writer.problems += document.problems
        writer.add("run", document.text, document.path, "run")
    return PromptFragments(tuple(writer.fragments), tuple(writer.problems), tuple(writer.notices))


def own_identity(reader: TreeReader, line: tuple[Agent, ...], selected: Loadout) -> PromptFragments:
    """Return a subagent's identity without what its leader already has.

    Its own system prompt, appended fragments and bodies.
    """
    writer = _FragmentWriter(reader)
    if selected.system_prompt:
        writer.source("system", *selected.system_prompt)
    for source, owner in selected.append:
        writer.source("append", source, owner)
    _bodies(writer, line)
    return PromptFragments(tuple(writer.fragments), tuple(writer.problems), tuple(writer.notices))


def template(reader: TreeReader, selected: Loadout) -> PromptFragments:
    """The prompt template as the one fragment of its own."""
    writer = _FragmentWriter(reader)
    if selected.prompt_template:
        writer.source("append", *selected.prompt_template)
    return PromptFragments(tuple(writer.fragments), tuple(writer.problems), tuple(writer.notices))


def _bodies(writer: _FragmentWriter, line: tuple[Agent, ...]) -> None:
    for one in line:
        writer.add("body", one.body, one.place.path, writer.reader.layer(one.layer).label, agent=one.id)
