"""Which agent a command means, and what to say where there is none to choose (spec/15 V18 and V32, spec/80)."""

from __future__ import annotations

from functools import partial

from returns.result import Failure, Success

from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.skills import sites_in
from outfitter.catalog.tree_reader import Demand
from outfitter.model.errors import CompositionFailed, LaunchError
from outfitter.model.settings import Settings
from outfitter.railway import Outcome


def chosen_name(demand: Demand, settings: Settings, asked: str | None) -> Outcome[str]:
    """The id asked for, else `default_agent`; without both an error that names the agents there are."""
    name = asked or settings.values.get("default_agent")
    if isinstance(name, str) and name:
        return Success(name)
    known = list(sites(demand))
    if not known:
        return Failure(_no_agents(demand, "no agent was named"))
    from outfitter.model.wording import listed

    message = "no agent was named, and no default_agent is set"
    return Failure(CompositionFailed(message, f"outfitter run AGENT; agents: {listed(known)}"))


def runnable(demand: Demand, settings: Settings, asked: str | None) -> Outcome[Agent]:
    """The agent to run. Errors: none named, none found (with the nearest ids), abstract, or switched off."""
    chosen = chosen_name(demand, settings, asked).alt(partial(_for_want_of_a_tree, demand))
    return chosen.bind(lambda name: _runnable(demand, settings, asked, name))


def _runnable(demand: Demand, settings: Settings, asked: str | None, name: str) -> Outcome[Agent]:
    found = agent(demand, name)
    if found is None and demand.wants:
        return Failure(CompositionFailed(f"agent {name!r} is not read yet"))
    if found is None:
        return Failure(_not_found(demand, settings, asked, name))
    if not found.enabled:
        return Failure(CompositionFailed(f"agent {found.id!r} is switched off (enabled: false in {found.place.path})"))
    if found.abstract:
        from outfitter.model.wording import listed

        children = _children(demand, found.id)
        hint = f"agents that inherit it: {listed(children)}" if children else "write an agent that inherits it"
        return Failure(CompositionFailed(f"agent {found.id!r} is abstract: it is there to be inherited, not run", hint))
    return Success(found)


def _not_found(demand: Demand, settings: Settings, asked: str | None, name: str) -> CompositionFailed:
    from outfitter.model.wording import did_you_mean, listed

    known = list(sites(demand))
    origin = settings.origins.get(("default_agent",))
    source = "" if asked or origin is None else f" (default_agent in {origin.path}:{origin.at.line})"
    message = f"agent {name!r} not found{source}"
    passed = _passed_over(demand, name)
    if passed[0]:
        return CompositionFailed(f"{message}: {passed[0]}", passed[1])
    if unsynchronized(demand):
        near = did_you_mean(name, known)
        return CompositionFailed(message, f"{near} else {unsynchronized(demand)}".removeprefix(" else "))
    if not known:
        return _no_agents(demand, message)
    return CompositionFailed(message, did_you_mean(name, known, f"agents: {listed(known)}"))


def _passed_over(demand: Demand, name: str) -> tuple[str, str]:
    """What stands where this agent would, why it is none, and what to do; ("", "") where nothing does."""
    from outfitter.catalog.layer_warnings import layer_notices

    for notice in layer_notices(demand):
        for tree in demand.trees:
            place = f"{tree.root}/agents/{name}"
            if notice.message.startswith((f"{place}/agent.md ", f"{place}/AGENT.md ", f"{place}.md ", f"{place} ")):
                return notice.message, notice.hint
    for layer, tree in enumerate(demand.trees):
        if demand.is_folder(layer, f"agents/{name}"):
            return (
                f"{tree.root}/agents/{name} holds no agent.md",
                "write one: it begins with front matter, its body says who the agent is",
            )
    return _unusable(demand), "mend it, or move it out of the way"


def _unusable(demand: Demand) -> str:
    """Why the project's tree is none, "" if it is one, or if there is none."""
    return next((notice.message for notice in demand.layers.notices if notice.code == "tree-unusable"), "")


def _for_want_of_a_tree(demand: Demand, error: LaunchError) -> LaunchError:
    why = _unusable(demand)
    if not why or not isinstance(error, CompositionFailed):
        return error
    return CompositionFailed(f"{error.message.partition(':')[0]}: {why}", "mend it, or move it out of the way")


def unsynchronized(demand: Demand) -> str:
    """A hint that names the first of the sources never fetched, "" where there are none."""
    missing = (notice.message for notice in demand.layers.notices if notice.code == "source-unsynced")
    return next((f"outfitter sync ({message})" for message in missing), "")


def _no_agents(demand: Demand, message: str) -> CompositionFailed:
    skills = {site.leaf for layer in range(len(demand.trees)) for site in sites_in(demand, layer, "skills")}
    if skills:
        from outfitter.model.wording import counted

        text = f"{message}: `.agents` has {counted(len(skills), 'skill')} and no agent"
        return CompositionFailed(text, "`outfitter setup` writes one, `outfitter list skills` shows them")
    where = ", ".join(tree.root for tree in demand.trees) or ".agents"
    return CompositionFailed(f"{message}: there is no agent in {where}", "`outfitter setup` writes a first one")


def _children(demand: Demand, parent: str) -> list[str]:
    """Runnable agents whose line holds `parent`."""
    inherits: dict[str, tuple[str, ...]] = {}
    concrete: list[str] = []
    for name in sites(demand):
        found = agent(demand, name)
        if found:
            inherits[name] = tuple(slug for slug, _ in found.inherits)
            concrete += [name] if found.enabled and not found.abstract else []
    return [name for name in concrete if parent in _ancestors(inherits, name)]


def _ancestors(inherits: dict[str, tuple[str, ...]], name: str) -> set[str]:
    seen: set[str] = set()
    waiting = [name]
    for here in waiting:
        new = [parent for parent in inherits.get(here, ()) if parent not in seen]
        seen.update(new)
        waiting += new
    return seen
