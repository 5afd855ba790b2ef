"""Agents of all layers: where each id is defined, and its decoded front matter.

See spec/10 and spec/15 V6, V11, V14, V17, V27.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from outfitter.catalog.controls import ControlSet, controls
from outfitter.catalog.fields import Fields, FileSource, KeyOrigin, Place, SkillPick, is_readable, layered, portable
from outfitter.catalog.limits import AgentLimits, limits
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.layers import Document
from outfitter.model.request import Notice, Problem
from outfitter.model.value import NamedTuple

NO_AGENTS = ("README", "AGENTS", "readme", "Readme")
_UNSET_MODELS = ("", "inherit", "default")
_HEADING = re.compile(r"^#{1,6}[ \t]++(.+)$", re.MULTILINE)


class AgentSite(NamedTuple):
    """Where one layer defines an agent: the file's path in the layer, `flat` for `agents/<id>.md`."""

    layer: int
    id: str
    path: str
    flat: bool = False


class Agent(NamedTuple):
    """One agent as its tree defines it, before inheritance.

    `place` is its defining file, `values` the merged front matter.
    """

    id: str
    layer: int
    place: Place
    label: str
    description: str
    body: str
    enabled: bool
    abstract: bool
    main: bool
    inherits: tuple[tuple[str, Place], ...]
    skills: tuple[SkillPick, ...]
    subagents: tuple[tuple[str, Place], ...]
    mcp: tuple[tuple[str, Place], ...]
    extensions: tuple[str | FileSource, ...]
    plugins: tuple[str, ...]
    model: str
    thinking: str
    limits: AgentLimits
    system_prompt: FileSource | None
    prompt_template: FileSource | None
    append: tuple[FileSource, ...]
    controls: ControlSet
    has_front_matter: bool
    values: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


def site_in(reader: TreeReader, layer: int, name: str) -> AgentSite | None:
    """Return a layer's definition of an id: `agent.md`, else `AGENT.md`, else the flat file (V6, V14)."""
    for file in ("agent.md", "AGENT.md"):
        if reader.is_file(layer, f"agents/{name}/{file}"):
            return AgentSite(layer, name, f"agents/{name}/{file}")
    if reader.is_file(layer, f"agents/{name}.md") and may_be_flat(name):
        return AgentSite(layer, name, f"agents/{name}.md", True)
    return None


def may_be_flat(stem: str) -> bool:
    """Whether `agents/<stem>.md` can be an agent by its name (V6)."""
    return stem not in NO_AGENTS and not stem.startswith(("_", "."))


def sites(reader: TreeReader) -> dict[str, list[AgentSite]]:
    """Return every agent id with its definitions, highest layer first, sorted by id.

    A flat file counts if it has `name` or `description`, or cannot be read.
    """
    found: dict[str, list[AgentSite]] = {}
    for layer in reader.order:
        for name in reader.children(layer, "agents"):
            stem = name.removesuffix(".md") if reader.is_file(layer, f"agents/{name}") else name
            site = site_in(reader, layer, stem) if is_readable(stem) else None
            if site and not (site.flat and not _says_who(reader, site)) and site not in found.get(stem, ()):
                found.setdefault(stem, []).append(site)
    return dict(sorted(found.items()))


def _says_who(reader: TreeReader, site: AgentSite) -> bool:
    document = reader.document(site.layer, site.path, "markdown")
    if document is None:
        return False
    value = document.value
    return bool(document.problems) or (
        isinstance(value, Mapping) and any(value.get(key) for key in ("name", "description"))
    )


def unnamed_files(reader: TreeReader, layer: int) -> list[str]:
    """Flat files under `agents/` without name and description: agents only where named (V6)."""
    names = (name.removesuffix(".md") for name in reader.children(layer, "agents") if name.endswith(".md"))
    found = (site_in(reader, layer, stem) for stem in names if is_readable(stem))
    return [site.path for site in found if site and site.flat and not _says_who(reader, site)]


def category_folders(reader: TreeReader, layer: int) -> list[tuple[str, int]]:
    """Folders under `agents/` that hold Markdown files but no agent, and how many files."""
    known = sites(reader)
    found: list[tuple[str, int]] = []
    for name in reader.children(layer, "agents"):
        inside = reader.children(layer, f"agents/{name}")
        if name in known or name.startswith("_") or {"agent.md", "AGENT.md", "agent.json"} & set(inside):
            continue
        count = sum(one.endswith(".md") and may_be_flat(one.removesuffix(".md")) for one in inside)
        found += [(f"agents/{name}", count)] if count else []
    return found


def agent(reader: TreeReader, name: str) -> Agent | None:
    """Return the winning agent of an id, or of an `id:` key that differs from its directory (V17).

    None if there is none, or if it must be read first.
    """
    for layer in reader.order:
        site = site_in(reader, layer, name) if is_readable(name) else None
        if site:
            return decode(reader, site)
    for found in sites(reader).values():
        document = reader.document(found[0].layer, found[0].path, "markdown")
        if document and isinstance(document.value, Mapping) and str(document.value.get("id", "")) == name:
            return decode(reader, found[0])
    return None


def decode(reader: TreeReader, site: AgentSite) -> Agent | None:
    """Decode front matter and the `config.json` files over it; None if the file must be read first.

    A layer's `config.json` overrides what is below it, never what is above.
    """
    document = reader.document(site.layer, site.path, "markdown")
    if document is None:
        return None
    return reader.cached(("agent", site), lambda: _layered_agent(reader, site, document))


def _layered_agent(reader: TreeReader, site: AgentSite, document: Document) -> Agent:
    parts: list[tuple[int, Document]] = []
    for layer in reversed(range(len(reader.trees))):
        if layer == site.layer:
            parts.append((layer, document))
        config = reader.document(layer, f"agents/{site.id}/config.json", "json")
        if config:
            parts.append((layer, config))
    values, origins = layered(parts)
    fields = Fields(values, origins, KeyOrigin(site.layer, document.path, document.positions))
    decoded = _decoded(site, document, fields)
    _spellings(reader, site, fields)
    return decoded._replace(
        problems=(*(p for _, part in parts for p in part.problems), *fields.problems),
        notices=(*(n for _, part in parts for n in part.notices), *fields.notices),
    )


def _decoded(site: AgentSite, document: Document, fields: Fields) -> Agent:
    model = fields.text("model")
    system, template = fields.sources("system_prompt"), fields.sources("prompt_template")
    return Agent(
        id=site.id,
        layer=site.layer,
        place=Place(site.layer, document.path),
        label=_label(site, document, fields),
        description=fields.text("description"),
        body=document.body,
        enabled=fields.flag("enabled") is not False,
        abstract=fields.flag("abstract") is True,
        main=fields.flag("mainAgent") is not False,
        inherits=fields.slugs("inherits"),
        skills=_skills(fields),
        subagents=fields.slugs("subagents"),
        mcp=fields.slugs("mcp"),
        extensions=_extensions(fields),
        plugins=fields.words("plugins"),
        model="" if model.lower() in _UNSET_MODELS else model,
        thinking=fields.text("thinking"),
        limits=limits(fields),
        system_prompt=system[0] if system else None,
        prompt_template=template[0] if template else None,
        append=fields.sources("append_system_prompt"),
        controls=controls(fields),
        has_front_matter=document.value is not None,
        values=fields.values,
    )


def _label(site: AgentSite, document: Document, fields: Fields) -> str:
    name = fields.text("name")
    said = (
        fields.text("label") or fields.text("displayName") or fields.text("title") or (name if name != site.id else "")
    )
    if said or document.value is not None:
        return said or site.id
    heading = _HEADING.search(document.body)
    # A closing run of `#` is cut off here: in the expression it would cost quadratic time.
    return heading.group(1).rstrip(" \t\r#") or site.id if heading else site.id


def _skills(fields: Fields) -> tuple[SkillPick, ...]:
    found: list[SkillPick] = []
    for key, item in fields.items("skills"):
        if isinstance(item, list):
            fields.fault(key, "must be a skill's id, not a list")
            continue
        one = Fields({"skills": item}, fields.origins, fields.home)
        pick = isinstance(item, Mapping)
        words = one.slugs("skills", "id") if pick else one.slugs("skills")
        references = one.sources("skills", "references") if pick else ()
        if pick and len(words) != 1:
            fields.fault(key, "must be a skill's id, or {id: …, references: […]}")
        found += [SkillPick(word, fields.place(*key), references) for word, _ in words]
        fields.problems += [problem._replace(key=".".join(key), at=fields.place(*key).at) for problem in one.problems]
    return tuple(found)


def _extensions(fields: Fields) -> tuple[str | FileSource, ...]:
    found: list[str | FileSource] = []
    for key, item in fields.items("extensions"):
        if isinstance(item, str) and item.strip():
            found.append(item.strip())
        elif isinstance(item, Mapping):
            found += Fields({"extensions": item}, fields.origins, fields.home).sources("extensions")
        else:
            fields.fault(key, "must be text, or {file: PATH}")
    return tuple(dict.fromkeys(found))


def _spellings(reader: TreeReader, site: AgentSite, fields: Fields) -> None:
    """Warnings about an agent written twice, or under another id."""
    other = fields.text("id")
    if other and other != site.id:
        fields.warn(("id",), "id-differs", f"{other!r} does not match the directory name; the agent is {site.id!r}")
    twice = [name for name in ("agent.md", "AGENT.md") if reader.is_file(site.layer, f"agents/{site.id}/{name}")]
    if len(twice) > 1:
        fields.warn((), "agent-twice", f"agents/{site.id} has both agent.md and AGENT.md; agent.md is used")
    if not site.flat and reader.is_file(site.layer, f"agents/{site.id}.md") and may_be_flat(site.id):
        fields.warn((), "agent-twice", f"agents/{site.id}.md is shadowed by the directory agents/{site.id}")


def unreadable_names(reader: TreeReader, layer: int) -> list[tuple[str, str]]:
    """Names under `agents/` that are no ids, with the portable spelling (V10)."""
    return [
        (name, portable(name.removesuffix(".md")))
        for name in reader.children(layer, "agents")
        if not is_readable(name.removesuffix(".md"))
        and not name.startswith(("_", "."))
        and (reader.is_folder(layer, f"agents/{name}") or name.endswith(".md"))
    ]
