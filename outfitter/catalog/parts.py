"""The files of a skill: its own, and the references, scripts and assets that front matter adds (spec/10)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from outfitter.catalog.demand import DEEP, Demand
from outfitter.catalog.fields import Fields, Origin, Source
from outfitter.catalog.manifests import SECTIONS
from outfitter.catalog.prompts import STATES, Found, locate, refused
from outfitter.catalog.skills import SkillSite
from outfitter.model.composition import Part
from outfitter.model.layers import Document, Entry
from outfitter.model.request import Notice, Problem

_GLOB = re.compile(r"[*?\[]")


class Gathered(NamedTuple):
    """Files that travel with a skill, sorted by where they land, and what was wrong."""

    files: tuple[Part, ...] = ()
    extras: tuple[Part, ...] = ()
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


def gather(demand: Demand, site: SkillSite, document: Document, added: Iterable[Source]) -> Gathered:
    """Everything in a skill's folder but its manifest, and what its front matter and the loadout (`added`) put into its sections."""
    files: list[Part] = []
    notices: list[Notice] = []
    for entry in demand.below(site.layer, site.path):
        inside = entry.path[len(site.path) + 1 :]
        if ".git" in inside.split("/") or entry.path == site.manifest:
            continue
        if entry.kind == "file":
            files.append(Part(entry.target, inside, entry.executable))
        elif entry.kind != "directory":
            where = demand.place(site.layer, entry.path)
            notices.append(Notice("warning", "entry-skipped", f"{where} {STATES[entry.kind]}; skipped"))
    extras, problems, more = _extras(demand, site, document, tuple(added), {part.path for part in files})
    return Gathered(tuple(files), extras, problems, (*notices, *more))


def _extras(
    demand: Demand, site: SkillSite, document: Document, added: tuple[Source, ...], shipped: set[str]
) -> tuple[tuple[Part, ...], tuple[Problem, ...], tuple[Notice, ...]]:
    values: Mapping[str, object] = document.value if isinstance(document.value, Mapping) else {}
    home = Origin(site.layer, document.path, document.positions)
    wanted = {key: value for key in SECTIONS if _names_files(value := values.get(key))}
    fields = Fields(wanted, {}, home)
    landed: dict[str, Part] = {}
    problems: list[Problem] = []
    notices: list[Notice] = []
    for section in SECTIONS:
        for source in (*fields.sources(section), *(added if section == "references" else ())):
            parts, found = expand(demand, source, section)
            problems += [found.problem] if found.problem else []
            notices += [found.notice] if found.notice else []
            for part in parts:
                if part.path in shipped or part.path in landed:
                    place = source.place
                    text = f"{source.path!r} lands on {part.path}, which is there already"
                    problems.append(Problem(place.path, text, place.key, place.at, "rename one of the two"))
                landed[part.path] = part
    ordered = tuple(landed[path] for path in sorted(landed))
    return ordered, (*fields.problems, *problems), tuple(notices)


def _names_files(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, Mapping) and ("file" in item or "repo_file" in item) for item in items)


def expand(demand: Demand, source: Source, section: str) -> tuple[list[Part], Found]:
    """The files that one source means: a file, a whole directory, or what a pattern matches; each lands by its base name."""
    if _GLOB.search(source.path):
        return _matched(demand, source, section)
    found = locate(demand, source, "")
    if found.entry is None:
        return [], found
    return _landed(demand, found.layer, found.entry, section), found


def _landed(demand: Demand, layer: int, entry: Entry, section: str) -> list[Part]:
    name = posixpath.basename(entry.path)
    if entry.kind == "file":
        return [Part(entry.target, f"{section}/{name}", entry.executable)]
    inside = len(entry.path) - len(name)
    return [
        Part(below.target, f"{section}/{below.path[inside:]}", below.executable)
        for below in demand.below(layer, entry.path)
        if below.kind == "file"
    ]


def _matched(demand: Demand, source: Source, section: str) -> tuple[list[Part], Found]:
    wrong = refused(source.path)
    if wrong:
        return [], Found(problem=Problem(source.place.path, wrong, source.place.key, source.place.at))
    layer = demand.repository if source.repository else source.place.layer
    pattern = posixpath.normpath(source.path)
    fixed = pattern[: _GLOB.search(pattern).start()].rpartition("/")[0]  # type: ignore[union-attr]
    depth = DEEP if "**" in pattern else pattern.count("/") - (fixed.count("/") + 1 if fixed else 0) + 1
    if fixed:
        demand.find(layer, fixed)
    demand.listed(layer, fixed, depth)
    compiled = _pattern(pattern)
    parts: list[Part] = []
    for path, entry in demand.layer(layer).entries.items():
        if entry.kind in ("file", "directory") and compiled.fullmatch(path):
            parts += _landed(demand, layer, entry, section)
    if parts or demand.wants:
        return parts, Found()
    text = f"{source.path!r} matches nothing"
    if source.repository:
        return [], Found(
            notice=Notice("warning", "repo-file-missing", f"{source.place.path}: {source.place.key}: {text}")
        )
    return [], Found(problem=Problem(source.place.path, text, source.place.key, source.place.at))


def _pattern(pattern: str) -> re.Pattern[str]:
    """A glob as an expression over whole paths: `*` and `?` stay inside one name, `**/` spans folders."""
    out = ""
    rest = pattern
    while rest:
        if rest.startswith("**/"):
            out, rest = out + "(?:[^/]+/)*", rest[3:]
        elif rest.startswith("**"):
            out, rest = out + ".*", rest[2:]
        elif rest[0] == "*":
            out, rest = out + "[^/]*", rest[1:]
        elif rest[0] == "?":
            out, rest = out + "[^/]", rest[1:]
        elif rest[0] == "[" and "]" in rest[2:]:
            end = rest.index("]", 2)
            inner = rest[1:end].replace("\\", "\\\\").replace("/", "")
            out, rest = out + f"[{'^' + inner[1:] if inner[:1] == '!' else inner}]", rest[end + 1 :]
        else:
            out, rest = out + re.escape(rest[0]), rest[1:]
    return re.compile(out)
