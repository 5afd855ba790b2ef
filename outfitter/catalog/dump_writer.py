"""The files of a dump while they are gathered, and its record (spec/30). Pure."""

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from outfitter.catalog import prompts
from outfitter.catalog.agents import Agent
from outfitter.catalog.demand import Demand
from outfitter.catalog.dump_text import json_text
from outfitter.catalog.fields import Source
from outfitter.model.composition import Skill
from outfitter.model.request import Notice

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

    def left_out(self, path: str, keys: Iterable[str]) -> None:
        """What no launch would take is not passed on: it may be a credential."""
        for key in keys:
            text = f"{path}: {key}: is refused by every launch, and left out; outfitter validate says why"
            self.notices.append(Notice("warning", "dump-credential", text))

    def _prompt(self, one: Agent, source: Source) -> str:
        """What a prompt source says; "" where it has nothing."""
        found = prompts.locate(self.demand, source, one.id)
        document = self.demand.document(found.layer, found.entry.path, "text") if found.entry else None
        return document.text if document and document.text.strip() else ""

    def _prompt_file(self, one: Agent, key: str, text: str) -> dict[str, str]:
        """A prompt as a file of the dump, and the source that means it."""
        path = f"prompts/{one.id}-{key}.md"
        self.write(path, text.encode("utf-8", "surrogateescape"))
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
        """The prompt keys of an agent, pointing into the dump. One that says nothing still takes an inherited one's place."""
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
