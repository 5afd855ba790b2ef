"""The whole effective tree as the files of one plain `.agents` directory: every winner, nothing shadowed (spec/30). Pure."""

from __future__ import annotations

import json
from typing import Any

from outfitter.catalog import mcp, native
from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.assembly import registry_of
from outfitter.catalog.closure import default_loadout
from outfitter.catalog.demand import Demand
from outfitter.catalog.dump_overlay import overlays
from outfitter.catalog.dump_text import agent_text, json_text, plain_text, registry_map, server_map
from outfitter.catalog.dump_writer import Dump, Writer
from outfitter.catalog.dumping import canonical
from outfitter.catalog.everything import all_skills
from outfitter.catalog.fields import Source
from outfitter.catalog.loading import skill_of
from outfitter.catalog.parts import expand
from outfitter.catalog.prompts import CONTEXT, SYSTEM
from outfitter.catalog.skills import is_off, resolve, winner
from outfitter.model.settings import Settings

SETTINGS = ("default_agent", "agent_defaults")


def dump_tree(demand: Demand, settings: Settings) -> Dump:
    """Winning agents, skills, knowledge, commands, servers, providers, jobs; a `settings.yml` with the defaults that agents build on."""
    writer = Writer(demand)
    agents = [one for name in sites(demand) if (one := agent(demand, name))]
    for one in agents:
        below = overlays(writer, native.overlay(demand, (one,)).files)
        _agent(writer, one, below.get(one.id, []))
    _skills(writer)
    _common(writer)
    for folder in (
        "knowledge",
        "commands",
        *(f"agents/{one.id}/{kind}" for one in agents for kind in ("knowledge", "commands")),
    ):
        _folder(writer, folder, whole=False)
    for folder in ("deepwork/jobs", *(f"agents/{one.id}/deepwork/jobs" for one in agents)):
        _folder(writer, folder, whole=True)
    _servers(writer, "mcp.json", "", mcp.servers(demand.trees, ()))
    registry = registry_of(demand)
    if registry.configured:
        providers, refused = registry_map(registry.providers)
        writer.write("models.json", json_text({"providers": providers}))
        writer.left_out("models.json", refused)
    kept = _defaults(demand, settings)
    if kept:
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False, sort_keys=True)}\n" for key, value in kept.items()]
        writer.write("settings.yml", "".join(lines).encode())
    return writer.done({"agents": [one.id for one in agents]})


def _agent(writer: Writer, one: Agent, below: list[str]) -> None:
    changed = {
        "enabled": None if one.enabled else False,
        "inherits": [*canonical(writer.demand, (name for name, _ in one.inherits)), *below],
        "skills": [_pick(writer, one, number, pick.slug, pick.references) for number, pick in enumerate(one.skills, 1)],
        "subagents": canonical(writer.demand, (name for name, _ in one.subagents)),
        "mcp": [name for name, _ in one.mcp],
        "toolConfig": {"disabledServers": list(one.limits.disabled_servers)} if one.limits.disabled_servers else None,
        "extensions": [word for extension in one.extensions if (word := writer.extension(extension)) is not None],
        **writer.prompts_of(one),
    }
    writer.write(f"agents/{one.id}/agent.md", agent_text(one, changed))
    own = mcp.servers(writer.demand.trees, (one.id,))
    _servers(writer, f"agents/{one.id}/mcp.json", f"agents/{one.id}/", own)


def _pick(writer: Writer, one: Agent, number: int, slug: str, references: tuple[Source, ...]) -> Any:
    """A loadout's skill; the files that it adds lie under `references/`."""
    slug = _spelled(writer.demand, slug, one.id)
    if not references:
        return slug
    placed: list[dict[str, str]] = []
    for source in references:
        for part in (part for _, parts in expand(writer.demand, source, "references").groups for part in parts):
            path = f"references/{one.id}-{number}/{part.path.partition('/')[2]}"
            writer.copy(path, part.source, part.executable)
            placed.append({"file": path})
    return {"id": slug, "references": placed}


def _spelled(demand: Demand, slug: str, owner: str) -> str:
    """A skill's whole spelling: layers that become one must not make a short one ambiguous."""
    site = resolve(demand, slug, owner).site
    return site.qualified if site else slug


def _defaults(demand: Demand, settings: Settings) -> dict[str, Any]:
    """The settings that agents build on, skills spelled out."""
    kept = {key: settings.values[key] for key in SETTINGS if settings.values.get(key)}
    skills = [_spelled(demand, pick.slug, "") for pick, _ in default_loadout(settings).skills]
    if skills:
        kept["agent_defaults"] = {**kept["agent_defaults"], "skills": skills}
    return kept


def _servers(writer: Writer, path: str, folder: str, found: mcp.Servers) -> None:
    """The servers that one file of the tree would define; `folder` restricts them to an agent's own.

    What is switched off, or cannot be used, stays so: it must not let a lower definition through.
    """
    roots = tuple(f"{tree.root}/{folder}" for tree in writer.demand.trees)
    own = tuple(server for server in found.by_id.values() if server.path.startswith(roots))
    written, redacted = server_map(own)
    off = {*found.hidden, *(name for name in found.about if name not in found.by_id)}
    written.update({name: {"enabled": False} for name in sorted(off)})
    writer.servers(path, written, redacted)


def _skills(writer: Writer) -> None:
    """Each skill that its spelling still means, with its added files in place."""
    for site in all_skills(writer.demand):
        if winner(writer.demand, site) != site:
            continue
        folder = f"{site.base}/{site.qualified}"
        skill = skill_of(writer.demand, site)
        if skill:
            writer.skill(folder, skill)


def _common(writer: Writer) -> None:
    for name, names in (("system-prompt.md", SYSTEM), ("agents.md", CONTEXT)):
        for layer in range(len(writer.demand.trees)):
            document = next((d for one in names if (d := writer.demand.document(layer, one, "markdown"))), None)
            if document:
                if not is_off(document.value):
                    writer.write(name, plain_text(document.body))
                break


def _folder(writer: Writer, folder: str, whole: bool) -> None:
    """A folder merged over the layers: by file, or (`whole`) by the names directly in it, each from one layer alone."""
    taken: set[str] = set()
    for layer in range(len(writer.demand.trees)):
        if not writer.demand.is_folder(layer, folder):
            continue
        names = set()
        for entry in writer.demand.below(layer, folder):
            name = entry.path[len(folder) + 1 :]
            head = name.partition("/")[0] if whole else name.removesuffix(".md")
            names.add(head)
            if entry.kind == "file" and head not in taken:
                writer.copy(entry.path, entry.target, entry.executable)
        taken |= names
