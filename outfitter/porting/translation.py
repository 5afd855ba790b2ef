"""What a tool's files become: the files of a tree, and what is left behind. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from outfitter.model.value import NamedTuple

TOOLS: tuple[str, ...] = ("claude", "codex", "pi", "cursor", "copilot", "opencode", "gemini")
# Tool → its directory in a project, and in a home.
PROJECT_DIRECTORIES: Mapping[str, str] = {
    "claude": ".claude",
    "codex": ".codex",
    "pi": ".pi",
    "cursor": ".cursor",
    "copilot": ".github",
    "opencode": ".opencode",
    "gemini": ".gemini",
}
HOME_DIRECTORIES: Mapping[str, str] = {
    "claude": ".claude",
    "codex": ".codex",
    "pi": ".pi/agent",
    "cursor": ".cursor",
    "copilot": ".copilot",
    "opencode": ".config/opencode",
    "gemini": ".gemini",
}
# More shared skills or servers than this are not listed in every agent that reaches them all.
MOST_LISTED = 40

Manner = Literal["named", "secret", "skipped"]


class Spot(NamedTuple):
    """Where a tool's files are.

    Its own directory, the directory around it, the boundary for links, and whether it is the home.
    """

    tool: str
    directory: str
    around: str
    boundary: str
    home: bool = False


class Carried(NamedTuple):
    """One file of the tree: its text, or the physical file to copy (`copy`).

    `source` is the native file, for people to read.

    `exact`: the text is the native file's own, so that positions in it are positions there.
    """

    path: str
    source: str
    text: bytes = b""
    copy: str = ""
    executable: bool = False
    exact: bool = False


class LeftBehind(NamedTuple):
    """Something that does not become part of the tree, or not as it was.

    `path` is the native file, `said` a whole sentence's end.

    `secret`: a literal value that was replaced by a reference. `skipped`: the file itself cannot be used. `named`: all else.
    """

    manner: Manner
    path: str
    said: str
    hint: str = ""


class Translation(NamedTuple):
    """A tool's files as a tree.

    Files by path, physical folders of copied ones by path, and what is left behind.

    `agents`, `skills` and `servers` are the ids that it brings, for people to count.
    """

    tool: str
    files: Mapping[str, Carried] = {}
    folders: Mapping[str, str] = {}
    left: tuple[LeftBehind, ...] = ()
    agents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
