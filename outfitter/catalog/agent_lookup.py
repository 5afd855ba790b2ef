"""Which agent a command means, and the error if there is none to run (spec/15 V18 and V32, spec/80)."""

from __future__ import annotations

from returns.result import Failure, Success

from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.skills import sites_in
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.errors import CompositionFailed
from outfitter.model.settings import Settings
from outfitter.railway import Outcome

_FIX_OR_MOVE = "fix it, or move it aside"


def chosen_name(reader: TreeReader, settings: Settings, asked: str | None) -> Outcome[str]:
    """Return the id asked for, else `default_agent`. Without both the error lists the known agents."""
    name = _named(settings, asked)
    return Success(name) if name else Failure(_none_named(reader, unusable_tree=""))


def runnable(reader: TreeReader, settings: Settings, asked: str | None) -> Outcome[Agent]:
    """Return the agent to run. Errors: none named, not found, switched off, abstract."""
    name = _named(settings, asked)
    if not name:
        return Failure(_none_named(reader, _unusable_tree(reader)))
    chosen = agent(reader, name)
    if chosen is None:
        return Failure(_not_found(reader, settings, asked, name))
    if not chosen.enabled:
        return Failure(
            CompositionFailed(f"agent {chosen.id!r} is switched off (enabled: false in {chosen.place.path})")
        )
    if chosen.abstract:
        return Failure(_abstract(reader, chosen.id))
    return Success(chosen)


def unsynchronized(reader: TreeReader) -> str:
    """Return a hint that names the first source that was never fetched, "" if all were."""
    messages = (notice.message for notice in reader.layers.notices if notice.code == "source-unsynced")
    return next((f"outfitter sync ({message})" for message in messages), "")


def _named(settings: Settings, asked: str | None) -> str:
    name = asked or settings.values.get("default_agent")
    return name if isinstance(name, str) else ""


def _none_named(reader: TreeReader, unusable_tree: str) -> CompositionFailed:
    known = list(sites(reader))
    message = "no agent was named, and no default_agent is set" if known else "no agent was named"
    if unusable_tree:
        return CompositionFailed(f"{message}: {unusable_tree}", _FIX_OR_MOVE)
    if not known:
        return _no_agents(reader, message)
    from outfitter.model.wording import listed

    return CompositionFailed(message, f"outfitter run AGENT; agents: {listed(known)}")


def _abstract(reader: TreeReader, name: str) -> CompositionFailed:
    from outfitter.model.wording import listed

    heirs = _runnable_heirs(reader, name)
    hint = f"agents that inherit it: {listed(heirs)}" if heirs else "write an agent that inherits it"
    return CompositionFailed(f"agent {name!r} is abstract: other agents inherit it, it cannot run itself", hint)


def _not_found(reader: TreeReader, settings: Settings, asked: str | None, name: str) -> CompositionFailed:
    from outfitter.model.wording import did_you_mean, listed

    known = list(sites(reader))
    origin = settings.origins.get(("default_agent",))
    source = "" if asked or origin is None else f" (default_agent in {origin.path}:{origin.at.line})"
    message = f"agent {name!r} not found{source}"
    obstacle, remedy = _obstacle(reader, name)
    if obstacle:
        return CompositionFailed(f"{message}: {obstacle}", remedy)
    fetch = unsynchronized(reader)
    if fetch:
        return CompositionFailed(message, f"{did_you_mean(name, known)} else {fetch}".removeprefix(" else "))
    if not known:
        return _no_agents(reader, message)
    return CompositionFailed(message, did_you_mean(name, known, f"agents: {listed(known)}"))


def _obstacle(reader: TreeReader, name: str) -> tuple[str, str]:
    """What is in this agent's place and cannot be one, and what to do about it; ("", "") if nothing is."""
    from outfitter.catalog.layer_warnings import skipped_entries

    places = (f"agents/{name}/agent.md", f"agents/{name}/AGENT.md", f"agents/{name}.md", f"agents/{name}")
    for skipped in skipped_entries(reader):
        if skipped.path in places:
            return skipped.notice.message, skipped.notice.hint
    for layer, tree in enumerate(reader.trees):
        if reader.is_folder(layer, f"agents/{name}"):
            return (
                f"{tree.root}/agents/{name} has no agent.md",
                "write one: front matter first, then a body that says who the agent is",
            )
    return _unusable_tree(reader), _FIX_OR_MOVE


def _unusable_tree(reader: TreeReader) -> str:
    """Why the project's tree cannot be used, "" if it can, or if there is none."""
    return next((notice.message for notice in reader.layers.notices if notice.code == "tree-unusable"), "")


def _no_agents(reader: TreeReader, message: str) -> CompositionFailed:
    if reader.layers.beside:
        text = f"{message}: there is no agent here; other tools have {reader.layers.beside}"
        return CompositionFailed(text, "`outfitter import` makes an `.agents` tree of them")
    skills = {site.leaf for layer in range(len(reader.trees)) for site in sites_in(reader, layer, "skills")}
    if skills:
        from outfitter.model.wording import counted

        text = f"{message}: `.agents` has {counted(len(skills), 'skill')} and no agent"
        return CompositionFailed(text, "`outfitter setup` writes one, `outfitter list skills` shows them")
    roots = ", ".join(tree.root for tree in reader.trees) or ".agents"
    return CompositionFailed(f"{message}: there is no agent in {roots}", "`outfitter setup` writes a first one")


def _runnable_heirs(reader: TreeReader, ancestor: str) -> list[str]:
    """The ids of enabled, concrete agents that inherit `ancestor`, directly or not."""
    inherits: dict[str, tuple[str, ...]] = {}
    concrete: list[str] = []
    for name in sites(reader):
        known = agent(reader, name)
        if known:
            inherits[name] = tuple(parent for parent, _ in known.inherits)
            concrete += [name] if known.enabled and not known.abstract else []
    return [name for name in concrete if ancestor in _ancestors(inherits, name)]


def _ancestors(inherits: dict[str, tuple[str, ...]], name: str) -> set[str]:
    seen: set[str] = set()
    waiting = [name]
    for current in waiting:
        new = [parent for parent in inherits.get(current, ()) if parent not in seen]
        seen.update(new)
        waiting += new
    return seen
