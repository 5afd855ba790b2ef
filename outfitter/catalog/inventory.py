"""Effective resources as rows, by the resolvers that a launch uses (spec/10)."""

from collections.abc import Mapping
from typing import NamedTuple

from outfitter.catalog.agents import agent, sites
from outfitter.catalog.closure import all_skills, default_loadout
from outfitter.catalog.inheritance import line_of, loadout
from outfitter.catalog.native import visible as seen_by
from outfitter.catalog.prompts import CONTEXT, SYSTEM
from outfitter.catalog.skills import SkillSite, is_off, resolve, winner
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.settings import Settings

KINDS = ("agents", "skills", "knowledge", "commands")


class Resource(NamedTuple):
    """One effective resource.

    `agent` owns it ("" for a shared one), `shadows` are lower definitions, `flags` are words such as `abstract`.
    """

    kind: str
    id: str
    description: str
    layer: str
    path: str
    agent: str = ""
    flags: tuple[str, ...] = ()
    shadows: tuple[str, ...] = ()
    inherits: tuple[str, ...] = ()


class SharedFile(NamedTuple):
    """A file that is part of every run: the winning `agents.md` or `system-prompt.md`, and its bytes."""

    name: str
    path: str
    layer: str
    size: int


def rows(reader: TreeReader, settings: Settings, kind: str) -> list[Resource]:
    """The effective resources of a kind, in order of id."""
    if kind == "agents":
        return _agents(reader, settings)
    if kind == "skills":
        return _skills(reader)
    seen = seen_by(reader, ())
    found = seen.knowledge if kind == "knowledge" else seen.commands
    return [Resource(kind, one.id, "", one.layer, one.path) for one in found]


def rows_of(reader: TreeReader, settings: Settings, kind: str, name: str) -> list[Resource]:
    """Return the resources of a kind that one agent sees: its line's own and the shared ones.

    What the agent selects has the flag `selected`.
    """
    line, _ = line_of(reader, name)
    names = [one.id for one in line]
    chosen = loadout(line, default_loadout(settings))
    if kind == "agents":
        selected = {named.id for named in chosen.subagents}
        found = [row for row in _agents(reader, settings) if row.id in names or row.id in selected]
        return [row._replace(flags=(*row.flags, "inherited" if row.id in names else "subagent")) for row in found]
    if kind == "skills":
        picked = {site for pick, owner in chosen.skills if (site := resolve(reader, pick.slug, owner).site)}
        paths = {reader.place(site.layer, site.manifest) for site in picked}
        own = [row for row in _skills(reader) if not row.agent or row.agent in names]
        return [row._replace(flags=(*row.flags, "selected")) if row.path in paths else row for row in own]
    seen = seen_by(reader, line)
    listed = seen.knowledge if kind == "knowledge" else seen.commands
    return [Resource(kind, one.id, "", one.layer, one.path) for one in listed]


def common(reader: TreeReader) -> list[SharedFile]:
    """The files that join every run (V1)."""
    found: list[SharedFile] = []
    winners = [places[0].layer for places in sites(reader).values()]
    native = all(reader.layer(layer).is_native for layer in winners)
    for names in (SYSTEM, CONTEXT):
        for layer, tree in enumerate(reader.trees):
            if not reader.gives(layer, native):
                continue
            document = next((d for name in names if (d := reader.document(layer, name, "markdown"))), None)
            if document and not is_off(document.value):
                size = len(document.body.encode("utf-8", "surrogateescape"))
                found.append(SharedFile(document.path.rpartition("/")[2], document.path, tree.label, size))
            if document:
                break
    return found


def _agents(reader: TreeReader, settings: Settings) -> list[Resource]:
    default = settings.values.get("default_agent")
    found: list[Resource] = []
    for name, places in sites(reader).items():
        one = agent(reader, name)
        if one is None:
            continue
        marks = {
            "default": default == name,
            "abstract": one.abstract,
            "off": not one.enabled,
            "broken": bool(one.problems),
        }
        found.append(
            Resource(
                "agents",
                name,
                one.description or (one.label if one.label != name else ""),
                reader.layer(one.layer).label,
                one.place.path,
                flags=tuple(mark for mark, holds in marks.items() if holds),
                shadows=tuple(reader.place(site.layer, site.path) for site in places[1:]),
                inherits=tuple(parent for parent, _ in one.inherits),
            )
        )
    return found


def _skills(reader: TreeReader) -> list[Resource]:
    """Return every effective skill with those that it shadows."""
    winners: dict[SkillSite, list[SkillSite]] = {}
    for site in sorted(all_skills(reader), key=lambda site: site.layer):
        found = winner(reader, site)
        winners.setdefault(found, [found])
        winners[found] += [site] if site != found else []
    ordered = sorted(winners.values(), key=lambda found: (found[0].base, found[0].qualified))
    return [_skill_row(reader, found) for found in ordered]


def _skill_row(reader: TreeReader, found: list[SkillSite]) -> Resource:
    site = found[0]
    document = reader.document(site.layer, site.manifest, "markdown")
    values: Mapping[str, object] = document.value if document and isinstance(document.value, Mapping) else {}
    broken = bool(document and document.problems)
    owner = site.base.split("/")[1] if site.base.startswith("agents/") else ""
    return Resource(
        "skills",
        site.qualified,
        str(values.get("description") or ""),
        reader.layer(site.layer).label,
        reader.place(site.layer, site.manifest),
        agent=owner,
        flags=(*(("off",) if is_off(values) else ()), *(("broken",) if broken else ())),
        shadows=tuple(reader.place(other.layer, other.manifest) for other in found[1:]),
    )
