"""Strict JSON to a value with places: no comments, no trailing commas, no NaN, each key once."""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]

from outfitter.model.request import Position
from outfitter.syntax.fault import MAXIMUM_DEPTH, MAXIMUM_NODES, Node, TextError
from outfitter.syntax.scalars import LONGEST_NUMBER

_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"\w+")
_WORDS = {"true": True, "false": False, "null": None}
_NO_STRING = re.compile("[\ud800-\udfff\0]")


def load(text: str) -> Node:
    """The one value in a text; an empty text is an empty mapping (`mcp.json` with no servers). Raises `TextError`."""
    reader = _Reader(text)
    if reader.blank() == len(text):
        return Node({}, {})
    try:
        node = reader.value(0)
    except JSONDecodeError as error:
        raise TextError(f"is not valid JSON: {error.msg}", reader.at(error.pos)) from None
    if reader.blank() < len(text):
        raise TextError("is not valid JSON: more text after the end", reader.at(reader.here))
    return node


class _Reader:
    """A cursor over the text; every method leaves it behind what it read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.here = 0
        self.count = 0
        self.line_starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, offset: int) -> Position:
        from bisect import bisect_right

        line = bisect_right(self.line_starts, offset)
        return Position(line, offset - self.line_starts[line - 1] + 1)

    def blank(self) -> int:
        self.here = _BLANK.match(self.text, self.here).end()  # type: ignore[union-attr]
        return self.here

    def fail(self, message: str, hint: str = "") -> TextError:
        return TextError(f"is not valid JSON: {message}", self.at(self.here), hint=hint)

    def value(self, depth: int) -> Node:
        if depth > MAXIMUM_DEPTH:
            raise TextError(f"is nested deeper than {MAXIMUM_DEPTH} levels", self.at(self.here))
        self.count += 1
        if self.count > MAXIMUM_NODES:
            raise TextError(f"holds more than {MAXIMUM_NODES:,} values", self.at(self.here))
        first = self.text[self.here : self.here + 1]
        if first == "{":
            return self.members(depth)
        if first == "[":
            return self.items(depth)
        if first == '"':
            return Node(self.string(), {})
        return self.number_or_word()

    def string(self) -> str:
        start = self.here
        value, self.here = scanstring(self.text, start + 1, True)
        bad = _NO_STRING.search(value)
        if bad:
            raise TextError(f"holds \\u{ord(bad.group()):04x}, which is no character of a text", self.at(start))
        return str(value)

    def number_or_word(self) -> Node:
        found = _NUMBER.match(self.text, self.here)
        if found:
            if len(found.group()) > LONGEST_NUMBER:
                raise self.fail(f"a number of {len(found.group())} digits")
            self.here = found.end()
            return Node(self.number(found), {})
        word = _WORD.match(self.text, self.here)
        if word and word.group() in _WORDS:
            self.here = word.end()
            return Node(_WORDS[word.group()], {})
        shown = word.group()[:20] if word else self.text[self.here : self.here + 1] or "the end"
        raise self.fail(f"a value is expected, not {shown!r}" if self.here < len(self.text) else "it ends too early")

    def number(self, found: re.Match[str]) -> int | float:
        if not (found.group(1) or found.group(2)):
            return int(found.group())
        value = float(found.group())
        if value in (float("inf"), float("-inf")):
            raise TextError(f"holds a number too large: {found.group()[:20]}", self.at(found.start()))
        return value

    def items(self, depth: int) -> Node:
        children: dict[str, tuple[Position, Node]] = {}
        self.here += 1
        while not self.closes("]", bool(children)):
            at = self.at(self.here)
            children[str(len(children))] = (at, self.value(depth + 1))
        return Node([child.value for _, child in children.values()], children)

    def members(self, depth: int) -> Node:
        children: dict[str, tuple[Position, Node]] = {}
        self.here += 1
        while not self.closes("}", bool(children)):
            at = self.at(self.here)
            if self.text[self.here : self.here + 1] != '"':
                raise self.fail("a key in double quotes is expected")
            name = self.string()
            if name in children:
                first = children[name][0].line
                raise TextError(f"duplicate key (first on line {first})", at, name, "keep one of the two")
            if self.text[self.blank() : self.here + 1] != ":":
                raise self.fail("':' is expected")
            self.here += 1
            self.blank()
            children[name] = (at, self.value(depth + 1))
        return Node({name: child.value for name, (_, child) in children.items()}, children)

    def closes(self, bracket: str, after_item: bool) -> bool:
        """Step over the end of a list or mapping, or over the comma to its next item."""
        mark = self.text[self.blank() : self.here + 1]
        if mark == bracket:
            self.here += 1
            return True
        if not after_item:
            return False
        if mark != ",":
            raise self.fail(f"',' or '{bracket}' is expected" if mark else "it ends too early")
        self.here += 1
        if self.text[self.blank() : self.here + 1] == bracket:
            raise self.fail("a comma stands before the end", "remove the comma")
        return False
