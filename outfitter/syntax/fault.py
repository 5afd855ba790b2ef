"""What the readers share: the error that ends a reading, and a parse without its file's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.model.request import Position
from outfitter.model.settings import KeyPath
from outfitter.model.value import NamedTuple

MAXIMUM_DEPTH = 100
MAXIMUM_NODES = 100_000


_NOWHERE = Position()


class TextError(Exception):
    """Text that cannot be read; raised and caught inside `outfitter.syntax` only."""

    def __init__(self, message: str, at: Position = _NOWHERE, key: str = "", hint: str = "") -> None:
        """`at` counts in the whole file; `key` is the dotted path where one is known."""
        super().__init__(message)
        self.message = message
        self.at = at
        self.key = key
        self.hint = hint


class TooLargeError(TextError):
    """A value that is nested too deep or expands to too many values."""


class DuplicateKeyError(TextError):
    """A key written twice in one mapping."""

    def __init__(self, first_line: int, at: Position, key: str) -> None:
        """`at` is where the key is repeated, `first_line` the line on which it was written first."""
        super().__init__(f"duplicate key (first on line {first_line})", at, key, "keep one of the two")


class Flaw(NamedTuple):
    """Something wrong in a text whose file is not known yet."""

    message: str
    at: Position = Position()
    key: str = ""
    hint: str = ""


class Remark(NamedTuple):
    """A warning about something that was read although it was written wrongly.

    `hint` says what to write instead.
    """

    code: str
    message: str
    line: int
    hint: str = ""


class Parsed(NamedTuple):
    """One text as read, without its path.

    `value` is JSON-like; keys and list indexes in `positions` are text.

    `text` is the whole text for the forms markdown and text, and `body` its end from `start` on.
    """

    value: Any
    positions: Mapping[KeyPath, Position]
    text: str = ""
    start: int = 0
    flaws: tuple[Flaw, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def body(self) -> str:
        """What follows the front matter."""
        return self.text[self.start :]


class Node(NamedTuple):
    """A value, the children in it with their positions, and how many values it expands to."""

    value: Any
    children: Mapping[str, tuple[Position, Node]]
    size: int = 1


def positions(node: Node) -> dict[KeyPath, Position]:
    """Every key path below a node with its place, outer before inner."""
    found: dict[KeyPath, Position] = {}
    waiting: list[tuple[KeyPath, Node]] = [((), node)]
    for prefix, here in waiting:
        for name, (at, child) in here.children.items():
            found[(*prefix, name)] = at
            waiting.append(((*prefix, name), child))
    return found


def dotted(path: KeyPath) -> str:
    """A key path as people write it."""
    return ".".join(path)


def kind_of(value: object) -> str:
    """A JSON-like value's kind in the words of a message."""
    match value:
        case None:
            return "empty"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case dict():
            return "a mapping"
        case _:
            return "a list"
