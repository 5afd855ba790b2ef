"""Skills, commands and subagents as Claude Code loads them (006.5.20).

In an inherited run they are a plugin, in an isolated one part of the configuration directory. Pure.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from outfitter.adapters.claude.gateway import effort, subagent_model
from outfitter.adapters.claude.tools import subagent_tools
from outfitter.adapters.controls import flat_name, skill_files
from outfitter.model.composition import Command, Composition, Skill, Subagent
from outfitter.model.projection import Copied, Facts, Generated
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

MANIFEST = ".claude-plugin/plugin.json"
KINDS = ("skills", "commands", "agents")
# The project's own server file, and those of the tree that it may be a link to.
SERVER_FILES = (".mcp.json", ".agents/mcp.json", ".agents/mcp_config.json")


class Parts(NamedTuple):
    """Files for the projection, files that the program reads natively, and settings.

    `off` are settings that switch off native skills and servers that are not selected.
    """

    generated: tuple[Generated, ...]
    copied: tuple[Copied, ...] = ()
    native: tuple[str, ...] = ()
    off: Mapping[str, Any] = {}
    notices: tuple[Notice, ...] = ()


def plugin_name(agent: str) -> str:
    """The plugin's name: the agent id with every character outside `[a-z0-9-]` as a dash (spec/40)."""
    return re.sub(r"[^a-z0-9-]", "-", agent)


def manifest(composition: Composition) -> Generated:
    """The file that makes the projection's root a plugin."""
    fields = {
        "name": plugin_name(composition.agent),
        "version": "0.0.0",
        "description": composition.description or f"The agent {composition.agent}",
    }
    return Generated(MANIFEST, json.dumps(fields, indent=2).encode() + b"\n")


def parts(composition: Composition, facts: Facts, inherited: bool) -> Parts:
    """Everything but the prompts."""
    offered = native_skills(facts)
    places = _left_native(composition, offered) if inherited else {}
    subagents = [one for one in composition.subagents if not (inherited and native_subagent(one, facts))]
    servers, ids = native_servers(facts) if inherited else ("", ())
    files = _skill_files(composition, places)
    commands = [Generated(_command_path(c.id), c.text.encode("utf-8", "surrogateescape")) for c in composition.commands]
    agents = [_subagent(composition, subagent, facts.projection) for subagent in subagents]
    manifests = (manifest(composition),) if inherited else ()
    return Parts(
        generated=(*manifests, *(made for made, _ in files), *commands, *(made for made, _ in agents)),
        copied=tuple(copied for _, more in files for copied in more),
        native=(*places.values(), *((servers,) if servers else ())),
        off=_switched_off(composition, {**offered, **_copies(composition, facts)}, places if inherited else None, ids),
        notices=tuple(notice for _, notices in agents for notice in notices),
    )


def native_directories(kind: str, facts: Facts) -> tuple[str, str]:
    """Where the program itself finds skills, commands or agents.

    In the project, and in the user's own directory.
    """
    return posixpath.join(facts.project_root, ".claude", kind), posixpath.join(facts.native, kind)


def copy_listings(facts: Facts) -> tuple[str, ...]:
    """The directories in which the same thing may lie for the program itself and for the tree."""
    trees = (posixpath.join(facts.project_root, ".agents", kind) for kind in KINDS)
    return (*trees, *(place for kind in KINDS for place in native_directories(kind, facts)))


def copy_files(facts: Facts) -> tuple[str, ...]:
    """The program's own files of which the tree has one of the same name: only those can be copies."""
    found: list[str] = []
    for kind in KINDS:
        names = {name.removesuffix(".md") for name in facts.listings.get(f"{facts.project_root}/.agents/{kind}", ())}
        inside = "/SKILL.md" if kind == "skills" else ".md"
        for place in native_directories(kind, facts):
            stems = (name.removesuffix(".md") for name in facts.listings.get(place, ()))
            found += [f"{place}/{stem}{inside}" for stem in stems if stem in names]
    return tuple(found)


def without_native_commands(composition: Composition, facts: Facts) -> Composition:
    """The composition without commands that the program reads by itself.

    They lie in its own directory, or equal one there.
    """
    places = native_directories("commands", facts)

    def is_native(command: Command) -> bool:
        inside = command.path.startswith(tuple(f"{place}/" for place in places))
        texts = (facts.files.get(f"{place}/{command.id}.md") for place in places)
        return inside or command.text.encode("utf-8", "surrogateescape") in texts

    kept = tuple(command for command in composition.commands if not is_native(command))
    return composition if len(kept) == len(composition.commands) else evolve(composition, commands=kept)


def native_subagent(subagent: Subagent, facts: Facts) -> bool:
    """Whether the program has a subagent by itself: its file is the program's own."""
    return subagent.path.startswith(tuple(f"{place}/" for place in native_directories("agents", facts)))


def _copies(composition: Composition, facts: Facts) -> dict[str, str]:
    """Selected skill's folder → the program's own skill with the same manifest.

    An imported skill that was left where it was.
    """
    found: dict[str, str] = {}
    for skill in composition.skills:
        for place in native_directories("skills", facts):
            own = facts.files.get(f"{place}/{flat_name(skill.id)}/SKILL.md")
            if own is not None and own.decode("utf-8", "replace") == skill.manifest:
                found[skill.source] = f"{place}/{flat_name(skill.id)}"
    return found


def _left_native(composition: Composition, offered: Mapping[str, str]) -> dict[str, str]:
    """Map each selected skill that `.claude/skills` already offers to its path there (spec/15 V3).

    Such a skill is not projected again.
    """
    physical = {v.id: v.physical for v in composition.visible_skills if v.selected}
    found: dict[str, str] = {}
    for skill in composition.skills:
        place = offered.get(skill.source) or offered.get(physical.get(skill.id, ""), "")
        if place and posixpath.basename(place) == flat_name(skill.id) and not skill.extras:
            found[skill.id] = place
    return found


def _skill_files(composition: Composition, native: Mapping[str, str]) -> list[tuple[Generated, tuple[Copied, ...]]]:
    """The files of every skill that is brought: the leader's, and those that only subagents have."""
    theirs = {skill.id: skill for subagent in composition.subagents for skill in subagent.resolved}
    return [
        *(skill_files(one, f"skills/{flat_name(one.id)}") for one in composition.skills if one.id not in native),
        *(skill_files(one, _apart(one)) for one in theirs.values()),
    ]


def native_skills(facts: Facts) -> dict[str, str]:
    """Map each physical skill directory to the native path that offers it under its own name."""
    return {physical: place for place, physical in facts.real.items() if posixpath.dirname(place).endswith("/skills")}


def native_servers(facts: Facts) -> tuple[str, tuple[str, ...]]:
    """Return the project's server file and the ids in it, if it is the tree's own (spec/15 V3).

    The program reads all of them by itself.
    """
    place, *trees = (posixpath.join(facts.project_root, name) for name in SERVER_FILES)
    physical = facts.real.get(place)
    if physical is None or physical not in [facts.real.get(tree) for tree in trees]:
        return "", ()
    try:
        document = json.loads((facts.files.get(place) or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    return (place, tuple(servers)) if isinstance(servers, dict) else ("", ())


def native_skill_places(directories: Iterable[str], facts: Facts) -> tuple[str, ...]:
    """Every name in the native skill directories that were listed."""
    return tuple(posixpath.join(place, name) for place in directories for name in facts.listings.get(place, ()))


def _switched_off(
    composition: Composition, offered: Mapping[str, str], left: Mapping[str, str] | None, ids: tuple[str, ...]
) -> Mapping[str, Any]:
    """Return settings that switch off the tree's unselected native skills and servers (spec/15 V3).

    `left` are the selected skills that are left to it, None in a run whose own skills would be switched off with them.
    """
    brought = [skill for skill in composition.skills if skill.id not in (left or {})]
    unselected = [v.physical for v in composition.visible_skills if not v.selected]
    sources = [*unselected, *(skill.source for skill in brought if left is not None)]
    kept = {flat_name(skill.id) for skill in composition.skills if left is None or skill.id in left}
    names = (posixpath.basename(offered[place]) for place in sources if place in offered)
    skills = dict.fromkeys((name for name in names if name not in kept), "off")
    selected = {server.id for server in composition.servers}
    servers = [name for name in ids if name not in selected]
    return {
        **({"skillOverrides": skills} if skills else {}),
        **({"disabledMcpjsonServers": servers} if servers else {}),
    }


def _command_path(name: str) -> str:
    return f"commands/{name.strip('/').removesuffix('.md')}.md"


def _apart(skill: Skill) -> str:
    """Return where to put a skill that only subagents have: `skills/` would offer it to the leader too."""
    return f"subagent-skills/{flat_name(skill.id)}"


def _subagent(composition: Composition, subagent: Subagent, root: str) -> tuple[Generated, tuple[Notice, ...]]:
    """Return a subagent's file. An empty allow list is written too: a missing list means every tool.

    Skills that it shares with its leader are named, the program then puts them before it whole; its own are put there by us,
    in the same form.
    """
    model = subagent_model(composition, subagent)
    level = effort(subagent.thinking, subagent.id, "")
    tools = subagent_tools(subagent.tools, subagent.id, tuple(server.id for server in composition.servers))
    own = {skill.id for skill in subagent.resolved}
    values = {
        "name": subagent.id,
        "description": " ".join(subagent.description.split()) or f"The {subagent.id} agent",
        "tools": None if tools.allow is None else list(tools.allow),
        "disallowedTools": list(tools.deny) or None,
        "model": model.name or None,
        "effort": level.name or None,
        "skills": [flat_name(skill) for skill in subagent.skills if skill not in own] or None,
    }
    # A JSON value is a YAML value: nothing a description may hold breaks out of its line.
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items() if value is not None)
    body = "\n\n".join([subagent.body.strip(), *(_inlined(skill, root) for skill in subagent.resolved)])
    text = f"---\n{''.join(lines)}---\n\n{body}\n"
    made = Generated(f"agents/{flat_name(subagent.id)}.md", text.encode("utf-8", "surrogateescape"))
    return made, (*model.notices, *level.notices, *tools.notices)


def _inlined(skill: Skill, root: str) -> str:
    """A skill's whole text, with the place where its files are."""
    _, fence, body = skill.manifest.removeprefix("---\n").partition("\n---\n")
    text = body if fence else skill.manifest
    return f"# Skill: {skill.id}\n\nBase directory for this skill: {root}/{_apart(skill)}\n\n{text.strip()}"
