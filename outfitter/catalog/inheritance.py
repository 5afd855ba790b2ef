"""Inheritance: an agent's ancestors in order, each once, and what it takes from them.

See spec/10, "Front matter".
"""

from __future__ import annotations

from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.controls import ControlSet, inherited
from outfitter.catalog.fields import FileSource, Place, SkillPick
from outfitter.catalog.limits import union
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Tools
from outfitter.model.errors import CompositionFailed
from outfitter.model.request import Problem
from outfitter.model.value import NamedTuple


class SelectedId(NamedTuple):
    """A selected id with the agent that declared it ("" for `agent_defaults`) and where."""

    id: str
    agent: str
    place: Place


class Loadout(NamedTuple):
    """What a line of agents selects together: unions parents first, the nearest scalar."""

    skills: tuple[tuple[SkillPick, str], ...] = ()
    subagents: tuple[SelectedId, ...] = ()
    mcp: tuple[SelectedId, ...] = ()
    extensions: tuple[str | FileSource, ...] = ()
    plugins: tuple[str, ...] = ()
    model: str = ""
    thinking: str = ""
    tools: Tools = Tools()
    disabled_servers: tuple[str, ...] = ()
    system_prompt: tuple[FileSource, str] | None = None
    prompt_template: tuple[FileSource, str] | None = None
    append: tuple[tuple[FileSource, str], ...] = ()
    controls: ControlSet = ControlSet()


def line_of(reader: TreeReader, name: str) -> tuple[tuple[Agent, ...], CompositionFailed | None]:
    """Return an agent's ancestors and itself, or an error.

    Parents come first, left to right, each once.

    While something is still wanted the line is short and the error means nothing.
    """
    found: dict[str, Agent] = {}
    error = _visit(reader, name, (), found)
    return tuple(found.values()), error


def _visit(
    reader: TreeReader, name: str, trail: tuple[tuple[str, Place], ...], found: dict[str, Agent]
) -> CompositionFailed | None:
    here = agent(reader, name)
    if here is None:
        return _missing(reader, name, trail)
    if here.id in found:
        return None
    if here.id in (step for step, _ in trail):
        return _failed(trail, here.id, "inheritance is circular")
    if trail and not here.enabled:
        return _failed(trail, here.id, f"{here.id!r} is switched off (enabled: false)")
    place = here.place
    for parent, at in here.inherits:
        error = _visit(reader, parent, (*trail, (here.id, at)), found)
        if error:
            return error
    found[here.id] = here._replace(place=place)
    return None


def _missing(reader: TreeReader, name: str, trail: tuple[tuple[str, Place], ...]) -> CompositionFailed:
    from outfitter.model.wording import did_you_mean

    hint = did_you_mean(name, sites(reader))
    if trail:
        return _failed(trail, name, f"parent {name!r} does not exist", hint)
    return CompositionFailed(f"agent {name!r} not found", hint or "see outfitter list agents")


def _failed(trail: tuple[tuple[str, Place], ...], last: str, why: str, hint: str = "") -> CompositionFailed:
    place = trail[-1][1]
    chain = " → ".join((*(name for name, _ in trail), last))
    return CompositionFailed(
        "", problems=(Problem(place.path, f"{why} ({chain})", place.key or "inherits", place.at, hint),)
    )


def loadout(line: tuple[Agent, ...], defaults: Loadout) -> Loadout:
    """Everything a line of agents selects, `defaults` before the first."""
    total = defaults
    for one in line:
        total = Loadout(
            skills=(*total.skills, *((pick, one.id) for pick in one.skills)),
            subagents=_first((*total.subagents, *(SelectedId(name, one.id, at) for name, at in one.subagents))),
            mcp=(*total.mcp, *(SelectedId(name, one.id, at) for name, at in one.mcp)),
            extensions=tuple(dict.fromkeys((*total.extensions, *one.extensions))),
            plugins=tuple(dict.fromkeys((*total.plugins, *one.plugins))),
            model=one.model or total.model,
            thinking=one.thinking or total.thinking,
            tools=union(total.tools, one.limits.tools),
            disabled_servers=(*total.disabled_servers, *one.limits.disabled_servers),
            system_prompt=(one.system_prompt, one.id) if one.system_prompt else total.system_prompt,
            prompt_template=(one.prompt_template, one.id) if one.prompt_template else total.prompt_template,
            append=(*total.append, *((source, one.id) for source in one.append)),
            controls=inherited(total.controls, one.controls),
        )
    return total


def _first(selected: tuple[SelectedId, ...]) -> tuple[SelectedId, ...]:
    """Each id once, where it was selected first."""
    return tuple({name.id: name for name in reversed(selected)}[key] for key in dict.fromkeys(n.id for n in selected))
