"""Native Pi overlays and DeepWork job roots of an agent's line.

See spec/10, spec/40, "Pi", 006.3.13 to 17, spec/95 CMP-04 to CMP-06.
"""

from __future__ import annotations

import re

from outfitter.catalog.agents import Agent
from outfitter.catalog.prompts import STATES
from outfitter.catalog.skills import is_off
from outfitter.catalog.tree_reader import DEEP, TreeReader
from outfitter.model.composition import Command, JobRoot, Knowledge
from outfitter.model.layers import Entry
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

# Files of an overlay that are merged key by key rather than replaced (spec/40).
MERGED = (".mcp.json", "mcp.json", "settings.json", "keybindings.json")


# What Pi keeps as state: an overlay cannot bring it, so that it is neither part of a composition nor dumped (spec/40).
PI_STATE = (
    "auth.json", "mcp-auth.json", "models.json", "trust.json",
    "bin", "cache", "git", "npm", "plugins", "sessions", "tmp", "utilities",
)  # fmt: skip


def is_pi_state(path: str) -> bool:
    """Whether a path in Pi's directory is the program's own to write."""
    return path.partition("/")[0] in PI_STATE


_FRONT = r"(?ms)---[ \t]*\r?\n.*?^---[ \t]*$"
_ENABLED = r"""(?m)^enabled[ \t]*:[ \t]*["']?(\w+)"""


class OverlayFile(NamedTuple):
    """One file of an overlay, its content not read yet."""

    layer: int
    entry: Entry
    path: str


class Overlaid(NamedTuple):
    """The files that count, lowest precedence first, and one notice for each entry that was left out."""

    files: tuple[OverlayFile, ...]
    notices: tuple[Notice, ...]


def overlay(reader: TreeReader, line: tuple[Agent, ...]) -> Overlaid:
    """Return `agents/<id>/pi/` of the parents, then of the agent, lower layers first.

    Later files replace earlier ones whole.

    Links are not followed. Where a file and a folder meet at one path, the later kind wins and nothing is mixed. Of the files
    that the adapter merges (`MERGED`) all are kept, in order.
    """
    files: list[OverlayFile] = []
    notices: list[Notice] = []
    for one in line:
        for layer in reversed(range(len(reader.trees))):
            root = f"agents/{one.id}/pi"
            top = reader.entry(layer, root)
            if top is None:
                continue
            if top.link or top.kind != "directory":
                notices.append(_left_out(reader, layer, top))
                continue
            found = [
                OverlayFile(layer, entry, entry.path[len(root) + 1 :])
                for entry in _unlinked(reader, layer, root, notices)
            ]
            files = [*_standing(files, found), *found]
    return Overlaid(tuple(files), tuple(notices))


def _standing(lower: list[OverlayFile], higher: list[OverlayFile]) -> list[OverlayFile]:
    """The lower files that no higher one replaces."""
    paths = {file.path for file in higher}
    parents = {path[:at] for path in paths for at, c in enumerate(path) if c == "/"}

    def stands(file: OverlayFile) -> bool:
        own = [file.path[:at] for at, c in enumerate(file.path) if c == "/"]
        replaced = file.path in paths and file.path not in MERGED
        return not replaced and file.path not in parents and not any(parent in paths for parent in own)

    return [file for file in lower if stands(file)]


def _unlinked(reader: TreeReader, layer: int, root: str, notices: list[Notice]) -> list[Entry]:
    """Return the regular files below an overlay without following symlinks.

    Each symlink or special file gives a notice.
    """
    found: list[Entry] = []
    links: list[str] = []
    for entry in reader.below(layer, root):
        if any(entry.path.startswith(link + "/") for link in links):
            continue
        if entry.link or entry.kind not in ("file", "directory"):
            notices.append(_left_out(reader, layer, entry))
            links.append(entry.path)
        elif entry.kind == "file":
            found.append(entry)
    return found


def _left_out(reader: TreeReader, layer: int, entry: Entry) -> Notice:
    where = reader.place(layer, entry.path)
    why = (
        "is a symlink; overlays do not follow symlinks" if entry.link else STATES.get(entry.kind, "is not a directory")
    )
    return Notice("warning", "overlay-skipped", f"{where} {why}; skipped")


class JobFolder(NamedTuple):
    """One DeepWork jobs folder of a layer.

    `owner` is its agent, "" for a shared one; `names` are the jobs that count.
    """

    layer: int
    path: str
    owner: str
    names: tuple[str, ...]
    pi_only: bool = False


def job_folders(reader: TreeReader, line: tuple[Agent, ...], names: tuple[str, ...]) -> tuple[JobFolder, ...]:
    """An agent's own job folders always, nearest first; a layer's shared one only for names that it holds."""
    found: list[JobFolder] = []
    for one in reversed(line):
        for layer in range(len(reader.trees)):
            for inside, pi_only in (("deepwork/jobs", False), ("pi/deepwork/jobs", True)):
                path = f"agents/{one.id}/{inside}"
                if reader.is_folder(layer, path) and not (pi_only and _linked(reader, layer, path)):
                    found.append(JobFolder(layer, path, one.id, _held(reader, layer, path), pi_only))
    known = {name for folder in found for name in folder.names}
    for layer in range(len(reader.trees)):
        held = _held(reader, layer, "deepwork/jobs")
        chosen = tuple(name for name in names if name in held and name not in known)
        if chosen:
            found.append(JobFolder(layer, "deepwork/jobs", "", chosen))
            known.update(chosen)
    return tuple(found)


def job_root(reader: TreeReader, folder: JobFolder) -> JobRoot:
    """A jobs folder as adapters read it."""
    path, label = reader.place(folder.layer, folder.path), reader.layer(folder.layer).label
    held = _held(reader, folder.layer, folder.path)
    return JobRoot(path, label, () if folder.owner else folder.names, folder.pi_only, held)


def job_files(reader: TreeReader, folders: tuple[JobFolder, ...]) -> list[tuple[str, str, Entry]]:
    """Return the files of the jobs that count, as (owner, path below its folder, entry).

    Of one owner's job only the highest layer's files count.

    What lies in a Pi overlay is part of that, not of this.
    """
    found: list[tuple[str, str, Entry]] = []
    taken: set[tuple[str, str]] = set()
    for folder in (folder for folder in folders if not folder.pi_only):
        for name in folder.names:
            if (folder.owner, name) in taken:
                continue
            taken.add((folder.owner, name))
            below = reader.below(folder.layer, f"{folder.path}/{name}")
            start = len(folder.path) + 1
            found += [(folder.owner, entry.path[start:], entry) for entry in below if entry.kind == "file"]
    return found


def _linked(reader: TreeReader, layer: int, path: str) -> bool:
    parts = path.split("/")
    entries = (reader.entry(layer, "/".join(parts[:n])) for n in range(3, len(parts) + 1))
    return any(entry is None or entry.link for entry in entries)


def _held(reader: TreeReader, layer: int, path: str) -> tuple[str, ...]:
    return tuple(name for name in reader.children(layer, path) if reader.is_file(layer, f"{path}/{name}/job.yml"))


class Visible(NamedTuple):
    """Commands and knowledge that an agent sees, and what could not be read of them."""

    commands: tuple[Command, ...]
    knowledge: tuple[Knowledge, ...]
    notices: tuple[Notice, ...]


def visible(reader: TreeReader, line: tuple[Agent, ...]) -> Visible:
    """Return the shared commands and knowledge and those of the line, by id.

    The nearest agent's win over the shared ones, higher layers over lower ones.

    They are passed on as they are, so invalid front matter stops nothing; only `enabled` is read.
    """
    commands: dict[str, Command] = {}
    knowledge: dict[str, Knowledge] = {}
    notices: list[Notice] = []
    native = not line or reader.layer(line[-1].layer).is_native
    for home in ("", *(f"agents/{one.id}/" for one in line)):
        for layer in (layer for layer in reversed(reader.order) if reader.gives(layer, native)):
            _add_commands(reader, layer, f"{home}commands", commands, notices)
            _add_knowledge(reader, layer, f"{home}knowledge", knowledge)
    ordered = tuple(commands[key] for key in sorted(commands))
    return Visible(ordered, tuple(knowledge[key] for key in sorted(knowledge)), tuple(notices))


def _add_commands(
    reader: TreeReader, layer: int, base: str, commands: dict[str, Command], notices: list[Notice]
) -> None:
    if not reader.is_folder(layer, base) or not reader.listed(layer, base, DEEP):
        return
    for entry in reader.below(layer, base):
        document = reader.document(layer, entry.path, "text") if entry.path.endswith(".md") else None
        if document is None:
            continue
        key = entry.path[len(base) + 1 :].removesuffix(".md")
        for problem in document.problems:
            notices.append(Notice("warning", "command-unreadable", f"{problem.path} {problem.message}; skipped"))
        if _is_off_text(document.text):
            commands.pop(key, None)
        elif not document.problems:
            commands[key] = Command(key, document.text, document.path, reader.layer(layer).label)


def _add_knowledge(reader: TreeReader, layer: int, base: str, knowledge: dict[str, Knowledge]) -> None:
    for name in reader.children(layer, base):
        path = f"{base}/{name}"
        key = name.removesuffix(".md")
        document = reader.document(layer, path, "text") if name.endswith(".md") else None
        if document and _is_off_text(document.text):
            knowledge.pop(key, None)
        elif reader.is_folder(layer, path) or reader.is_file(layer, path):
            knowledge[key] = Knowledge(key, reader.place(layer, path), reader.layer(layer).label)


def _is_off_text(text: str) -> bool:
    """Whether a text's front matter, YAML or not, says `enabled: false`."""
    head = re.match(_FRONT, text)
    said = re.search(_ENABLED, head.group()) if head else None
    return bool(said and is_off({"enabled": said.group(1)}))
