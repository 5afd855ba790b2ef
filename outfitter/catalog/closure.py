"""Everything that one agent reaches, resolved: its line, loadout, identity, skills, subagents and native parts (spec/30).

Run again and again while layers are read (`demand.wants` says what is missing), and a last time by `compose`.
"""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.catalog import native, prompts
from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.fields import Fields, Origin, SkillPick, Source
from outfitter.catalog.inheritance import Loadout, Named, lineage, loadout
from outfitter.catalog.layer_warnings import layer_notices
from outfitter.catalog.native import visible
from outfitter.catalog.server_selection import select
from outfitter.catalog.skill_resolution import Loading, skills
from outfitter.catalog.skills import SkillSite, sites_in
from outfitter.catalog.tree_reader import DEEP, Demand
from outfitter.model.composition import Skill, Tools
from outfitter.model.errors import CompositionFailed
from outfitter.model.layers import Layers
from outfitter.model.request import Notice, Problem
from outfitter.model.settings import Settings
from outfitter.model.value import NamedTuple

SERVER_FILES = ("mcp.json", "mcp_config.json")


class Sub(NamedTuple):
    """A selected subagent, resolved as far as files go."""

    agent: Agent
    chosen: Loadout
    identity: prompts.Identity
    skills: tuple[Skill, ...]
    tools: Tools


class Closure(NamedTuple):
    """An agent with all it reaches. `error`: why there is no such composition; the rest is then as far as it got."""

    line: tuple[Agent, ...] = ()
    chosen: Loadout = Loadout()
    identity: prompts.Identity = prompts.Identity((), (), ())
    template: prompts.Identity = prompts.Identity((), (), ())
    skills: tuple[Skill, ...] = ()
    subagents: tuple[Sub, ...] = ()
    overlay: native.Overlaid = native.Overlaid((), ())
    jobs: tuple[native.JobFolder, ...] = ()
    visible: native.Visible = native.Visible((), (), ())
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()
    error: CompositionFailed | None = None


def closure(demand: Demand, settings: Settings, name: str) -> Closure:
    """One agent's closure; asks for every file it needs on the way."""
    _common(demand)
    line, error = lineage(demand, name)
    if error or not line:
        return Closure(line, error=error)
    _own(demand, line)
    defaults = default_loadout(settings)
    chosen = loadout(line, defaults)
    notices: list[Notice] = [notice for one in line for notice in one.notices]
    problems: list[Problem] = [problem for one in line for problem in one.problems]
    own = skills(demand, chosen.skills, {})
    subagents = _subagents(demand, chosen, defaults, own, notices)
    identity, template = prompts.identity(demand, line, chosen), prompts.template(demand, chosen)
    overlay, visible = native.overlay(demand, line), native.visible(demand, line)
    problems += own.problems
    notices += own.notices
    for part in (identity, template, *(sub.identity for sub in subagents)):
        problems += part.problems
        notices += part.notices
    for file in overlay.files:
        demand.content(file.entry.target)
    notices += overlay.notices
    notices += visible.notices
    names = [
        job for block in (chosen.controls.generic, *chosen.controls.harness.values()) for job in block.deepwork_jobs
    ]
    folders = native.job_folders(demand, line, tuple(dict.fromkeys(names)))
    for _, _, entry in native.job_files(demand, folders):
        demand.digest(entry.target)
    return Closure(
        line,
        chosen,
        identity,
        template,
        own.skills,
        subagents,
        overlay,
        folders,
        visible,
        _once(problems),
        _unique(notices),
    )


def _once(problems: list[Problem]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(problems))


def _unique(notices: list[Notice]) -> tuple[Notice, ...]:
    return tuple(dict.fromkeys(notices))


def _common(demand: Demand) -> None:
    """What every composition reads of each layer."""
    for layer in range(len(demand.trees)):
        for name in (*SERVER_FILES, "models.json"):
            demand.document(layer, name, "json")


def _own(demand: Demand, line: tuple[Agent, ...]) -> None:
    """The private folders of a line, in every layer."""
    for one in line:
        for layer in range(len(demand.trees)):
            if demand.is_folder(layer, f"agents/{one.id}"):
                demand.listed(layer, f"agents/{one.id}", DEEP)
                for name in SERVER_FILES:
                    demand.document(layer, f"agents/{one.id}/{name}", "json")


def default_loadout(settings: Settings) -> Loadout:
    """`agent_defaults`: lists that stand before every agent's own; their slugs resolve in the shared folders."""
    values = settings.values.get("agent_defaults")
    if not isinstance(values, Mapping):
        return Loadout()
    origins = {
        path[1]: origin for path, origin in settings.origins.items() if len(path) > 1 and path[0] == "agent_defaults"
    }
    places = {key: Origin(0, origin.path, {(key,): origin.at}) for key, origin in origins.items()}
    fields = Fields(values, places, Origin(0, "", {}))
    return Loadout(
        skills=tuple((SkillPick(word, place), "") for word, place in fields.slugs("skills")),
        subagents=tuple(Named(word, "", place) for word, place in fields.slugs("subagents")),
        mcp=tuple(Named(word, "", place) for word, place in fields.slugs("mcp")),
        extensions=fields.words("extensions"),
        plugins=fields.words("plugins"),
    )


def _subagents(
    demand: Demand, chosen: Loadout, defaults: Loadout, own: Loading, notices: list[Notice]
) -> tuple[Sub, ...]:
    found: list[Sub] = []
    for named in chosen.subagents:
        line, error = lineage(demand, named.id)
        if error or not line:
            where = f"{named.place.path}:{named.place.at.line}" if named.place.at.line else named.place.path
            text = error.message or "; ".join(problem.message for problem in error.problems) if error else "not found"
            notices.append(
                Notice("warning", "subagent-missing", f"{where}: subagents: {text}", error.hint if error else "")
            )
            continue
        last = line[-1]
        if not last.enabled:
            notices.append(
                Notice("notice", "subagent-off", f"subagent {last.id!r} is switched off ({last.place.path})")
            )
            continue
        _own(demand, line)
        selected = loadout(line, Loadout(skills=defaults.skills))
        loaded = skills(demand, selected.skills, own.names)
        identity = prompts.own_identity(demand, line, selected)
        problems = (*(p for one in line for p in one.problems), *identity.problems, *loaded.problems)
        more = (*(n for one in line for n in one.notices), *identity.notices, *loaded.notices)
        found.append(
            Sub(last, selected, identity._replace(problems=problems, notices=more), loaded.skills, selected.tools)
        )
    return tuple(found)


def extension_files(demand: Demand, chosen: Loadout) -> tuple[tuple[str, ...], tuple[Problem, ...], tuple[str, ...]]:
    """Extensions as Pi takes them (`{file: …}` as its physical path), problems, and what each is for the digest."""
    words: list[str] = []
    problems: list[Problem] = []
    digests: list[str] = []
    for extension in chosen.extensions:
        if not isinstance(extension, Source):
            words.append(extension)
            digests.append(extension)
            continue
        found = prompts.locate(demand, extension, "")
        problems += [found.problem] if found.problem else []
        if found.entry:
            words.append(found.entry.target)
            digests.append("file:" + (demand.digest(found.entry.target) if found.entry.kind == "file" else ""))
    return tuple(words), tuple(problems), tuple(digests)


WHOLE = ("agents", "skills", "commands", "knowledge", "deepwork", "rules", "workflows", "hooks", "prompts")
# agents/<id>/skills/<skill>/SKILL.md, and a category between.
PRIVATE_DEPTH = 5


def needs_names(layers: Layers) -> Demand:
    """What `list` shows: every agent and skill with its front matter, the names of commands and knowledge."""
    demand = Demand(layers)
    _documents(demand, PRIVATE_DEPTH)
    for layer in range(len(demand.trees)):
        for folder in ("commands", "knowledge"):
            demand.is_folder(layer, folder) and demand.listed(layer, folder, DEEP)
    visible(demand, ())
    layer_notices(demand)
    return demand


def needs_all(layers: Layers, settings: Settings) -> Demand:
    """Every file of every layer that a composition of any agent would read, shadowed definitions included."""
    demand = Demand(layers)
    for layer in range(len(demand.trees)):
        for folder in WHOLE:
            demand.is_folder(layer, folder) and demand.listed(layer, folder, DEEP)
    _documents(demand, DEEP)
    layer_notices(demand)
    if demand.wants:
        return demand
    for name in sites(demand):
        found = closure(demand, settings, name)
        extension_files(demand, found.chosen)
        if not found.error and not demand.wants:
            select(demand, found.chosen.mcp, found.chosen.disabled_servers)
    return demand


def _documents(demand: Demand, depth: int) -> None:
    for layer in range(len(demand.trees)):
        if demand.is_folder(layer, "agents"):
            demand.listed(layer, "agents", depth)
        for name in ("mcp.json", "mcp_config.json", "models.json"):
            demand.document(layer, name, "json")
        for name in ("agents.md", "AGENTS.md", "system-prompt.md"):
            demand.document(layer, name, "markdown")
    for name, found in sites(demand).items():
        agent(demand, name)
        for layer in range(len(demand.trees)) if depth == DEEP else ():
            for file in SERVER_FILES:
                demand.document(layer, f"agents/{name}/{file}", "json")
        for site in found:
            demand.document(site.layer, site.path, "markdown")
    for skill in all_skills(demand):
        demand.document(skill.layer, skill.manifest, "markdown")


def all_skills(demand: Demand) -> list[SkillSite]:
    """Every skill of every layer: the shared ones, then each agent's own; shadowed ones too."""
    found: list[SkillSite] = []
    for layer in range(len(demand.trees)):
        found += sites_in(demand, layer, "skills")
        for name in demand.children(layer, "agents"):
            if demand.is_folder(layer, f"agents/{name}/skills"):
                found += sites_in(demand, layer, f"agents/{name}/skills")
    return found
