"""Typed reading of front matter and `config.json`: a wrong shape is a problem with its position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.model.layers import Document
from outfitter.model.request import Notice, Position, Problem
from outfitter.model.settings import KeyPath
from outfitter.model.value import NamedTuple

LENGTH_LIMIT = 64
_PORTABLE = r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*"
_READABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)*")


def is_portable(name: str) -> bool:
    """Whether a name is one that `setup` creates and `validate` asks for."""
    return len(name) <= LENGTH_LIMIT and re.fullmatch(_PORTABLE, name) is not None


def is_readable(name: str) -> bool:
    """Whether a directory of this name is read as a resource."""
    return len(name) <= LENGTH_LIMIT and _READABLE.fullmatch(name) is not None


def portable(name: str) -> str:
    """The portable spelling of a name: lower case, single hyphens; "unnamed" where nothing is left."""
    parts = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in name.split("."))
    return ".".join(part for part in parts if part)[:LENGTH_LIMIT].strip("-.") or "unnamed"


def slug(word: str) -> str:
    """Return a loadout's word as an id, `category/id` kept (V30).

    `/x`, `./x`, `skills/x` and `x/SKILL.md` are all `x`.
    """
    word = word.strip().lstrip("/").removeprefix("./").strip("/")
    for ending in ("/SKILL.md", "/skill.md"):
        word = word.removesuffix(ending)
    return word.removeprefix("skills/")


class KeyOrigin(NamedTuple):
    """Which document gave a key: the number of its layer, its absolute path, its positions."""

    layer: int
    path: str
    positions: Mapping[KeyPath, Position]


class Place(NamedTuple):
    """Where something was written: layer number, absolute path, dotted key, line and column."""

    layer: int
    path: str
    key: str = ""
    at: Position = Position()


class FileSource(NamedTuple):
    """`{file: …}` or `{repo_file: …}` as written, and where."""

    repository: bool
    path: str
    place: Place


class SkillPick(NamedTuple):
    """A skill in a loadout: the slug, and references that the agent adds to it."""

    slug: str
    place: Place
    references: tuple[FileSource, ...] = ()


class Fields:
    """A mapping that is being decoded.

    `problems` and `notices` collect what is wrong; `origins` maps each top-level key to its document.
    """

    def __init__(self, values: Mapping[str, Any], origins: Mapping[str, KeyOrigin], home: KeyOrigin) -> None:
        """`home` is the document that answers for keys nobody wrote."""
        self.values = values
        self.origins = origins
        self.home = home
        self.problems: list[Problem] = []
        self.notices: list[Notice] = []

    def place(self, *path: str) -> Place:
        """Where a key stands."""
        origin = self.origins.get(path[0], self.home) if path else self.home
        at = next(
            (origin.positions[path[:n]] for n in range(len(path), 0, -1) if path[:n] in origin.positions), Position()
        )
        return Place(origin.layer, origin.path, ".".join(path), at)

    def fault(self, path: KeyPath, message: str, hint: str = "") -> None:
        """Note that a value cannot be what it must be."""
        place = self.place(*path)
        self.problems.append(Problem(place.path, message, place.key, place.at, hint))

    def warn(self, path: KeyPath, code: str, message: str, hint: str = "") -> None:
        """Note something to be said about a value that does not stop a run."""
        place = self.place(*path)
        where = f"{place.path}:{place.at.line}" if place.at.line else place.path
        self.notices.append(Notice("warning", code, f"{where}: {place.key + ': ' if place.key else ''}{message}", hint))

    def get(self, *path: str) -> Any:
        """A value by key path, None where it is not set."""
        value: Any = self.values
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def text(self, *path: str) -> str:
        """A scalar as text, "" where it is not set."""
        value = self.get(*path)
        if value is None or isinstance(value, str):
            return (value or "").strip()
        if isinstance(value, (bool, int, float)):
            return str(value).lower() if isinstance(value, bool) else str(value)
        self.fault(path, "must be text")
        return ""

    def flag(self, *path: str) -> bool | None:
        """A yes or no, in any of YAML's and people's spellings; None where it is not set or not understood."""
        value = self.get(*path)
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
        return {
            "true": True,
            "yes": True,
            "on": True,
            "1": True,
            "false": False,
            "no": False,
            "off": False,
            "0": False,
        }.get(word)

    def items(self, *path: str) -> list[tuple[KeyPath, Any]]:
        """Return a list's values with their key paths.

        One value counts as a list of it; nulls are left out.
        """
        value = self.get(*path)
        if value is None:
            return []
        if isinstance(value, list):
            return [((*path, str(index)), item) for index, item in enumerate(value) if item is not None]
        return [(path, value)]

    def words(self, *path: str, split: bool = False) -> tuple[str, ...]:
        """A list of words; `split`: text with commas is a list, too."""
        found: list[str] = []
        for key, item in self.items(*path):
            if not isinstance(item, (str, int, float)) or isinstance(item, bool):
                self.fault(key, "must be text")
            else:
                found += [part.strip() for part in (str(item).split(",") if split else [str(item)])]
        return tuple(dict.fromkeys(word for word in found if word))

    def slugs(self, *path: str) -> tuple[tuple[str, Place], ...]:
        """A list of ids, each with its place, normalized (V30)."""
        found: dict[str, Place] = {}
        for key, item in self.items(*path):
            if not isinstance(item, (str, int)) or isinstance(item, bool):
                self.fault(key, "must be an id", "quote it if it looks like a number or a boolean")
                continue
            for part in str(item).split(","):
                if slug(part):
                    found.setdefault(slug(part), self.place(*key))
        return tuple(found.items())

    def mapping(self, *path: str) -> Mapping[str, Any]:
        """A mapping, {} where it is not set."""
        value = self.get(*path)
        if value is not None and not isinstance(value, Mapping):
            self.fault(path, "must be a mapping")
        return value if isinstance(value, Mapping) else {}

    def sources(self, *path: str) -> tuple[FileSource, ...]:
        """`{file: …}` or `{repo_file: …}`, one or a list."""
        found = (self._source(key, item) for key, item in self.items(*path))
        return tuple(source for source in found if source is not None)

    def _source(self, key: KeyPath, item: Any) -> FileSource | None:
        written = [(name, item[name]) for name in ("file", "repo_file") if isinstance(item, Mapping) and name in item]
        if len(written) != 1 or not isinstance(written[0][1], str) or not written[0][1].strip():
            self.fault(key, "must be {file: PATH} or {repo_file: PATH}")
            return None
        return FileSource(written[0][0] == "repo_file", written[0][1].strip(), self.place(*key, written[0][0]))


def layered(documents: Iterable[tuple[int, Document]]) -> tuple[dict[str, Any], dict[str, KeyOrigin]]:
    """Merge documents, lowest precedence first; also return the last document of each key.

    Mappings merge at every depth; a null counts as not set.
    """
    values: dict[str, Any] = {}
    origins: dict[str, KeyOrigin] = {}
    for layer, document in documents:
        if not isinstance(document.value, Mapping):
            continue
        for key, value in document.value.items():
            if value is not None:
                values[key] = merged(values.get(key), value)
                origins[key] = KeyOrigin(layer, document.path, document.positions)
    return values, origins


def merged(low: Any, high: Any) -> Any:
    """Two values of one key: mappings merge by key at every depth, anything else is replaced."""
    if not isinstance(low, Mapping) or not isinstance(high, Mapping):
        return high
    extra = {key: merged(low.get(key), value) for key, value in high.items() if value is not None}
    return {**low, **extra}
