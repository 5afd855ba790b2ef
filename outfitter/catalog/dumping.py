"""One agent's closure as the files of a plain `.agents` tree that composes to the same digest (spec/30). Pure."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from outfitter.catalog import native, prompts
from outfitter.catalog.agents import Agent, agent
from outfitter.catalog.closure import Closure, closure, default_loadout
from outfitter.catalog.demand import Demand
from outfitter.catalog.dump_text import agent_text, json_text, plain_text, server_map
from outfitter.catalog.fields import SkillPick, Source, merged
from outfitter.catalog.lineage import Loadout, lineage
from outfitter.catalog.skills import resolve
from outfitter.model.composition import Composition, Fragment, Skill
from outfitter.model.request import Notice
from outfitter.model.settings import Settings

RECORD = ".outfitter/composition.json"


class DumpFile(NamedTuple):
    """One file of a dump: its bytes, or the file to copy them from."""

    path: str
    content: bytes = b""
    source: str = ""
    executable: bool = False


class Dump(NamedTuple):
    """Everything a dump writes, sorted by path, and what to tell."""

    files: tuple[DumpFile, ...]
    notices: tuple[Notice, ...] = ()


class Writer:
    """Files of a dump under way; the first at a path stays."""

    def __init__(self, demand: Demand) -> None:
        """`demand` over complete layers."""
        self.demand = demand
        self.files: dict[str, DumpFile] = {}
        self.notices: list[Notice] = []

    def write(self, path: str, content: bytes, executable: bool = False) -> None:
        """A file with these bytes."""
        self.files.setdefault(path, DumpFile(path, content, "", executable))

    def copy(self, path: str, source: str, executable: bool) -> None:
        """A file copied from a physical path."""
        self.files.setdefault(path, DumpFile(path, b"", source, executable))

    def skill(self, folder: str, skill: Skill) -> None:
        """A skill as it is projected, its added files in their sections."""
        self.write(f"{folder}/SKILL.md", skill.manifest.encode("utf-8", "surrogateescape"))
        for part in (*skill.files, *skill.extras):
            self.copy(f"{folder}/{part.path}", part.source, part.executable)

    def servers(self, path: str, written: Mapping[str, Any], redacted: Iterable[str]) -> None:
        """An `mcp.json`; literal credentials have become references, with a warning for each."""
        if written:
            self.write(path, json_text({"mcpServers": written}))
        for key in redacted:
            text = f"{path}: {key}: the literal credential is left out; set the variable that stands there now"
            self.notices.append(Notice("warning", "dump-credential", text))

    def source(self, one: Agent, key: str, number: int, source: Source) -> dict[str, str] | None:
        """A prompt source as a file of the dump; None where it has nothing."""
        found = prompts.locate(self.demand, source, one.id)
        document = self.demand.document(found.layer, found.entry.path, "text") if found.entry else None
        if document is None or not document.text.strip():
            return None
        path = f"prompts/{one.id}-{key}{f'-{number}' if number else ''}.md"
        self.write(path, document.text.encode("utf-8", "surrogateescape"))
        return {"file": path}

    def extension(self, extension: str | Source) -> Any:
        """An extension; a file's copy lies under `extensions/`."""
        if not isinstance(extension, Source):
            return extension
        found = prompts.locate(self.demand, extension, "")
        if found.entry is None:
            return None
        path = f"extensions/{posixpath.basename(found.entry.path)}"
        if found.entry.kind == "file":
            self.copy(path, found.entry.target, found.entry.executable)
        for below in self.demand.below(found.layer, found.entry.path) if found.entry.kind == "directory" else ():
            if below.kind == "file":
                self.copy(f"{path}{below.path[len(found.entry.path) :]}", below.target, below.executable)
        return {"file": path}

    def prompts_of(self, one: Agent) -> dict[str, Any]:
        """The prompt keys of an agent, pointing into the dump."""
        single = {"system_prompt": one.system_prompt, "prompt_template": one.prompt_template}
        found: dict[str, Any] = {key: self.source(one, key, 0, source) for key, source in single.items() if source}
        appended = [self.source(one, "append", number, source) for number, source in enumerate(one.append, 1)]
        return {**found, "append_system_prompt": [one for one in appended if one]}

    def done(self, record: Mapping[str, Any]) -> Dump:
        """The dump, with its record."""
        listed = sorted(self.files)
        self.write(RECORD, json_text({"schema_version": 1, "kind": "dump", **record, "files": listed}))
        return Dump(tuple(self.files[path] for path in sorted(self.files)), tuple(self.notices))


def dump_agent(demand: Demand, settings: Settings, made: Composition) -> Dump:
    """The closure of a composed agent: its line and subagents, private skills flattened, everything that it reaches."""
    writer = Writer(demand)
    found = closure(demand, settings, made.agent)
    _agents(writer, settings, found, made)
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
    _overlays(writer, found)
    for owner, path, entry in native.job_files(demand, found.jobs):
        base = f"agents/{owner}/deepwork/jobs" if owner else "deepwork/jobs"
        writer.copy(f"{base}/{path}", entry.target, entry.executable)
    return writer.done(_record(demand, made))


def _agents(writer: Writer, settings: Settings, found: Closure, made: Composition) -> None:
    names = {skill.source: skill.id for skill in made.skills}
    names.update({skill.source: skill.id for one in made.subagents for skill in one.resolved})
    defaults = default_loadout(settings)
    lines = [found.line, *(lineage(writer.demand, sub.agent.id)[0] for sub in found.subagents)]
    roots = {line[0].id for line in lines if line}
    servers = {server.id for server in made.servers}
    for one in {one.id: one for line in lines for one in line}.values():
        first = defaults if one.id in roots else Loadout()
        changed = {
            "inherits": canonical(writer.demand, (name for name, _ in one.inherits)),
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


def _overlays(writer: Writer, found: Closure) -> None:
    """Each agent's overlay under its own name; of one agent's merged files in several layers, one that joins them."""
    joined: dict[str, tuple[bytes, bool]] = {}
    for file in found.overlay.files:
        if native.is_pi_state(file.path):
            continue
        content = writer.demand.content(file.entry.target)
        before = joined.get(file.entry.path)
        joined[file.entry.path] = (_joined(before[0], content) if before else content, file.entry.executable)
    for path, (content, executable) in joined.items():
        writer.write(path, content, executable)


def _joined(low: bytes, high: bytes) -> bytes:
    try:
        return json_text(merged(json.loads(low), json.loads(high)))
    except ValueError:
        return high


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
