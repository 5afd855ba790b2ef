"""The files of a skill: its own, and references, scripts and assets added by front matter (spec/10)."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.catalog.fields import Fields, FileSource, KeyOrigin
from outfitter.catalog.prompts import STATES, locate, refused
from outfitter.catalog.skills import SkillSite
from outfitter.catalog.tree_reader import DEEP, TreeReader
from outfitter.model.composition import Part
from outfitter.model.layers import Document, Entry
from outfitter.model.request import Notice, Problem
from outfitter.model.value import NamedTuple

# Outfitter's own keys: what they add lands in the skill's folder, so that the projected copy needs them no more.
SECTIONS = ("references", "scripts", "assets")
# Pi would hide what such a file names, the skill itself included.
_IGNORE_FILES = (".gitignore", ".ignore", ".fdignore")
_TOP = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:")


def manifest(name: str, document: Document) -> str:
    """The text of a skill's manifest under the name it is projected with.

    `name` is set where it differs or is missing, near-YAML lines are quoted rightly, resolved sections are dropped.
    """
    if document.value is None:
        return f"---\nname: {name}\n---\n{document.text}"
    values: Mapping[str, Any] = document.value
    blocks = _blocks(_head(document))
    rewritten = {entry for notice in document.notices if notice.code == "near-yaml" for entry in _quoted(notice.hint)}
    kept: list[str] = []
    for key, lines in blocks:
        if key == "name" and values.get("name") != name:
            continue
        if key in SECTIONS and _is_sources(values.get(key)):
            continue
        if key == "description" and (text := plain_text(values[key], lines)) is not None:
            kept.append(f"{key}: {json.dumps(text, ensure_ascii=False)}\n")
            continue
        kept += [f"{key}: {json.dumps(values[key], ensure_ascii=False)}\n"] if key in rewritten else lines
    if values.get("name") != name:
        kept.insert(0, f"name: {name}\n")
    return "".join(("---\n", *kept, "---\n", document.body))


def plain_text(value: Any, lines: list[str]) -> str | None:
    """A description that programs would not read as text, as text; None where they read it as such.

    `lines` are the value's own lines with its key.
    """
    if value is None or (isinstance(value, str) and not _looks_typed(lines)):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return " ".join("".join(lines).partition(":")[2].split())


def _looks_typed(lines: list[str]) -> bool:
    """Whether a reader of YAML may take unquoted text for a date, a number or a boolean."""
    raw = "".join(lines).partition(":")[2].strip()
    return (
        raw.lower() in ("yes", "no", "on", "off", "y", "n")
        or re.fullmatch(r"[-+.0-9][-+.:0-9TZ_eE xo]*", raw) is not None
    )


def _head(document: Document) -> list[str]:
    """Front matter lines without their fences, line ends as they are."""
    text = document.text[: len(document.text) - len(document.body)]
    lines = [line for line in re.split(r"(?<=\n)", text) if line]
    if lines[0].rstrip() == "---":
        return lines[1:-1]
    from outfitter.syntax.front_matter import lines_above

    return lines[lines_above(lines) + 1 : -1]


def _blocks(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Group front matter lines by their top-level key; lines before the first key have none."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        top = _TOP.match(line)
        if top:
            found.append((top.group(1), [line]))
        else:
            found[-1][1].append(line)
    return found


def _quoted(hint: str) -> tuple[str, ...]:
    """The key whose right spelling a near-YAML remark gives (`write key: "…"`)."""
    match = re.match(r"write ([A-Za-z_][\w-]*):", hint)
    return (match.group(1),) if match else ()


def _is_sources(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, Mapping) and ("file" in item or "repo_file" in item) for item in items)


_GLOB = re.compile(r"[*?\[]")


class SkillFiles(NamedTuple):
    """Files that travel with a skill, sorted by where they land, and what was wrong."""

    files: tuple[Part, ...] = ()
    extras: tuple[Part, ...] = ()
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


def gather(reader: TreeReader, site: SkillSite, document: Document, added: Iterable[FileSource]) -> SkillFiles:
    """Return all files of a skill but its manifest.

    `added` are references of the loadout; front matter adds files to the skill's sections.
    """
    files: list[Part] = []
    notices: list[Notice] = []
    for entry in reader.below(site.layer, site.path):
        inside = entry.path[len(site.path) + 1 :]
        if ".git" in inside.split("/") or entry.path == site.manifest or posixpath.basename(inside) in _IGNORE_FILES:
            continue
        if entry.kind == "file":
            files.append(Part(entry.target, inside, entry.executable))
        elif entry.kind != "directory":
            where = reader.place(site.layer, entry.path)
            notices.append(Notice("warning", "entry-skipped", f"{where} {STATES[entry.kind]}; skipped"))
    extras, problems, more = _extras(reader, site, document, tuple(added), {part.path for part in files})
    return SkillFiles(tuple(files), extras, problems, (*notices, *more))


def _extras(
    reader: TreeReader, site: SkillSite, document: Document, added: tuple[FileSource, ...], shipped: set[str]
) -> tuple[tuple[Part, ...], tuple[Problem, ...], tuple[Notice, ...]]:
    values: Mapping[str, object] = document.value if isinstance(document.value, Mapping) else {}
    home = KeyOrigin(site.layer, document.path, document.positions)
    wanted = {key: value for key in SECTIONS if _names_files(value := values.get(key))}
    fields = Fields(wanted, {}, home)
    landed: dict[str, Part] = {}
    bases = {"/".join(path.split("/")[:2]) for path in shipped}
    problems: list[Problem] = []
    notices: list[Notice] = []
    for section in SECTIONS:
        for source in (*fields.sources(section), *(added if section == "references" else ())):
            meant = expand(reader, source, section)
            problems += meant.problems
            notices += meant.notices
            for base, parts in meant.groups:
                if base in bases:
                    place = source.place
                    text = f"{source.path!r} lands on {base}, which is there already"
                    problems.append(Problem(place.path, text, place.key, place.at, "rename one of the two"))
                bases.add(base)
                landed.update({part.path: part for part in parts})
    ordered = tuple(landed[path] for path in sorted(landed))
    return ordered, (*fields.problems, *problems), tuple(notices)


def _names_files(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, Mapping) and ("file" in item or "repo_file" in item) for item in items)


class ExpandedSource(NamedTuple):
    """What one source means: by the base name under which each entry lands, its files; and what was wrong."""

    groups: tuple[tuple[str, tuple[Part, ...]], ...] = ()
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


def expand(reader: TreeReader, source: FileSource, section: str) -> ExpandedSource:
    """Return the files that one source means: a file, a directory, or the matches of a pattern.

    Each is placed by its base name.
    """
    if _GLOB.search(source.path):
        return _matched(reader, source, section)
    found = locate(reader, source, "")
    said = ExpandedSource((), (found.problem,) if found.problem else (), (found.notice,) if found.notice else ())
    return _landed(reader, found.layer, (found.entry,), section) if found.entry else said


def _landed(reader: TreeReader, layer: int, entries: Iterable[Entry], section: str) -> ExpandedSource:
    """Return files as they are and directories whole; broken or outside symlinks are skipped."""
    groups: list[tuple[str, tuple[Part, ...]]] = []
    notices: list[Notice] = []
    for entry in entries:
        base = f"{section}/{posixpath.basename(entry.path)}"
        below = reader.below(layer, entry.path) if entry.kind == "directory" else [entry]
        inside = len(entry.path)
        parts = (Part(one.target, base + one.path[inside:], one.executable) for one in below if one.kind == "file")
        groups.append((base, tuple(parts)))
        for one in below:
            if one.kind not in ("file", "directory"):
                text = f"{reader.place(layer, one.path)} {STATES[one.kind]}; skipped"
                notices.append(Notice("warning", "entry-skipped", text))
    return ExpandedSource(tuple(groups), (), tuple(notices))


def _matched(reader: TreeReader, source: FileSource, section: str) -> ExpandedSource:
    place = source.place
    wrong = refused(source.path)
    if wrong:
        return ExpandedSource((), (Problem(place.path, wrong, place.key, place.at),))
    layer = reader.repository if source.repository else place.layer
    matching = _matching(reader, layer, posixpath.normpath(source.path))
    if matching:
        return _landed(reader, layer, matching, section)
    text = f"{source.path!r} matches nothing"
    if source.repository:
        return ExpandedSource((), (), (Notice("warning", "repo-file-missing", f"{place.path}: {place.key}: {text}"),))
    return ExpandedSource((), (Problem(place.path, text, place.key, place.at),))


def _matching(reader: TreeReader, layer: int, pattern: str) -> list[Entry]:
    """The entries that a pattern means, sorted by path; across folders (`**`) only files."""
    first = _GLOB.search(pattern)
    fixed = pattern[: first.start() if first else 0].rpartition("/")[0]
    deep = "**" in pattern
    depth = DEEP if deep else pattern.count("/") - (fixed.count("/") + 1 if fixed else 0) + 1
    if fixed:
        reader.find(layer, fixed)
    reader.listed(layer, fixed, depth)
    kinds = ("file",) if deep else ("file", "directory")
    matcher = _PathPattern(pattern)
    entries = reader.layer(layer).entries.items()
    return [entry for path, entry in sorted(entries) if entry.kind in kinds and matcher.matches(path)]


class _PathPattern:
    """A glob over whole paths, matched in time linear in the path.

    `*`, `?` and `[…]` match within one name, `**` matches directories.
    """

    def __init__(self, pattern: str) -> None:
        from fnmatch import translate

        names = pattern.split("/")
        self.names = [None if name == "**" else re.compile(translate(name)) for name in names]

    def matches(self, path: str) -> bool:
        parts = path.split("/")
        # The numbers of parts that the names so far can match.
        reached = {0}
        for name in self.names:
            if name is None:
                reached = set(range(min(reached), len(parts)))
            else:
                reached = {count + 1 for count in reached if count < len(parts) and name.match(parts[count])}
            if not reached:
                return False
        return len(parts) in reached or self.names[-1] is None
