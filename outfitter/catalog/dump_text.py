"""Agents and servers rewritten for a dump: one deterministic spelling (spec/30).

Every path is inside the dump.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from outfitter.catalog import prompts
from outfitter.catalog.agents import Agent
from outfitter.catalog.controls import ControlSet
from outfitter.catalog.fields import FileSource
from outfitter.catalog.mcp_form import normal_form
from outfitter.catalog.model_rules import faults
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Controls, Server, Skill
from outfitter.model.request import Notice
from outfitter.syntax.address import without_credentials


def agent_text(one: Agent, changed: Mapping[str, Any]) -> bytes:
    """Return an `agent.md`: the agent's keys as JSON values in YAML, and its body.

    `changed` replaces keys; None leaves one out.
    """
    tools = one.limits.tools
    values: dict[str, Any] = {
        "name": one.id,
        "label": one.label if one.label != one.id else None,
        "description": one.description,
        "abstract": True if one.abstract else None,
        "mainAgent": None if one.main else False,
        "inherits": [name for name, _ in one.inherits],
        "plugins": list(one.plugins),
        "model": one.model,
        "thinking": one.thinking,
        "tools": _tools(tools.allow, tools.deny),
        "controls": _controls(one.controls),
        **changed,
    }
    lines = [
        f"{key}: {json.dumps(value, ensure_ascii=False, sort_keys=True)}\n"
        for key, value in values.items()
        if _says(value)
    ]
    return "".join(("---\n", *lines, "---\n", one.body)).encode("utf-8", "surrogateescape")


def _says(value: Any) -> bool:
    return value is not None and value != "" and value != [] and value != {}


def _tools(allow: tuple[str, ...] | None, deny: tuple[str, ...]) -> dict[str, list[str]]:
    limits = {} if allow is None else {"allow": list(allow)}
    return {**limits, **({"deny": list(deny)} if deny else {})}


def _controls(controls: ControlSet) -> dict[str, Any]:
    return {**_block(controls.generic), **{name: _block(block) for name, block in controls.harness.items()}}


def _block(block: Controls) -> dict[str, Any]:
    values = {
        **block.extra,
        "environment": dict(block.environment),
        "args": list(block.args),
        "session_directory": block.session_directory,
        "deepwork": {"jobs": list(block.deepwork_jobs)} if block.deepwork_jobs else {},
    }
    return {key: value for key, value in values.items() if _says(value)}


def plain_text(content: str) -> bytes:
    """Return a prompt file that reads back as this content.

    A text that begins with a fence gets an empty front matter before it.
    """
    fence = "---\n---\n" if content.startswith("---") else ""
    return (fence + content).encode("utf-8", "surrogateescape")


def json_text(value: Any) -> bytes:
    """JSON for a file: sorted, indented, with a final newline."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def server_map(servers: tuple[Server, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return servers as `mcp.json` holds them, and the key paths of literal credentials in them.

    References replace the credentials.
    """
    written: dict[str, Any] = {}
    redacted: list[str] = []
    for server in servers:
        definition = json.loads(json.dumps(server.definition))
        for key in normal_form(definition).credentials:
            _redact(server.id, definition, key)
            redacted.append(f"{server.id}.{key}")
        written[server.id] = definition
    return written, tuple(redacted)


def registry_map(providers: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return providers as `models.json` holds them, and the key paths of what was dropped.

    Dropped is what no composition accepts, such as literal credentials.
    """
    written: dict[str, Any] = json.loads(json.dumps(providers))
    dropped: list[str] = []
    for name, provider in written.items():
        models = [model for model in provider.get("models") or () if isinstance(model, dict)]
        for label, definition in ((name, provider), *((f"{name}/{model.get('id')}", model) for model in models)):
            for path, _, _ in tuple(faults(definition)):
                holder = definition if len(path) == 1 else definition[path[0]]
                holder.pop(path[-1], None)
                dropped.append(".".join((label, *path)))
    return written, tuple(dropped)


def literal_credentials(servers: tuple[Server, ...]) -> tuple[str, ...]:
    """Return the literal values of servers that look like credentials, longest first: to be hidden."""
    values: list[str] = []
    for server in servers:
        for key in normal_form(server.definition).credentials:
            block, _, inner = key.partition(".")
            if block in ("env", "headers"):
                values.append(str(server.definition[block][inner]))
    return tuple(sorted(filter(None, values), key=len, reverse=True))


def _redact(server: str, definition: dict[str, Any], key: str) -> None:
    block, _, inner = key.partition(".")
    if block in ("env", "headers"):
        words = inner if block == "env" else f"{server}_{inner}"
        definition[block][inner] = "${" + re.sub(r"[^A-Za-z0-9_]", "_", words).upper() + "}"
    elif block == "args":
        definition["args"][int(inner)] = without_credentials(definition["args"][int(inner)])
    else:
        definition[block] = without_credentials(definition[block])


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


def listed(files: Iterable[DumpFile]) -> tuple[DumpFile, ...]:
    """Return files of a dump with a record that lists them and no others."""
    kept = tuple(files)
    names = [file.path for file in kept if file.path != RECORD]
    return tuple(
        file._replace(content=json_text({**json.loads(file.content), "files": names})) if file.path == RECORD else file
        for file in kept
    )


class DumpWriter:
    """Files of a dump under way; the first at a path stays."""

    def __init__(self, reader: TreeReader) -> None:
        """`reader` over complete layers."""
        self.reader = reader
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
            text = f"{path}: {key}: a reference replaces the literal credential; set its variable"
            self.notices.append(Notice("warning", "dump-credential", text))

    def left_out(self, path: str, keys: Iterable[str]) -> None:
        """What no launch would take is not passed on: it may be a credential."""
        for key in keys:
            text = f"{path}: {key} was left out because every launch rejects it; see outfitter validate"
            self.notices.append(Notice("warning", "dump-credential", text))

    def _prompt(self, one: Agent, source: FileSource) -> str:
        """What a prompt source says; "" where it has nothing."""
        found = prompts.locate(self.reader, source, one.id)
        document = self.reader.document(found.layer, found.entry.path, "text") if found.entry else None
        return document.text if document and document.text.strip() else ""

    def _prompt_file(self, one: Agent, key: str, text: str) -> dict[str, str]:
        """A prompt as a file of the dump, and the source that means it."""
        path = f"prompts/{one.id}-{key}.md"
        self.write(path, text.encode("utf-8", "surrogateescape"))
        return {"file": path}

    def extension(self, extension: str | FileSource) -> Any:
        """An extension; a file's copy lies under `extensions/`."""
        if not isinstance(extension, FileSource):
            return extension
        found = prompts.locate(self.reader, extension, "")
        if found.entry is None:
            return None
        path = f"extensions/{posixpath.basename(found.entry.path)}"
        if found.entry.kind == "file":
            self.copy(path, found.entry.target, found.entry.executable)
        for below in self.reader.below(found.layer, found.entry.path) if found.entry.kind == "directory" else ():
            if below.kind == "file":
                self.copy(f"{path}{below.path[len(found.entry.path) :]}", below.target, below.executable)
        return {"file": path}

    def prompts_of(self, one: Agent) -> dict[str, Any]:
        """Return an agent's prompt keys, with paths in the dump.

        An empty prompt still replaces an inherited one.
        """
        single = {"system_prompt": one.system_prompt, "prompt_template": one.prompt_template}
        found = {
            key: self._prompt_file(one, key, self._prompt(one, source)) for key, source in single.items() if source
        }
        texts = [(number, self._prompt(one, source)) for number, source in enumerate(one.append, 1)]
        appended = [self._prompt_file(one, f"append-{number}", text) for number, text in texts if text]
        return {**found, "append_system_prompt": appended}

    def done(self, record: Mapping[str, Any]) -> Dump:
        """The dump, with its record."""
        listed = sorted(self.files)
        self.write(RECORD, json_text({"schema_version": 1, "kind": "dump", **record, "files": listed}))
        return Dump(tuple(self.files[path] for path in sorted(self.files)), tuple(self.notices))
