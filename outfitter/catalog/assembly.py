"""The composition of one agent, put together from its closure, models and servers (spec/30)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve
from returns.result import Failure, Success

from outfitter.catalog import models, native, server_selection
from outfitter.catalog.agent_lookup import runnable, unsynchronized
from outfitter.catalog.closure import Closure, Sub, closure, extension_files
from outfitter.catalog.digest import composition_digest
from outfitter.catalog.inheritance import Loadout
from outfitter.catalog.layer_warnings import layer_notices
from outfitter.catalog.skills import visible
from outfitter.catalog.tree_reader import Demand
from outfitter.model.composition import Composition, ModelTarget, Overlay, Subagent, VisibleSkill
from outfitter.model.errors import CompositionFailed
from outfitter.model.layers import Layers
from outfitter.model.request import Notice, Problem
from outfitter.model.settings import Settings
from outfitter.railway import Outcome

MISSES = ("skill-missing", "server-missing", "subagent-missing")


def assemble(layers: Layers, settings: Settings, asked: str | None, env: Mapping[str, str]) -> Outcome[Composition]:
    """Compose the agent `asked` for (else `default_agent`); `env` is what the child will inherit."""
    return assemble_from(Demand(layers), settings, asked, env)


def assemble_from(
    demand: Demand, settings: Settings, asked: str | None, env: Mapping[str, str]
) -> Outcome[Composition]:
    """The same over layers that many compositions share, so that what they have in common is found once."""

    def reached(name: str) -> Outcome[Composition]:
        found = closure(demand, settings, name)
        return Failure(found.error) if found.error else _composed(demand, settings, found, env)

    return runnable(demand, settings, asked).bind(lambda found: reached(found.id))


def needs(layers: Layers, settings: Settings, asked: str | None, before: Demand | None = None) -> Demand:
    """What composing that agent would still have to read; on the way to an error, what a good message needs."""
    demand = Demand(layers, before)
    found = runnable(demand, settings, asked)
    found.map(lambda one: _walk(demand, settings, one.id))
    if not demand.wants:
        layer_notices(demand)
        visible(demand)
    return demand


def _walk(demand: Demand, settings: Settings, name: str) -> None:
    found = closure(demand, settings, name)
    extension_files(demand, found.chosen)
    if not demand.wants:
        server_selection.select(demand, found.chosen.mcp, found.chosen.disabled_servers)


def registry_of(demand: Demand) -> models.Registry:
    """The effective registry of the layers."""
    if "registry" not in demand.memo:
        demand.memo["registry"] = models.registry(demand.trees)
    found: models.Registry = demand.memo["registry"]
    return found


def _composed(demand: Demand, settings: Settings, found: Closure, env: Mapping[str, str]) -> Outcome[Composition]:
    registry = registry_of(demand)
    selected = server_selection.select(demand, found.chosen.mcp, found.chosen.disabled_servers)
    extensions, wrong, extension_digests = extension_files(demand, found.chosen)
    problems = tuple(dict.fromkeys((*found.problems, *registry.problems, *selected.problems, *wrong)))
    if problems:
        return Failure(CompositionFailed("", problems=problems))
    missed = _unsynchronized(demand, (*found.notices, *selected.notices))
    if missed:
        return Failure(missed)
    child = {**env, **_environment(found.chosen)}
    last = found.line[-1]

    def finished(choices: tuple[models.Selection, ...]) -> Composition:
        notices = (
            *layer_notices(demand),
            *found.notices,
            *_main(found),
            *selected.notices,
            *registry.notices,
            *(notice for choice in choices for notice in choice.notices),
        )
        made = Composition(
            agent=last.id,
            label=last.label,
            description=last.description,
            chain=tuple(one.id for one in found.line),
            fragments=found.identity.fragments,
            skills=found.skills,
            subagents=tuple(
                _subagent(demand, found, sub, choice.target)
                for sub, choice in zip(found.subagents, choices[1:], strict=True)
            ),
            commands=found.visible.commands,
            knowledge=found.visible.knowledge,
            servers=selected.servers,
            model=choices[0].target,
            registry={"providers": registry.providers} if registry.configured else {},
            thinking=found.chosen.thinking,
            tools=found.chosen.tools,
            extensions=extensions,
            plugins=found.chosen.plugins,
            prompt_template=next(iter(found.template.fragments), None),
            controls=found.chosen.controls.generic,
            harness_controls=found.chosen.controls.harness,
            job_roots=tuple(native.job_root(demand, folder) for folder in found.jobs),
            overlays=tuple(
                Overlay(
                    file.entry.target,
                    file.path,
                    demand.content(file.entry.target),
                    file.entry.executable,
                    demand.layer(file.layer).label,
                )
                for file in found.overlay.files
            ),
            visible_skills=_visible(demand, found),
            digest="",
            notices=tuple(dict.fromkeys(notices)),
        )
        return evolve(made, digest=composition_digest(made, extension_digests, _jobs(demand, found), demand.digest))

    words = (found.chosen.model, *(sub.chosen.model for sub in found.subagents))
    names = (last.id, *(sub.agent.id for sub in found.subagents))
    return _selections(words, names, registry, settings, child).map(finished)


def _unsynchronized(demand: Demand, notices: tuple[Notice, ...]) -> CompositionFailed | None:
    """What a loadout names in vain is an error where a source that may hold it was never fetched (spec/10)."""
    missed = [notice for notice in notices if notice.code in MISSES]
    if not missed or not unsynchronized(demand):
        return None
    return CompositionFailed("; ".join(notice.message for notice in missed), unsynchronized(demand))


def _selections(
    words: tuple[str, ...],
    names: tuple[str, ...],
    registry: models.Registry,
    settings: Settings,
    env: Mapping[str, str],
) -> Outcome[tuple[models.Selection, ...]]:
    total: Outcome[tuple[models.Selection, ...]] = Success(())
    for word, name in zip(words, names, strict=True):
        choice = models.select(word or None, registry, settings, env, name)
        total = total.bind(lambda done, choice=choice: choice.map(lambda one: (*done, one)))  # type: ignore[misc]
    return total


def _environment(chosen: Loadout) -> dict[str, str]:
    """Variables that any of the agent's controls set: which block holds is the adapter's to say."""
    blocks = (chosen.controls.generic, *chosen.controls.harness.values())
    return {name: value for block in blocks for name, value in block.environment.items()}


def _jobs(demand: Demand, found: Closure) -> list[tuple[str, str, str]]:
    """What DeepWork jobs hold, for the digest: owner, path below its folder, content; wherever the folders lie."""
    rows = native.job_files(demand, found.jobs)
    return sorted((owner, path, demand.digest(entry.target)) for owner, path, entry in rows)


def _main(found: Closure) -> tuple[Notice, ...]:
    last = found.line[-1]
    if last.main:
        return ()
    return (Notice("warning", "not-a-main-agent", f"{last.place.path}: mainAgent: false; it is meant as a subagent"),)


def _subagent(demand: Demand, found: Closure, sub: Sub, target: ModelTarget | None) -> Subagent:
    led = {skill.id for skill in found.skills}
    return Subagent(
        id=sub.agent.id,
        description=sub.agent.description or sub.agent.label,
        body="\n".join(fragment.content for fragment in sub.identity.fragments),
        tools=sub.tools,
        model=target,
        thinking=sub.chosen.thinking,
        skills=tuple(skill.id for skill in sub.skills),
        path=sub.agent.place.path,
        layer=demand.layer(sub.agent.layer).label,
        resolved=tuple(skill for skill in sub.skills if skill.id not in led),
    )


def _visible(demand: Demand, found: Closure) -> tuple[VisibleSkill, ...]:
    chosen = {skill.source for skill in found.skills}
    made = []
    for site in visible(demand):
        entry = demand.entry(site.layer, site.path)
        tree = demand.layer(site.layer)
        if entry and tree.kind in ("home", "project"):
            manifest = demand.place(site.layer, site.manifest)
            kind = "home" if tree.kind == "home" else "project"
            made.append(VisibleSkill(site.leaf, manifest, entry.target, kind, entry.target in chosen))  # type: ignore[arg-type]
    return tuple(made)


def problems_of(found: Closure) -> tuple[Problem, ...]:
    """Everything wrong in a closure, its error included."""
    return (*found.problems, *(found.error.problems if found.error else ()))
