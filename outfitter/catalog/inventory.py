"""Effective resources as rows, by the same resolvers that a launch uses: what is listed is what runs (spec/10)."""

from collections.abc import Mapping
from typing import NamedTuple

from outfitter.catalog.agents import agent, sites
from outfitter.catalog.closure import all_skills, default_loadout
from outfitter.catalog.inheritance import lineage, loadout
from outfitter.catalog.native import visible as seen_by
from outfitter.catalog.prompts import CONTEXT, SYSTEM
from outfitter.catalog.skills import SkillSite, is_off, resolve, winner
from outfitter.catalog.tree_reader import Demand
from outfitter.model.settings import Settings

KINDS = ("agents", "skills", "knowledge", "commands")


class Row(NamedTuple):
    """One effective resource. `agent` owns it ("" for shared), `shadows` are lower definitions, `flags` words such as `abstract`."""

    kind: str
    id: str
    description: str
    layer: str
    path: str
    agent: str = ""
    flags: tuple[str, ...] = ()
    shadows: tuple[str, ...] = ()
    inherits: tuple[str, ...] = ()


class Common(NamedTuple):
    """A file that joins every run: `agents.md` or `system-prompt.md` of the winning layer, and its size in bytes."""

    name: str
    path: str
    layer: str
    size: int


def rows(demand: Demand, settings: Settings, kind: str) -> list[Row]:
    """The effective resources of a kind, in order of id."""
    if kind == "agents":
        return _agents(demand, settings)
    if kind == "skills":
        return _skills(demand)
    seen = seen_by(demand, ())
    found = seen.knowledge if kind == "knowledge" else seen.commands
    return [Row(kind, one.id, "", one.layer, one.path) for one in found]


def rows_of(demand: Demand, settings: Settings, kind: str, name: str) -> list[Row]:
    """What one agent sees of a kind: its line's own resources and the shared ones; what it selects carries the flag `selected`."""
    line, _ = lineage(demand, name)
    names = [one.id for one in line]
    chosen = loadout(line, default_loadout(settings))
    if kind == "agents":
        selected = {named.id for named in chosen.subagents}
        found = [row for row in _agents(demand, settings) if row.id in names or row.id in selected]
        return [row._replace(flags=(*row.flags, "inherited" if row.id in names else "subagent")) for row in found]
    if kind == "skills":
        picked = {site for pick, owner in chosen.skills if (site := resolve(demand, pick.slug, owner).site)}
        paths = {demand.place(site.layer, site.manifest) for site in picked}
        own = [row for row in _skills(demand) if not row.agent or row.agent in names]
        return [row._replace(flags=(*row.flags, "selected")) if row.path in paths else row for row in own]
    seen = seen_by(demand, line)
    listed = seen.knowledge if kind == "knowledge" else seen.commands
    return [Row(kind, one.id, "", one.layer, one.path) for one in listed]


def common(demand: Demand) -> list[Common]:
    """The files that join every run (V1)."""
    found: list[Common] = []
    for names in (SYSTEM, CONTEXT):
        for layer, tree in enumerate(demand.trees):
            document = next((d for name in names if (d := demand.document(layer, name, "markdown"))), None)
            if document and not is_off(document.value):
                size = len(document.body.encode("utf-8", "surrogateescape"))
                found.append(Common(document.path.rpartition("/")[2], document.path, tree.label, size))
            if document:
                break
    return found


def _agents(demand: Demand, settings: Settings) -> list[Row]:
    default = settings.values.get("default_agent")
    found: list[Row] = []
    for name, places in sites(demand).items():
        one = agent(demand, name)
        if one is None:
            continue
        marks = {
            "default": default == name,
            "abstract": one.abstract,
            "off": not one.enabled,
            "broken": bool(one.problems),
        }
        found.append(
            Row(
                "agents",
                name,
                one.description or (one.label if one.label != name else ""),
                demand.layer(one.layer).label,
                one.place.path,
                flags=tuple(mark for mark, holds in marks.items() if holds),
                shadows=tuple(demand.place(site.layer, site.path) for site in places[1:]),
                inherits=tuple(parent for parent, _ in one.inherits),
            )
        )
    return found


def _skills(demand: Demand) -> list[Row]:
    """Every effective skill with what it shadows: of one base, what the spelling of its qualified id means."""
    winners: dict[SkillSite, list[SkillSite]] = {}
    for site in sorted(all_skills(demand), key=lambda site: site.layer):
        found = winner(demand, site)
        winners.setdefault(found, [found])
        winners[found] += [site] if site != found else []
    ordered = sorted(winners.values(), key=lambda found: (found[0].base, found[0].qualified))
    return [_skill_row(demand, found) for found in ordered]


def _skill_row(demand: Demand, found: list[SkillSite]) -> Row:
    site = found[0]
    document = demand.document(site.layer, site.manifest, "markdown")
    values: Mapping[str, object] = document.value if document and isinstance(document.value, Mapping) else {}
    broken = bool(document and document.problems)
    owner = site.base.split("/")[1] if site.base.startswith("agents/") else ""
    return Row(
        "skills",
        site.qualified,
        str(values.get("description") or ""),
        demand.layer(site.layer).label,
        demand.place(site.layer, site.manifest),
        agent=owner,
        flags=(*(("off",) if is_off(values) else ()), *(("broken",) if broken else ())),
        shadows=tuple(demand.place(other.layer, other.manifest) for other in found[1:]),
    )
