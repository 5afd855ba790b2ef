"""A tree under translation.

Files are added one resource at a time, and names that collide are refused. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.catalog.fields import is_readable, portable
from outfitter.model.layers import Entry
from outfitter.porting.reading import NativeFiles
from outfitter.porting.servers import block, mcp_text
from outfitter.porting.translation import Carried, LeftBehind, Translation

# Files in a skill's folder that are not the skill: git's own, and what is likely to hold credentials.
_NEVER = (".git", ".DS_Store", "node_modules", "__pycache__", ".venv")
_SECRETS = (".env", ".npmrc", ".netrc", "credentials.json", "auth.json", ".credentials.json", "id_rsa", "id_ed25519")
_MANIFESTS = ("SKILL.md", "skill.md", "Skill.md", "SKILL.MD")


class Growing:
    """The files of a tree so far. An id is taken once, case aside; the first wins, and the other is named."""

    def __init__(self, files: NativeFiles) -> None:
        """`files` reads the native side and collects what is left behind."""
        self.native = files
        self.files: dict[str, Carried] = {}
        self.folders: dict[str, str] = {}
        self.taken: dict[tuple[str, str], str] = {}
        self.ids: dict[str, list[str]] = {"agents": [], "skills": [], "commands": []}
        self.servers: dict[str, Mapping[str, Any]] = {}
        self.server_source = ""

    def take(self, kind: str, name: str, source: str) -> str:
        """The id under which a resource of this name is put, "" where it is taken already."""
        made = name if all(map(is_readable, name.split("/"))) else "/".join(map(portable, name.split("/")))
        first = self.taken.setdefault((kind, made.casefold()), source)
        if first != source:
            said = f"has the same name as {first}, upper and lower case aside; it is left out"
            self.native.note("skipped", source, said, "rename one of the two")
            return ""
        if made not in self.ids[kind]:
            self.ids[kind].append(made)
        return made

    def text(self, path: str, source: str, text: str | bytes, exact: bool = False) -> None:
        """A file with this text."""
        content = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self.files[path] = Carried(path, source, content, exact=exact)

    def copy(self, path: str, source: str, entry: Entry) -> None:
        """A file copied byte for byte."""
        self.files[path] = Carried(path, source, copy=entry.target, executable=entry.executable)

    def add_servers(self, path: str, servers: Any) -> None:
        """Servers of one file; an id that an earlier file has stays that file's."""
        if not isinstance(servers, Mapping):
            return
        for name, definition in block(self.native, path, servers).items():
            if self.servers.get(name, definition) != definition:
                self.native.note("skipped", path, f"MCP server {name!r} is defined differently in {self.server_source}")
            self.servers.setdefault(name, definition)
        self.server_source = self.server_source or path

    def skills(self, folder: str) -> None:
        """Every skill folder below a folder, categories entered; a skill keeps its name and all its files."""
        entries = self.native.below(folder)
        roots = {
            posixpath.dirname(path): name
            for name in reversed(_MANIFESTS)
            for path, entry in entries.items()
            if posixpath.basename(path) == name and entry.kind == "file" and "/" in path
        }
        tops = [root for root in sorted(roots) if not any(_above(root, roots)) and not root.startswith(".")]
        children = _children(entries)
        for path, entry in sorted(entries.items()):
            if "/" not in path and entry.kind not in ("file", "directory"):
                self.native.refuse(f"{folder}/{path}", entry)
        for root in tops:
            self._skill(folder, root, roots[root], entries, children)

    def _skill(
        self,
        folder: str,
        root: str,
        manifest: str,
        entries: Mapping[str, Entry],
        children: Mapping[str, list[str]],
    ) -> None:
        source = f"{folder}/{root}"
        content = self.native.read(f"{source}/{manifest}", entries[f"{root}/{manifest}"].target)
        if content is None or self.native.markdown(f"{source}/{manifest}", content) is None:
            return
        name = self.take("skills", root, source)
        if not name:
            return
        self.folders[f"skills/{name}"] = entries[root].target
        waiting = list(children.get(root, ()))
        for path in waiting:
            inside, entry = path[len(root) + 1 :], entries[path]
            base = posixpath.basename(path)
            if base in _NEVER:
                continue
            if entry.kind == "directory":
                self.folders[f"skills/{name}/{inside}"] = entry.target
                waiting += children.get(path, ())
            elif entry.kind != "file":
                self.native.refuse(f"{folder}/{path}", entry)
            elif base in _SECRETS:
                self.native.note("secret", f"{folder}/{path}", "is where credentials are kept; the file is left out")
            else:
                landed = "SKILL.md" if inside == manifest else inside
                self.copy(f"skills/{name}/{landed}", f"{folder}/{path}", entry)

    def commands(self, folder: str, ending: str = ".md", depth: int = 48) -> None:
        """Every prompt file below a folder, byte for byte, its folders part of its name."""
        for path, entry in self.native.files(folder, ending, depth):
            if posixpath.basename(path).lower() in ("readme.md", "agents.md", "claude.md"):
                continue
            name = self.take("commands", path.removesuffix(ending), f"{folder}/{path}")
            if name:
                self.copy(f"commands/{name}.md", f"{folder}/{path}", entry)

    def agent(self, name: str, source: str, text: str | bytes, exact: bool = False, own: Any = None) -> None:
        """One agent's file, and its private servers."""
        made = self.take("agents", name, source)
        if not made:
            return
        self.text(f"agents/{made}/agent.md", source, text, exact)
        servers = block(self.native, source, own) if isinstance(own, Mapping) else {}
        if servers:
            self.text(f"agents/{made}/mcp.json", source, mcp_text(servers))

    def done(self, tool: str) -> Translation:
        """The translation."""
        if self.servers:
            self.text("mcp.json", self.server_source, mcp_text(self.servers))
        ids = {kind: tuple(sorted(found)) for kind, found in self.ids.items()}
        return Translation(
            tool,
            dict(sorted(self.files.items())),
            self.folders,
            tuple(self.native.left),
            ids["agents"],
            ids["skills"],
            ids["commands"],
            tuple(self.servers),
        )


def left_of(translations: Iterable[Translation]) -> tuple[LeftBehind, ...]:
    """Everything that several translations leave behind, each once."""
    return tuple(dict.fromkeys(one for each in translations for one in each.left))


def _above(root: str, roots: Mapping[str, str]) -> Iterable[bool]:
    """Whether each folder above a skill's is itself a skill: its files travel with that one."""
    parts = root.split("/")
    return ("/".join(parts[:count]) in roots for count in range(1, len(parts)))


def _children(entries: Mapping[str, Entry]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(entries):
        found.setdefault(posixpath.dirname(path), []).append(path)
    return found
