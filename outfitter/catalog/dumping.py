"""One agent's closure as the files of a plain `.agents` tree that composes to the same digest (spec/30). Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.catalog import native
from outfitter.catalog.agents import agent
from outfitter.catalog.closure import Closure, closure, default_loadout
from outfitter.catalog.demand import Demand
from outfitter.catalog.dump_overlay import overlays
from outfitter.catalog.dump_text import agent_text, json_text, plain_text, server_map
from outfitter.catalog.dump_writer import Dump, Writer
from outfitter.catalog.fields import SkillPick
from outfitter.catalog.lineage import Loadout, lineage
from outfitter.catalog.skills import resolve
from outfitter.model.composition import Composition, Fragment
from outfitter.model.settings import Settings


def dump_agent(demand: Demand, settings: Settings, made: Composition) -> Dump:
    """The closure of a composed agent: its line and subagents, private skills flattened, everything that it reaches."""
    writer = Writer(demand)
    found = closure(demand, settings, made.agent)
    below = overlays(writer, found.overlay.files)
    _agents(writer, settings, found, made, below)
    for skill in (*made.skills, *(skill for one in made.subagents for skill in one.resolved)):
        writer.skill(f"skills/{skill.id}", skill)
    for fragment in made.fragments:
        if not fragment.agent and fragment.kind in ("system", "context"):
            name = "system-prompt.md" if fragment.kind == "system" else "agents.md"
            writer.write(name, plain_text(fragment.content))
    for command in made.commands:
        writer.write(f"commands/{command.id}.md", command.text.encode("utf-8", "surrogateescape"))
    writer.servers("mcp.json", *server_map(made.servers))
    if made.registry:
        writer.write("models.json", json_text(made.registry))
    _knowledge(writer, found)
    for owner, path, entry in native.job_files(demand, found.jobs):
        base = f"agents/{owner}/deepwork/jobs" if owner else "deepwork/jobs"
        writer.copy(f"{base}/{path}", entry.target, entry.executable)
    return writer.done(_record(demand, made))


def _agents(
    writer: Writer, settings: Settings, found: Closure, made: Composition, below: Mapping[str, list[str]]
) -> None:
    names = {skill.source: skill.id for skill in made.skills}
    names.update({skill.source: skill.id for one in made.subagents for skill in one.resolved})
    defaults = default_loadout(settings)
    lines = [found.line, *(lineage(writer.demand, sub.agent.id)[0] for sub in found.subagents)]
    roots = {line[0].id for line in lines if line}
    servers = {server.id for server in made.servers}
    for one in {one.id: one for line in lines for one in line}.values():
        first = defaults if one.id in roots else Loadout()
        changed = {
            "inherits": [
                *canonical(writer.demand, (name for name, _ in one.inherits)),
                *below.get(one.id, ()),
            ],
            "skills": _skills(writer.demand, (*first.skills, *((pick, one.id) for pick in one.skills)), names),
            "subagents": canonical(
                writer.demand, (*(n.id for n in first.subagents), *(name for name, _ in one.subagents))
            ),
            "mcp": [name for name in _ids((*(n.id for n in first.mcp), *(n for n, _ in one.mcp))) if name in servers],
            "extensions": [
                word
                for extension in (*first.extensions, *one.extensions)
                if (word := writer.extension(extension)) is not None
            ],
            "plugins": _ids((*first.plugins, *one.plugins)),
            **writer.prompts_of(one),
        }
        writer.write(f"agents/{one.id}/agent.md", agent_text(one, changed))


def canonical(demand: Demand, words: Iterable[str]) -> list[str]:
    """Agents by their folders' names: an `id:` that differs means nothing in a dump (V17)."""
    return _ids(found.id if (found := agent(demand, word)) else word for word in words)


def _ids(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _skills(demand: Demand, picks: Iterable[tuple[SkillPick, str]], names: Mapping[str, str]) -> list[str]:
    """A loadout's skills by their names in the dump; what resolves nowhere keeps its slug, and its warning."""
    words: list[str] = []
    for pick, owner in picks:
        site = resolve(demand, pick.slug, owner).site
        entry = demand.entry(site.layer, site.path) if site else None
        if entry is None:
            words.append(pick.slug)
        elif entry.target in names:
            words.append(names[entry.target])
    return _ids(words)


def _knowledge(writer: Writer, found: Closure) -> None:
    for one in found.visible.knowledge:
        layer, path = _within(writer.demand, one.path)
        entry = writer.demand.entry(layer, path)
        name = posixpath.basename(path)
        if entry and entry.kind == "file":
            writer.copy(f"knowledge/{name}", entry.target, entry.executable)
        for below in writer.demand.below(layer, path) if entry and entry.kind == "directory" else ():
            if below.kind == "file":
                writer.copy(f"knowledge/{name}{below.path[len(path) :]}", below.target, below.executable)


def _within(demand: Demand, place: str) -> tuple[int, str]:
    """The layer and path of an absolute path that `Demand.place` made."""
    for number, tree in enumerate(demand.trees):
        if place.startswith(tree.root + "/"):
            return number, place[len(tree.root) + 1 :]
    return 0, place


def _record(demand: Demand, made: Composition) -> dict[str, Any]:
    return {
        "agent": made.agent,
        "digest": made.digest,
        "chain": list(made.chain),
        "fragments": [fragment_record(demand, fragment) for fragment in made.fragments],
        "skills": [{"id": skill.id, "agent": skill.agent} for skill in made.skills],
    }


def fragment_record(demand: Demand, fragment: Fragment) -> dict[str, Any]:
    """Where a fragment came from, without its content and without a path of this machine."""
    roots = [(tree.kind, tree.root) for tree in demand.trees] + [("repository", demand.layers.project_root)]
    kind, path = next(
        ((kind, fragment.path[len(root) + 1 :]) for kind, root in roots if fragment.path.startswith(root + "/")),
        ("elsewhere", posixpath.basename(fragment.path)),
    )
    return {"kind": fragment.kind, "agent": fragment.agent, "layer": kind, "path": path, "trusted": fragment.trusted}
