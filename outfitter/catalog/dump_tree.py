"""The effective tree as the files of one plain `.agents` directory (spec/30).

Every winner is in it, nothing that is shadowed. Pure.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.catalog import mcp, native
from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.assembly import registry_of
from outfitter.catalog.closure import Closure, all_skills, closure, default_loadout
from outfitter.catalog.dump_text import Dump, DumpWriter, agent_text, json_text, plain_text, registry_map, server_map
from outfitter.catalog.fields import FileSource, SkillPick
from outfitter.catalog.inheritance import Loadout, line_of
from outfitter.catalog.native import OverlayFile, is_pi_state
from outfitter.catalog.prompts import CONTEXT, SYSTEM
from outfitter.catalog.skill_files import expand
from outfitter.catalog.skill_resolution import skill_of
from outfitter.catalog.skills import is_off, resolve, winner
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Composition, Fragment
from outfitter.model.settings import Settings


def overlays(writer: DumpWriter, files: tuple[OverlayFile, ...]) -> dict[str, list[str]]:
    """Write each agent's overlay under its own name; gives, by agent, the parents that it must get.

    Files that are merged rather than replaced may stand in several layers of one agent. A tree can hold one of them, so that
    each lower level becomes an abstract parent, in order.
    """
    by_path: dict[str, list[OverlayFile]] = {}
    for file in files:
        if not is_pi_state(file.path):
            by_path.setdefault(file.entry.path, []).append(file)
    parents: dict[str, list[str]] = {}
    for path, several in by_path.items():
        owner = path.split("/")[1]
        _write(writer, path, several[-1])
        for number, file in enumerate(several[:-1], 1):
            name = f"{owner}-below-{number}"
            if name not in parents.setdefault(owner, []):
                parents[owner].append(name)
                writer.write(
                    f"agents/{name}/agent.md", f"---\nname: {json.dumps(name)}\nabstract: true\n---\n".encode()
                )
            _write(writer, f"agents/{name}/pi/{file.path}", file)
    return {owner: sorted(names, key=_number) for owner, names in parents.items()}


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


def _write(writer: DumpWriter, path: str, file: OverlayFile) -> None:
    writer.write(path, writer.reader.content(file.entry.target), file.entry.executable)


SETTINGS = ("default_agent", "agent_defaults")


def dump_tree(reader: TreeReader, settings: Settings) -> Dump:
    """Dump the winning agents, skills, knowledge, commands, servers, providers and jobs.

    A `settings.yml` holds the defaults that agents build on.
    """
    writer = DumpWriter(reader)
    agents = [one for name in sites(reader) if (one := agent(reader, name))]
    for one in agents:
        below = overlays(writer, native.overlay(reader, (one,)).files)
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
    _servers(writer, "mcp.json", "", mcp.servers(reader.trees, ()))
    registry = registry_of(reader)
    if registry.configured:
        providers, refused = registry_map(registry.providers)
        writer.write("models.json", json_text({"providers": providers}))
        writer.left_out("models.json", refused)
    kept = _defaults(reader, settings)
    if kept:
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False, sort_keys=True)}\n" for key, value in kept.items()]
        writer.write("settings.yml", "".join(lines).encode())
    return writer.done({"agents": [one.id for one in agents]})


def _agent(writer: DumpWriter, one: Agent, below: list[str]) -> None:
    changed = {
        "enabled": None if one.enabled else False,
        "inherits": [*canonical(writer.reader, (name for name, _ in one.inherits)), *below],
        "skills": [_pick(writer, one, number, pick.slug, pick.references) for number, pick in enumerate(one.skills, 1)],
        "subagents": canonical(writer.reader, (name for name, _ in one.subagents)),
        "mcp": [name for name, _ in one.mcp],
        "toolConfig": {"disabledServers": list(one.limits.disabled_servers)} if one.limits.disabled_servers else None,
        "extensions": [word for extension in one.extensions if (word := writer.extension(extension)) is not None],
        **writer.prompts_of(one),
    }
    writer.write(f"agents/{one.id}/agent.md", agent_text(one, changed))
    own = mcp.servers(writer.reader.trees, (one.id,))
    _servers(writer, f"agents/{one.id}/mcp.json", f"agents/{one.id}/", own)


def _pick(writer: DumpWriter, one: Agent, number: int, slug: str, references: tuple[FileSource, ...]) -> Any:
    """A loadout's skill; the files that it adds lie under `references/`."""
    slug = _spelled(writer.reader, slug, one.id)
    if not references:
        return slug
    placed: list[dict[str, str]] = []
    for source in references:
        for part in (part for _, parts in expand(writer.reader, source, "references").groups for part in parts):
            path = f"references/{one.id}-{number}/{part.path.partition('/')[2]}"
            writer.copy(path, part.source, part.executable)
            placed.append({"file": path})
    return {"id": slug, "references": placed}


def _spelled(reader: TreeReader, slug: str, owner: str) -> str:
    """A skill's whole spelling: layers that become one must not make a short one ambiguous."""
    site = resolve(reader, slug, owner).site
    return site.qualified if site else slug


def _defaults(reader: TreeReader, settings: Settings) -> dict[str, Any]:
    """The settings that agents build on, skills spelled out."""
    kept = {key: settings.values[key] for key in SETTINGS if settings.values.get(key)}
    skills = [_spelled(reader, pick.slug, "") for pick, _ in default_loadout(settings).skills]
    if skills:
        kept["agent_defaults"] = {**kept["agent_defaults"], "skills": skills}
    return kept


def _servers(writer: DumpWriter, path: str, folder: str, found: mcp.Servers) -> None:
    """The servers that one file of the tree would define; `folder` restricts them to an agent's own.

    What is switched off, or cannot be used, stays so: it must not let a lower definition through.
    """
    roots = tuple(f"{tree.root}/{folder}" for tree in writer.reader.trees)
    own = tuple(server for server in found.by_id.values() if server.path.startswith(roots))
    written, redacted = server_map(own)
    off = {*found.hidden, *(name for name in found.about if name not in found.by_id)}
    written.update({name: {"enabled": False} for name in sorted(off)})
    writer.servers(path, written, redacted)


def _skills(writer: DumpWriter) -> None:
    """Each skill that its spelling still means, with its added files in place."""
    for site in all_skills(writer.reader):
        if winner(writer.reader, site) != site:
            continue
        folder = f"{site.base}/{site.qualified}"
        skill = skill_of(writer.reader, site)
        if skill:
            writer.skill(folder, skill)


def _common(writer: DumpWriter) -> None:
    for name, names in (("system-prompt.md", SYSTEM), ("agents.md", CONTEXT)):
        for layer in range(len(writer.reader.trees)):
            document = next((d for one in names if (d := writer.reader.document(layer, one, "markdown"))), None)
            if document:
                if not is_off(document.value):
                    writer.write(name, plain_text(document.body))
                break


def _folder(writer: DumpWriter, folder: str, whole: bool) -> None:
    """Merge a directory over the layers: by file, or (`whole`) by its direct children.

    Each child then comes from one layer alone.
    """
    taken: set[str] = set()
    for layer in range(len(writer.reader.trees)):
        if not writer.reader.is_folder(layer, folder):
            continue
        names = set()
        for entry in writer.reader.below(layer, folder):
            name = entry.path[len(folder) + 1 :]
            head = name.partition("/")[0] if whole else name.removesuffix(".md")
            names.add(head)
            if entry.kind == "file" and head not in taken:
                writer.copy(entry.path, entry.target, entry.executable)
        taken |= names


def dump_agent(reader: TreeReader, settings: Settings, made: Composition) -> Dump:
    """Dump the closure of a composed agent: its line, subagents and everything it reaches.

    Private skills are flattened.
    """
    writer = DumpWriter(reader)
    found = closure(reader, settings, made.agent)
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
    for owner, path, entry in native.job_files(reader, found.jobs):
        base = f"agents/{owner}/deepwork/jobs" if owner else "deepwork/jobs"
        writer.copy(f"{base}/{path}", entry.target, entry.executable)
    return writer.done(_record(reader, made))


def _agents(
    writer: DumpWriter, settings: Settings, found: Closure, made: Composition, below: Mapping[str, list[str]]
) -> None:
    names = {skill.source: skill.id for skill in made.skills}
    names.update({skill.source: skill.id for one in made.subagents for skill in one.resolved})
    defaults = default_loadout(settings)
    lines = [found.line, *(line_of(writer.reader, sub.agent.id)[0] for sub in found.subagents)]
    roots = {line[0].id for line in lines if line}
    servers = {server.id for server in made.servers}
    for one in {one.id: one for line in lines for one in line}.values():
        first = defaults if one.id in roots else Loadout()
        changed = {
            "inherits": [
                *canonical(writer.reader, (name for name, _ in one.inherits)),
                *below.get(one.id, ()),
            ],
            "skills": _skill_entries(writer.reader, (*first.skills, *((pick, one.id) for pick in one.skills)), names),
            "subagents": canonical(
                writer.reader, (*(n.id for n in first.subagents), *(name for name, _ in one.subagents))
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


def canonical(reader: TreeReader, words: Iterable[str]) -> list[str]:
    """Agents by their folders' names: an `id:` that differs means nothing in a dump (V17)."""
    return _ids(found.id if (found := agent(reader, word)) else word for word in words)


def _ids(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _skill_entries(reader: TreeReader, picks: Iterable[tuple[SkillPick, str]], names: Mapping[str, str]) -> list[str]:
    """Return a loadout's skills by their names in the dump.

    A slug that does not resolve is kept, and so is its warning.
    """
    words: list[str] = []
    for pick, owner in picks:
        site = resolve(reader, pick.slug, owner).site
        entry = reader.entry(site.layer, site.path) if site else None
        if entry is None:
            words.append(pick.slug)
        elif entry.target in names:
            words.append(names[entry.target])
    return _ids(words)


def _knowledge(writer: DumpWriter, found: Closure) -> None:
    for one in found.visible.knowledge:
        layer, path = _within(writer.reader, one.path)
        entry = writer.reader.entry(layer, path)
        name = posixpath.basename(path)
        if entry and entry.kind == "file":
            writer.copy(f"knowledge/{name}", entry.target, entry.executable)
        for below in writer.reader.below(layer, path) if entry and entry.kind == "directory" else ():
            if below.kind == "file":
                writer.copy(f"knowledge/{name}{below.path[len(path) :]}", below.target, below.executable)


def _within(reader: TreeReader, place: str) -> tuple[int, str]:
    """The layer and path of an absolute path that `TreeReader.place` made."""
    for number, tree in enumerate(reader.trees):
        if place.startswith(tree.root + "/"):
            return number, place[len(tree.root) + 1 :]
    return 0, place


def _record(reader: TreeReader, made: Composition) -> dict[str, Any]:
    return {
        "agent": made.agent,
        "digest": made.digest,
        "chain": list(made.chain),
        "fragments": [fragment_record(reader, fragment) for fragment in made.fragments],
        "skills": [{"id": skill.id, "agent": skill.agent} for skill in made.skills],
    }


def fragment_record(reader: TreeReader, fragment: Fragment) -> dict[str, Any]:
    """Where a fragment came from, without its content and without a path of this machine."""
    roots = [(tree.kind, tree.root) for tree in reader.trees] + [("repository", reader.layers.project_root)]
    kind, path = next(
        ((kind, fragment.path[len(root) + 1 :]) for kind, root in roots if fragment.path.startswith(root + "/")),
        ("elsewhere", posixpath.basename(fragment.path)),
    )
    return {"kind": fragment.kind, "agent": fragment.agent, "layer": kind, "path": path, "trusted": fragment.trusted}
