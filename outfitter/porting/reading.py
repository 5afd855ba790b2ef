"""Reading a tool's files.

Regular files inside the boundary, each fault one line, nothing followed that leads out. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from outfitter.host import Sources
from outfitter.model.layers import Entry
from outfitter.porting.translation import LeftBehind, Spot
from outfitter.syntax.fault import Flaw, Parsed, TextError
from outfitter.syntax.parse import parse
from outfitter.syntax.text import decode

DEPTH = 48
_WHY = {
    "outside": "is a link that points outside the project ({}); skipped",
    "dangling": "is a link to a file that does not exist ({}); skipped",
    "special": "is not a regular file; skipped",
    "unreadable": "cannot be read; skipped",
}
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\n]*|/\*.*?\*/)|(,)(?=\s*[}\]])', re.DOTALL)


class NativeFiles:
    """The files of one spot, read on demand; what cannot be read is noted once in `left`."""

    def __init__(self, sources: Sources, spot: Spot, as_written: bool = False) -> None:
        """`sources` are the effects; nothing outside the spot's boundary is read.

        `as_written`: literal credentials stay.
        """
        self.sources = sources
        self.as_written = as_written
        self.spot = spot
        self.left: dict[LeftBehind, None] = {}
        self._listed: dict[str, Mapping[str, Entry]] = {}

    def note(self, manner: str, path: str, said: str, hint: str = "") -> None:
        """Note what is left behind."""
        self.left[LeftBehind(manner, path, said, hint)] = None  # type: ignore[arg-type]

    def below(self, folder: str, depth: int = DEPTH) -> Mapping[str, Entry]:
        """The entries below a folder (absolute), by path relative to it; {} where there is none."""
        if folder not in self._listed:
            try:
                self._listed[folder] = self.sources.listing(folder, self.spot.boundary, depth)
            except OSError as error:
                self.note("skipped", folder, f"cannot be listed ({error.strerror}); skipped")
                self._listed[folder] = {}
        return self._listed[folder]

    def files(self, folder: str, ending: str, depth: int = DEPTH) -> Iterator[tuple[str, Entry]]:
        """The regular files below a folder whose names end so, sorted; anything else of that name is noted."""
        for path, entry in sorted(self.below(folder, depth).items()):
            if entry.kind in _WHY and (path.endswith(ending) or "." not in posixpath.basename(path)):
                self.refuse(f"{folder}/{path}", entry)
            elif entry.kind == "file" and path.endswith(ending):
                yield path, entry

    def hide(self, folder: str, ending: str) -> None:
        """Leave files whose names end so out of a folder's listing from here on."""
        kept = {path: entry for path, entry in self.below(folder).items() if not path.endswith(ending)}
        self._listed[folder] = kept

    def refuse(self, path: str, entry: Entry) -> None:
        """Note an entry that is not a usable file."""
        self.note("skipped", path, _WHY[entry.kind].format(entry.target))

    def read(self, path: str, target: str = "") -> bytes | None:
        """A file's bytes (`target` is where it physically is), None where it is absent or refused."""
        try:
            return self.sources.read(target or path)
        except OSError as error:
            self.note("skipped", path, f"is {error.strerror}; skipped" if "MB" in str(error) else _unread(error))
            return None

    def alone(self, path: str) -> bytes | None:
        """A single file that is read by its whole path, with the same care for links as those of a folder."""
        folder, name = posixpath.split(path)
        entry = self.below_one(folder).get(name)
        if entry is None:
            return None
        if entry.kind != "file":
            if entry.kind in _WHY:
                self.refuse(path, entry)
            return None
        return self.read(path, entry.target)

    def below_one(self, folder: str) -> Mapping[str, Entry]:
        """The names directly in a folder."""
        key = folder + "\0"
        if key not in self._listed:
            try:
                self._listed[key] = self.sources.listing(folder, self.spot.boundary, 1)
            except OSError:
                self._listed[key] = {}
        return self._listed[key]

    def is_folder(self, folder: str) -> bool:
        """Whether a folder is there."""
        parent, name = posixpath.split(folder)
        entry = self.below_one(parent).get(name)
        return entry is not None and entry.kind == "directory"

    def markdown(self, path: str, content: bytes) -> Parsed | None:
        """A Markdown file with its front matter; None, and a note, where it cannot be read."""
        parsed = parse(content, "markdown")
        return parsed if self._sound(path, parsed.flaws) else None

    def json(self, path: str) -> tuple[Mapping[str, Any], str] | None:
        """A JSON file, comments and trailing commas allowed: its mapping, and its text."""
        content = self.alone(path)
        if content is None:
            return None
        try:
            text = decode(content)
        except TextError as fault:
            self.note("skipped", path, f"{fault.message}; skipped")
            return None
        parsed = parse(without_comments(text).encode("utf-8", "surrogateescape"), "json")
        return (parsed.value, text) if self._sound(path, parsed.flaws) else None

    def toml(self, path: str, content: bytes) -> tuple[Mapping[str, Any], Any] | None:
        """A TOML file: its plain values, and tomlkit's document, which keeps the comments.

        None, and a note, where it is none.
        """
        import tomllib

        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            text = decode(content)
            return tomllib.loads(text), tomlkit.parse(text)
        except TextError as fault:
            self.note("skipped", path, f"{fault.message}; skipped")
        except (TOMLKitError, RecursionError, ValueError) as error:
            self.note("skipped", path, f"is not valid TOML ({error}); skipped", "correct it")
        return None

    def _sound(self, path: str, flaws: tuple[Flaw, ...]) -> bool:
        for flaw in flaws[:1]:
            line = f":{flaw.at.line}" if flaw.at.line else ""
            self.note(
                "skipped", path + line, f"{flaw.key + ': ' if flaw.key else ''}{flaw.message}; skipped", flaw.hint
            )
        return not flaws


def _unread(error: OSError) -> str:
    return f"cannot be read ({error.strerror or error}); skipped"


def without_comments(text: str) -> str:
    """JSON text whose comments and trailing commas are blanks: every other character keeps its place."""

    def blank(found: re.Match[str]) -> str:
        if found[1] is None and found[2] is None:
            return found[0]
        return re.sub(r"[^\n]", " ", found[0])

    return _COMMENT.sub(blank, text)
