"""Everything that one agent reaches, resolved (spec/30).

Its line, loadout, identity, skills, subagents and native parts. `load_layers` resolves an agent until nothing new is read; `compose` takes the result of that last time.
"""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.catalog import native, prompts
from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.fields import Fields, FileSource, KeyOrigin, SkillPick
from outfitter.catalog.inheritance import Loadout, SelectedId, line_of, loadout
from outfitter.catalog.layer_warnings import layer_notices
from outfitter.catalog.mcp import select
from outfitter.catalog.native import visible
from outfitter.catalog.skill_resolution import ResolvedSkills, skills
from outfitter.catalog.skills import SkillSite, sites_in
from outfitter.catalog.tree_reader import DEEP, TreeReader
from outfitter.model.composition import Skill, Tools
from outfitter.model.errors import CompositionFailed
from outfitter.model.request import Notice, Problem
from outfitter.model.settings import Settings
from outfitter.model.value import NamedTuple

SERVER_FILES = ("mcp.json", "mcp_config.json")


class ResolvedSubagent(NamedTuple):
    """A selected subagent, resolved as far as files go."""

    agent: Agent
    chosen: Loadout
    identity: prompts.PromptFragments
    skills: tuple[Skill, ...]
    tools: Tools


class Closure(NamedTuple):
    """An agent with all it reaches.

    `error` says why there is no such composition; the other fields are then incomplete.
    """

    line: tuple[Agent, ...] = ()
    chosen: Loadout = Loadout()
    identity: prompts.PromptFragments = prompts.PromptFragments((), (), ())
    template: prompts.PromptFragments = prompts.PromptFragments((), (), ())
    skills: tuple[Skill, ...] = ()
    subagents: tuple[ResolvedSubagent, ...] = ()
    overlay: native.Overlaid = native.Overlaid((), ())
    jobs: tuple[native.JobFolder, ...] = ()
    visible: native.Visible = native.Visible((), (), ())
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()
    error: CompositionFailed | None = None


def closure(reader: TreeReader, settings: Settings, name: str) -> Closure:
    """Return one agent's closure; reads every file it needs on the way."""
    return reader.cached(("closure", name), lambda: _closure(reader, settings, name))


def _closure(reader: TreeReader, settings: Settings, name: str) -> Closure:
    _common(reader)
    line, error = line_of(reader, name)
    if error or not line:
        return Closure(line, error=error)
    _own(reader, line)
    defaults = default_loadout(settings)
    chosen = loadout(line, defaults)
    notices: list[Notice] = [notice for one in line for notice in one.notices]
    problems: list[Problem] = [problem for one in line for problem in one.problems]
    own = skills(reader, chosen.skills, {})
    subagents = _subagents(reader, chosen, defaults, own, notices)
    identity, template = prompts.identity(reader, line, chosen), prompts.template(reader, chosen)
    overlay, visible = native.overlay(reader, line), native.visible(reader, line)
    problems += own.problems
    notices += own.notices
    for part in (identity, template, *(sub.identity for sub in subagents)):
        problems += part.problems
        notices += part.notices
    for file in overlay.files:
        reader.content(file.entry.target)
    notices += overlay.notices
    notices += visible.notices
    names = [
        job for block in (chosen.controls.generic, *chosen.controls.harness.values()) for job in block.deepwork_jobs
    ]
    folders = native.job_folders(reader, line, tuple(dict.fromkeys(names)))
    for _, _, entry in native.job_files(reader, folders):
        reader.digest(entry.target)
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


def _common(reader: TreeReader) -> None:
    """What every composition reads of each layer."""
    for layer in range(len(reader.trees)):
        for name in (*SERVER_FILES, "models.json"):
            reader.document(layer, name, "json")


def _own(reader: TreeReader, line: tuple[Agent, ...]) -> None:
    """The private folders of a line, in every layer."""
    for one in line:
        for layer in range(len(reader.trees)):
            if reader.is_folder(layer, f"agents/{one.id}"):
                reader.listed(layer, f"agents/{one.id}", DEEP)
                for name in SERVER_FILES:
                    reader.document(layer, f"agents/{one.id}/{name}", "json")


def default_loadout(settings: Settings) -> Loadout:
    """Return the loadout of `agent_defaults`: lists that come before every agent's own.

    Their slugs resolve in the shared directories.
    """
    values = settings.values.get("agent_defaults")
    if not isinstance(values, Mapping):
        return Loadout()
    origins = {
        path[1]: origin for path, origin in settings.origins.items() if len(path) > 1 and path[0] == "agent_defaults"
    }
    places = {key: KeyOrigin(0, origin.path, {(key,): origin.at}) for key, origin in origins.items()}
    fields = Fields(values, places, KeyOrigin(0, "", {}))
    return Loadout(
        skills=tuple((SkillPick(word, place), "") for word, place in fields.slugs("skills")),
        subagents=tuple(SelectedId(word, "", place) for word, place in fields.slugs("subagents")),
        mcp=tuple(SelectedId(word, "", place) for word, place in fields.slugs("mcp")),
        extensions=fields.words("extensions"),
        plugins=fields.words("plugins"),
    )


def _subagents(
    reader: TreeReader, chosen: Loadout, defaults: Loadout, own: ResolvedSkills, notices: list[Notice]
) -> tuple[ResolvedSubagent, ...]:
    found: list[ResolvedSubagent] = []
    for named in chosen.subagents:
        line, error = line_of(reader, named.id)
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
        _own(reader, line)
        selected = loadout(line, Loadout(skills=defaults.skills))
        loaded = skills(reader, selected.skills, own.names)
        identity = prompts.own_identity(reader, line, selected)
        problems = (*(p for one in line for p in one.problems), *identity.problems, *loaded.problems)
        more = (*(n for one in line for n in one.notices), *identity.notices, *loaded.notices)
        found.append(
            ResolvedSubagent(
                last, selected, identity._replace(problems=problems, notices=more), loaded.skills, selected.tools
            )
        )
    return tuple(found)


def extension_files(
    reader: TreeReader, chosen: Loadout
) -> tuple[tuple[str, ...], tuple[Problem, ...], tuple[str, ...]]:
    """Return extensions as Pi takes them, problems, and each extension's part of the digest.

    `{file: …}` becomes its physical path.
    """
    words: list[str] = []
    problems: list[Problem] = []
    digests: list[str] = []
    for extension in chosen.extensions:
        if not isinstance(extension, FileSource):
            words.append(extension)
            digests.append(extension)
            continue
        found = prompts.locate(reader, extension, "")
        problems += [found.problem] if found.problem else []
        if found.entry:
            words.append(found.entry.target)
            digests.append("file:" + (reader.digest(found.entry.target) if found.entry.kind == "file" else ""))
    return tuple(words), tuple(problems), tuple(digests)


WHOLE = ("agents", "skills", "commands", "knowledge", "deepwork", "rules", "workflows", "hooks", "prompts")
# agents/<id>/skills/<skill>/SKILL.md, and a category between.
PRIVATE_DEPTH = 5


def read_names(reader: TreeReader) -> None:
    """Read what `list` shows: agents and skills with front matter, names of commands and knowledge."""
    _documents(reader, PRIVATE_DEPTH)
    for layer in range(len(reader.trees)):
        for folder in ("commands", "knowledge"):
            reader.is_folder(layer, folder) and reader.listed(layer, folder, DEEP)
    visible(reader, ())
    layer_notices(reader)


def read_all(reader: TreeReader, settings: Settings) -> None:
    """Read every file that a composition of any agent would read, shadowed definitions included."""
    for layer in range(len(reader.trees)):
        for folder in WHOLE:
            reader.is_folder(layer, folder) and reader.listed(layer, folder, DEEP)
    _documents(reader, DEEP)
    layer_notices(reader)
    for name in sites(reader):
        found = closure(reader, settings, name)
        extension_files(reader, found.chosen)
        if not found.error:
            select(reader, found.chosen.mcp, found.chosen.disabled_servers)


def _documents(reader: TreeReader, depth: int) -> None:
    for layer in range(len(reader.trees)):
        if reader.is_folder(layer, "agents"):
            reader.listed(layer, "agents", depth)
        for name in ("mcp.json", "mcp_config.json", "models.json"):
            reader.document(layer, name, "json")
        for name in ("agents.md", "AGENTS.md", "system-prompt.md"):
            reader.document(layer, name, "markdown")
    for name, found in sites(reader).items():
        agent(reader, name)
        for layer in range(len(reader.trees)) if depth == DEEP else ():
            for file in SERVER_FILES:
                reader.document(layer, f"agents/{name}/{file}", "json")
        for site in found:
            reader.document(site.layer, site.path, "markdown")
    for skill in all_skills(reader):
        reader.document(skill.layer, skill.manifest, "markdown")


def all_skills(reader: TreeReader) -> list[SkillSite]:
    """Every skill of every layer: the shared ones, then each agent's own; shadowed ones too."""
    found: list[SkillSite] = []
    for layer in range(len(reader.trees)):
        found += sites_in(reader, layer, "skills")
        for name in reader.children(layer, "agents"):
            if reader.is_folder(layer, f"agents/{name}/skills"):
                found += sites_in(reader, layer, f"agents/{name}/skills")
    return found
