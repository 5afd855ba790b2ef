"""Rewrite paths of a projection in durable files after a run (spec/50, "Paths of a projection")."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from blake3 import blake3

from outfitter.bridge.context import parsed
from outfitter.host import Durable
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import GRANULARITY_NS, Change
from outfitter.model.projection import Record
from outfitter.model.request import Notice
from outfitter.model.wording import listed
from outfitter.syntax.json_scanner import strings

_KEPT = ("durable", "adopted", "persisted")
# Linked directories of configuration. The others hold histories and caches, which are not rewritten.
_CONFIGURATION = ("agents/", "skills/", "commands/", "plugins/")
_TRIES = 3
_NAMED = 20
# Where a path may end, the least certain end last: a name may hold any of these characters.
_ENDS = (re.compile(r"[\r\n]"), re.compile(r"[\"'`<>|;&\r\n]"), re.compile(r"[\s\"'`<>|;&(){}\[\],:\\]"))


class LeftPath(NamedTuple):
    """A path of the projection that stays in a durable file: the file, the key or line in it, the path."""

    file: str
    key: str
    path: str


def rewrite_paths(
    durable: Durable, record: Record, changes: Iterable[Change], spellings: tuple[str, ...]
) -> tuple[Notice, ...]:
    """Rewrite paths of the projection in durable files that a run changed; warn once of those left.

    `changes` have their final outcomes. `spellings` are the ways to spell the projection's path.
    """
    places = _Places(durable, record, spellings)
    left: list[LeftPath] = []
    for file in dict.fromkeys((*_changed(record, changes), *_recent(durable, record))):
        left += _rewrite(durable, places, file)
    if not left:
        return ()
    told = listed([f"{file} ({key}: {path})" for file, key, path in left], _NAMED)
    text = f"saved, but with the path of a temporary directory, which does not work in later runs: {told}"
    return (
        Notice("warning", "projection-path-kept", text, f"put what it names in {record.native}, and name it there"),
    )


def _changed(record: Record, changes: Iterable[Change]) -> Iterator[str]:
    durables = {state.key: state.durable for state in record.states}
    for change in changes:
        durable = durables.get(change.state_path, "")
        if durable and change.outcome in _KEPT and change.change != "deleted" and not change.path.endswith(".jsonl"):
            rest = change.path[len(change.state_path) :] if change.state_path.endswith("/") else ""
            yield posixpath.join(durable, rest) if rest else durable


def _recent(durable: Durable, record: Record) -> Iterator[str]:
    """Yield what changed behind linked directories, which no snapshot shows."""
    since = record.started_ns - GRANULARITY_NS
    for state in record.states:
        if state.key in _CONFIGURATION and state.handling == "symlink" and state.durable:
            try:
                yield from durable.recent(state.durable, since)
            except OSError:
                continue


def _rewrite(durable: Durable, places: _Places, file: str) -> list[LeftPath]:
    """Rewrite one file, again if another program changed it meanwhile; return what stays."""
    why = ""
    text = ""
    for _ in range(_TRIES):
        try:
            content = durable.read(file)
            if not places.may_name(content):
                return []
            text = content.decode("utf-8")
            new = places.rewritten(text)
            if new == text:
                break
            failure = durable.write(file, new.encode(), blake3(content).digest(), None)
        except UnicodeError:
            return []
        except OSError as error:
            why = os_error_text(error)
            break
        if failure is None:
            text, why = new, ""
            break
        why = failure.reason
    found = places.left(text)
    return [LeftPath(file, key, f"{path}; not rewritten: {why}" if why else path) for key, path in found]


class _Places:
    """Where what a projection holds is outside it."""

    def __init__(self, durable: Durable, record: Record, spellings: tuple[str, ...]) -> None:
        self._durable = durable
        self._native = record.native.rstrip("/")
        pairs = [(state.key.rstrip("/"), state.durable.rstrip("/")) for state in record.states if state.durable]
        self._states = sorted(pairs, key=lambda pair: -len(pair[0]))
        names = "|".join(re.escape(path) for path in spellings)
        self._path = re.compile(rf"(?:{names})(?![\w.-])")
        # However the path is escaped, the run's own letters are in it.
        self._mark = record.root.rstrip("/").rpartition("-")[2].encode(errors="surrogateescape")

    def may_name(self, content: bytes) -> bool:
        """Return whether a content can hold the path at all; binary content is never text."""
        return self._mark in content and b"\0" not in content

    def rewritten(self, text: str) -> str:
        """Return the text with each path rewritten if its native place exists.

        In JSON only those strings change.
        """
        if parsed(text.encode()) is None:
            return self._in_plain(text)
        pieces: list[str] = []
        copied = 0
        for span in strings(text):
            literal = text[span.start - 1 : span.end + 1]
            value = json.loads(literal)
            new = self._in_plain(value)
            if new != value:
                pieces += (text[copied : span.start - 1], json.dumps(new, ensure_ascii=literal.isascii()))
                copied = span.end + 1
        return "".join((*pieces, text[copied:]))

    def left(self, text: str) -> list[tuple[str, str]]:
        """Return (key or line, path) for each path of the projection in a text."""
        document = parsed(text.encode())
        if document is None:
            lines = enumerate(text.splitlines(), 1)
            return [(f"line {number}", path) for number, line in lines for path in self._paths(line)]
        return [(key, path) for key, value in _texts(document, "") for path in self._paths(value)]

    def _paths(self, text: str) -> Iterator[str]:
        for found in self._path.finditer(text):
            yield text[found.start() : _end(text, found.end(), _ENDS[-1])]

    def _in_plain(self, text: str) -> str:
        pieces: list[str] = []
        copied = 0
        for found in self._path.finditer(text):
            place = self._place(text, found.end())
            if place:
                pieces += (text[copied : found.start()], place[0])
                copied = found.end() + place[1]
        return "".join((*pieces, text[copied:]))

    def _place(self, text: str, start: int) -> tuple[str, int] | None:
        """Return the native place of the path, whose rest begins at `start`, and the rest's length in it."""
        for end in _ENDS:
            rest = text[start : _end(text, start, end)]
            place, covered = self._outside(rest)
            if ".." not in rest.split("/") and self._durable.exists(place + rest[covered:]):
                return place, covered
        return None

    def _outside(self, rest: str) -> tuple[str, int]:
        for key, durable in self._states:
            if rest[1:] == key or rest.startswith(f"/{key}/"):
                return durable, len(key) + 1
        return self._native, 0


def _end(text: str, start: int, end: re.Pattern[str]) -> int:
    found = end.search(text, start)
    return found.start() if found else len(text)


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield (key path, text) for each string in a JSON value, names of members among them."""
    if isinstance(value, str):
        yield key or "the value", value
    elif isinstance(value, dict):
        for name, inner in value.items():
            here = f"{key}.{name}" if key else name
            yield here, name
            yield from _texts(inner, here)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{key}[{index}]")
