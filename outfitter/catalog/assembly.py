"""The composition of one agent, put together from its closure, models and servers (spec/30)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve
from blake3 import blake3
from returns.result import Failure, Success

from outfitter.catalog import mcp, models, native
from outfitter.catalog.agent_lookup import runnable, unsynchronized
from outfitter.catalog.closure import Closure, ResolvedSubagent, closure, extension_files
from outfitter.catalog.inheritance import Loadout
from outfitter.catalog.layer_warnings import layer_notices
from outfitter.catalog.limits import effective
from outfitter.catalog.native import is_pi_state
from outfitter.catalog.skills import visible
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Composition, Controls, ModelTarget, Overlay, Skill, Subagent, VisibleSkill
from outfitter.model.errors import CompositionFailed
from outfitter.model.request import Notice, Problem
from outfitter.model.settings import Settings
from outfitter.railway import Outcome, fold

MISSES = ("skill-missing", "server-missing", "subagent-missing")


def assemble(reader: TreeReader, settings: Settings, asked: str | None, env: Mapping[str, str]) -> Outcome[Composition]:
    """Compose the agent `asked` for (else `default_agent`); `env` is what the child will inherit."""

    def reached(name: str) -> Outcome[Composition]:
        found = closure(reader, settings, name)
        return Failure(found.error) if found.error else _composed(reader, settings, found, env)

    return runnable(reader, settings, asked).bind(lambda found: reached(found.id))


def read_agent(reader: TreeReader, settings: Settings, asked: str | None) -> None:
    """Read what composing that agent needs; if there is no such agent, what a good message needs."""
    runnable(reader, settings, asked).map(lambda found: _read_closure(reader, settings, found.id))
    layer_notices(reader)
    visible(reader)


def lacks(reader: TreeReader, settings: Settings, asked: str | None) -> bool:
    """Whether the agent asked for, a parent of it, or something that it selects is found in no layer."""

    def reached(name: str) -> bool:
        found = closure(reader, settings, name)
        selected = mcp.select(reader, found.chosen.mcp, found.chosen.disabled_servers)
        return bool(found.error) or any(one.code in MISSES for one in (*found.notices, *selected.notices))

    return fold(runnable(reader, settings, asked), lambda found: reached(found.id), lambda _: True)


def _read_closure(reader: TreeReader, settings: Settings, name: str) -> None:
    found = closure(reader, settings, name)
    extension_files(reader, found.chosen)
    mcp.select(reader, found.chosen.mcp, found.chosen.disabled_servers)


def registry_of(reader: TreeReader) -> models.Registry:
    """The effective registry of the layers."""
    return reader.cached("registry", lambda: models.registry(reader.trees))


def _composed(reader: TreeReader, settings: Settings, found: Closure, env: Mapping[str, str]) -> Outcome[Composition]:
    registry = reader.cached("granted registry", lambda: models.withheld(registry_of(reader), reader.trees, settings))
    selected = mcp.select(reader, found.chosen.mcp, found.chosen.disabled_servers)
    extensions, wrong, extension_digests = extension_files(reader, found.chosen)
    problems = tuple(dict.fromkeys((*found.problems, *registry.problems, *selected.problems, *wrong)))
    if problems:
        return Failure(CompositionFailed("", problems=problems))
    missed = _unsynchronized(reader, (*found.notices, *selected.notices))
    if missed:
        return Failure(missed)
    child = {**env, **_environment(found.chosen)}
    last = found.line[-1]

    def finished(choices: tuple[models.ModelSelection, ...]) -> Composition:
        notices = (
            *layer_notices(reader),
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
                _subagent(reader, found, sub, choice.target)
                for sub, choice in zip(found.subagents, choices[1:], strict=True)
            ),
            commands=found.visible.commands,
            knowledge=found.visible.knowledge,
            servers=selected.servers,
            model=choices[0].target,
            registry={"providers": registry.providers} if registry.configured else {},
            foreign_hosts=registry.hosts,
            thinking=found.chosen.thinking,
            tools=effective(found.chosen.tools),
            extensions=extensions,
            plugins=found.chosen.plugins,
            prompt_template=next(iter(found.template.fragments), None),
            controls=found.chosen.controls.generic,
            harness_controls=found.chosen.controls.harness,
            job_roots=tuple(native.job_root(reader, folder) for folder in found.jobs),
            overlays=tuple(
                Overlay(
                    file.entry.target,
                    file.path,
                    reader.content(file.entry.target),
                    file.entry.executable,
                    reader.layer(file.layer).label,
                )
                for file in found.overlay.files
            ),
            visible_skills=_visible(reader, found),
            digest="",
            notices=tuple(dict.fromkeys(notices)),
        )
        return evolve(made, digest=composition_digest(made, extension_digests, _jobs(reader, found), reader.digest))

    words = (found.chosen.model, *(sub.chosen.model for sub in found.subagents))
    names = (last.id, *(sub.agent.id for sub in found.subagents))
    return _selections(words, names, registry, child).map(finished)


def _unsynchronized(reader: TreeReader, notices: tuple[Notice, ...]) -> CompositionFailed | None:
    """Return an error if something is missing that a source never fetched may contain (spec/10)."""
    missed = [notice for notice in notices if notice.code in MISSES]
    if not missed or not unsynchronized(reader):
        return None
    return CompositionFailed("; ".join(notice.message for notice in missed), unsynchronized(reader))


def _selections(
    words: tuple[str, ...],
    names: tuple[str, ...],
    registry: models.Registry,
    env: Mapping[str, str],
) -> Outcome[tuple[models.ModelSelection, ...]]:
    total: Outcome[tuple[models.ModelSelection, ...]] = Success(())
    for word, name in zip(words, names, strict=True):
        choice = models.select(word or None, registry, env, name)
        total = total.bind(lambda done, choice=choice: choice.map(lambda one: (*done, one)))  # type: ignore[misc]
    return total


def _environment(chosen: Loadout) -> dict[str, str]:
    """Variables that any of the agent's controls set: which block holds is the adapter's to say."""
    blocks = (chosen.controls.generic, *chosen.controls.harness.values())
    return {name: value for block in blocks for name, value in block.environment.items()}


def _jobs(reader: TreeReader, found: Closure) -> list[tuple[str, str, str]]:
    """Return what the digest says of DeepWork jobs: owner, path below its folder, content.

    It does not depend on where the folders are.
    """
    rows = native.job_files(reader, found.jobs)
    return sorted((owner, path, reader.digest(entry.target)) for owner, path, entry in rows)


def _main(found: Closure) -> tuple[Notice, ...]:
    last = found.line[-1]
    if last.main:
        return ()
    return (Notice("warning", "not-a-main-agent", f"{last.place.path}: mainAgent: false; it is meant as a subagent"),)


def _subagent(reader: TreeReader, found: Closure, sub: ResolvedSubagent, target: ModelTarget | None) -> Subagent:
    led = {skill.id for skill in found.skills}
    return Subagent(
        id=sub.agent.id,
        description=sub.agent.description or sub.agent.label,
        body="\n".join(fragment.content for fragment in sub.identity.fragments),
        tools=effective(sub.tools),
        model=target,
        thinking=sub.chosen.thinking,
        skills=tuple(skill.id for skill in sub.skills),
        path=sub.agent.place.path,
        layer=reader.layer(sub.agent.layer).label,
        resolved=tuple(skill for skill in sub.skills if skill.id not in led),
    )


def _visible(reader: TreeReader, found: Closure) -> tuple[VisibleSkill, ...]:
    chosen = {skill.source for skill in found.skills}
    made = []
    for site in visible(reader):
        entry = reader.entry(site.layer, site.path)
        tree = reader.layer(site.layer)
        if entry and tree.kind in ("home", "project"):
            manifest = reader.place(site.layer, site.manifest)
            kind = "home" if tree.kind == "home" else "project"
            made.append(VisibleSkill(site.leaf, manifest, entry.target, kind, entry.target in chosen))  # type: ignore[arg-type]
    return (*made, *_read_by_codex(reader, found))


def _read_by_codex(reader: TreeReader, found: Closure) -> tuple[VisibleSkill, ...]:
    """Selected skills in Codex's own directories, used in place: Codex lists them by itself."""
    made = []
    for skill in found.skills:
        for tree in reader.trees:
            if tree.tool == "codex" and skill.source.startswith(f"{tree.root}/skills/"):
                kind = "home" if tree.kind == "native-home" else "project"
                made.append(VisibleSkill(skill.id, f"{skill.source}/SKILL.md", skill.source, kind, True))  # type: ignore[arg-type]
    return tuple(made)


def problems_of(found: Closure) -> tuple[Problem, ...]:
    """Everything wrong in a closure, its error included."""
    return (*found.problems, *(found.error.problems if found.error else ()))


FORMAT = 1


def composition_digest(
    composition: Composition,
    extensions: tuple[str, ...],
    jobs: list[tuple[str, str, str]],
    content: Callable[[str], str],
) -> str:
    """BLAKE3 (hex) over a canonical JSON of kinds, ids, contents, order and limits.

    `extensions` and `jobs` stand for the composition's own, with digests in place of paths; `content` gives a copied file's digest.
    """
    made = composition
    value = {
        "format": FORMAT,
        "agent": [made.agent, made.label, made.description],
        "fragments": [[fragment.kind, fragment.content] for fragment in made.fragments],
        "skills": [_skill(skill, content) for skill in made.skills],
        "subagents": [_subagent_form(one, content) for one in made.subagents],
        "commands": [[command.id, command.text] for command in made.commands],
        "servers": [[server.id, server.definition] for server in made.servers],
        "model": _target(made.model),
        "registry": made.registry,
        "thinking": made.thinking,
        "tools": [made.tools.allow, made.tools.deny],
        "extensions": extensions,
        "plugins": made.plugins,
        "prompt_template": made.prompt_template.content if made.prompt_template else None,
        "controls": _controls(made.controls),
        "harness_controls": {name: _controls(block) for name, block in made.harness_controls.items()},
        "jobs": jobs,
        "overlay": [[file.path, file.executable, blake3(file.content).hexdigest()] for file in _laid(made)],
    }
    return blake3(canonical(value).encode()).hexdigest()


def _laid(made: Composition) -> list[Overlay]:
    """Return overlay files by path; several of one path keep their order, in which they are merged."""
    return sorted((file for file in made.overlays if not is_pi_state(file.path)), key=lambda file: file.path)


def canonical(value: Any) -> str:
    """One spelling of a JSON-like value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} in a composition")


def _skill(skill: Skill, content: Callable[[str], str]) -> list[Any]:
    parts = sorted((part.path, part.executable, content(part.source)) for part in (*skill.files, *skill.extras))
    return [skill.id, skill.manifest, parts]


def _subagent_form(one: Subagent, content: Callable[[str], str]) -> list[Any]:
    return [
        one.id,
        one.description,
        one.body,
        [one.tools.allow, one.tools.deny],
        _target(one.model),
        one.thinking,
        one.skills,
        [_skill(skill, content) for skill in one.resolved],
    ]


def _target(target: ModelTarget | None) -> Any:
    return None if target is None else list(target._replace(layer=""))


def _controls(block: Controls) -> list[Any]:
    return [block.environment, block.args, block.session_directory, block.deepwork_jobs, block.extra]
