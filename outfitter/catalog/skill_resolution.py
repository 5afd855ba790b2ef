"""A loadout's skills with their files, each under one flat name (spec/10, spec/15 V7, V9).

Each resolves in the namespace of the agent that declares it.
"""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.catalog.fields import FileSource, Place, SkillPick
from outfitter.catalog.skills import SkillSite, resolve, why_missing
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Skill
from outfitter.model.layers import Document
from outfitter.model.request import Notice, Problem
from outfitter.model.value import NamedTuple


class ResolvedSkills(NamedTuple):
    """The skills in order, the flat name of each folder (by physical path), and what was wrong."""

    skills: tuple[Skill, ...]
    names: Mapping[str, str]
    problems: tuple[Problem, ...]
    notices: tuple[Notice, ...]


class _Pick(NamedTuple):
    site: SkillSite
    physical: str
    owner: str
    references: tuple[FileSource, ...]


def skills(reader: TreeReader, picks: tuple[tuple[SkillPick, str], ...], taken: Mapping[str, str]) -> ResolvedSkills:
    """Resolve the picks of a loadout.

    `taken` maps physical paths to flat names that are already in use.
    """
    problems: list[Problem] = []
    notices: list[Notice] = []
    chosen: dict[str, _Pick] = {}
    for pick, owner in picks:
        site = _site(reader, pick, owner, notices)
        if site:
            entry = reader.entry(site.layer, site.path)
            physical = entry.target if entry else site.path
            before = chosen.get(physical)
            references = tuple(dict.fromkeys((*(before.references if before else ()), *pick.references)))
            chosen[physical] = _Pick(site, physical, before.owner if before else owner, references)
    names = _flat_names(list(chosen.values()), taken)
    made = [_skill(reader, pick, names[pick.physical], problems, notices) for pick in chosen.values()]
    return ResolvedSkills(tuple(skill for skill in made if skill), names, tuple(problems), tuple(notices))


def where(place: Place) -> str:
    """A place as a message begins with it."""
    line = f"{place.path}:{place.at.line}" if place.at.line else place.path
    return f"{line}: {place.key}" if place.key else line


def _site(reader: TreeReader, pick: SkillPick, owner: str, notices: list[Notice]) -> SkillSite | None:
    found = resolve(reader, pick.slug, owner)
    if found.site is None:
        message, hint = why_missing(reader, pick.slug, owner)
        notices.append(Notice("warning", "skill-missing", f"{where(pick.place)}: {message}", hint))
        return None
    if found.hidden:
        place = reader.place(found.site.layer, found.site.manifest)
        notices.append(Notice("notice", "skill-off", f"skill {pick.slug!r} is switched off ({place})"))
        return None
    if found.rivals:
        text = f"{where(pick.place)}: {pick.slug!r} could be {' or '.join(found.rivals)}; {found.rivals[0]} is used"
        notices.append(Notice("warning", "skill-ambiguous", text, "write the longer name"))
    return found.site


def _flat_names(picks: list[_Pick], taken: Mapping[str, str]) -> dict[str, str]:
    """Return one name for each directory: its last part.

    If two collide: the category's spelling, then the declaring agent's.
    """
    names = {pick.physical: taken[pick.physical] for pick in picks if pick.physical in taken}
    used = set(taken.values())
    leaves = [pick.site.leaf for pick in picks]
    for pick in reversed(picks):
        if pick.physical in names:
            continue
        leaf, flat = pick.site.leaf, pick.site.qualified.replace("/.", "-").replace("/", "-").lstrip(".")
        base = [leaf, flat] if leaves.count(leaf) == 1 or flat == leaf else [flat]
        more = [f"{pick.owner}-{flat}"] if pick.owner else []
        numbered = (f"{flat}-{number}" for number in range(2, len(picks) + len(used) + 3))
        name = next(name for name in (*base, *more, *numbered) if name not in used)
        used.add(name)
        names[pick.physical] = name
    return names


def skill_of(reader: TreeReader, site: SkillSite) -> Skill | None:
    """One skill as its tree defines it, under its own name; None where its manifest cannot be read."""
    entry = reader.entry(site.layer, site.path)
    return _skill(reader, _Pick(site, entry.target if entry else site.path, "", ()), site.leaf, [], [])


def _skill(reader: TreeReader, pick: _Pick, name: str, problems: list[Problem], notices: list[Notice]) -> Skill | None:
    from outfitter.catalog.skill_files import gather, manifest

    document = reader.document(pick.site.layer, pick.site.manifest, "markdown")
    if document is None:
        return None
    problems += document.problems
    notices += document.notices
    if document.problems:
        return None
    gathered = gather(reader, pick.site, document, pick.references)
    problems += gathered.problems
    notices += gathered.notices
    for part in (*gathered.files, *gathered.extras):
        reader.digest(part.source)
    description = _description(document)
    if not description:
        text = f"{document.path}: no description; programs drop a skill without one"
        notices.append(Notice("warning", "skill-description", text))
    return Skill(
        id=name,
        source=pick.physical,
        manifest=manifest(name, document),
        description=description,
        layer=reader.layer(pick.site.layer).label,
        agent=pick.owner,
        files=gathered.files,
        extras=gathered.extras,
    )


def _description(document: Document) -> str:
    value = document.value.get("description") if isinstance(document.value, Mapping) else None
    if isinstance(value, list):
        return ", ".join(map(str, value)).strip()
    return str(value).strip() if value is not None else ""
