"""Read JSON text with the position of everything in it: strict loading, member spans, string spans."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from json.decoder import JSONDecodeError, JSONDecoder, scanstring  # type: ignore[attr-defined]

from outfitter.model.request import Position
from outfitter.model.value import NamedTuple
from outfitter.syntax.fault import MAXIMUM_DEPTH, MAXIMUM_NODES, DuplicateKeyError, Node, TextError
from outfitter.syntax.scalars import LONGEST_NUMBER

BYTE_ORDER_MARK = "\ufeff"
_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"\w+")
_WORDS = {"true": True, "false": False, "null": None}
_NOT_TEXT = re.compile("[\ud800-\udfff\0]")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'


class MemberSpan(NamedTuple):
    """Offsets of a member: its key's opening quote, its value's first character, and the one after it."""

    key: int
    start: int
    end: int


class StringSpan(NamedTuple):
    """Offsets of what is between the quotes of a string."""

    start: int
    end: int


def load(text: str) -> Node:
    """Return the one value in a text; a blank text is an empty mapping (`mcp.json` with no servers).

    Comments, trailing commas, NaN, a repeated key, more than `MAXIMUM_NODES` values and more than `MAXIMUM_DEPTH` levels
    raise `TextError`.
    """
    reader = _NodeReader(text)
    if reader.blank() == len(text):
        return Node({}, {})
    node = reader.value(0)
    if reader.blank() < len(text):
        raise TextError("is not valid JSON: unexpected text after the value", reader.position(reader.here))
    return node


def root_members(text: str) -> dict[str, MemberSpan] | None:
    """Return the span of each member of the root object; None where the text is not one JSON object.

    Of a repeated key the last counts. A byte-order mark is accepted. Values are read at any size and depth that the
    standard library reads.
    """
    scanner = Scanner(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
    spans: dict[str, MemberSpan] = {}
    try:
        if not scanner.sees("{"):
            return None
        for key, name in scanner.members():
            start = scanner.here
            scanner.skip_value()
            spans[name] = MemberSpan(key, start, scanner.here)
    except (TextError, ValueError, RecursionError):
        return None
    return spans if scanner.blank() == len(text) else None


def strings(text: str) -> Iterator[StringSpan]:
    """Yield the span of every string in a valid JSON text, keys among them, in order."""
    return (StringSpan(literal.start() + 1, literal.end() - 1) for literal in re.finditer(_STRING, text))


class Scanner:
    """A cursor over a JSON text. Each method leaves it behind what it read; errors are `TextError`."""

    def __init__(self, text: str, here: int = 0) -> None:
        """Start at the offset `here`."""
        self.text = text
        self.here = here
        self._line_starts: list[int] = []

    def position(self, offset: int) -> Position:
        """Return the line and column of an offset."""
        if not self._line_starts:
            self._line_starts = [0, *(newline.end() for newline in re.finditer("\n", self.text))]
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def error(self, message: str, hint: str = "") -> TextError:
        """Return the error for invalid JSON at the cursor."""
        return TextError(f"is not valid JSON: {message}", self.position(self.here), hint=hint)

    def blank(self) -> int:
        """Step over white space and return the offset after it."""
        self.here = _BLANK.match(self.text, self.here).end()  # type: ignore[union-attr]
        return self.here

    def sees(self, mark: str) -> bool:
        """Step over white space; True if `mark` follows."""
        return self.text.startswith(mark, self.blank())

    def string(self) -> str:
        """Read the string that begins at the cursor."""
        try:
            value, self.here = scanstring(self.text, self.here + 1, True)
        except JSONDecodeError as error:
            raise TextError(f"is not valid JSON: {error.msg}", self.position(error.pos)) from None
        return str(value)

    def skip_value(self) -> None:
        """Step over one value.

        Raises `ValueError` if it is not JSON, `RecursionError` if it is too deep.
        """
        # The standard library's scanner is in C: state files hold megabytes below one member.
        _, self.here = JSONDecoder().raw_decode(self.text, self.here)

    def members(self) -> Iterator[tuple[int, str]]:
        """Yield the offset and name of each key of the object at the cursor.

        Read the value before asking for the next key.
        """
        self.here += 1
        first = True
        while not self._closes("}", first):
            first = False
            key = self.here
            if not self.sees('"'):
                raise self.error("expected a key in double quotes")
            name = self.string()
            if not self.sees(":"):
                raise self.error("expected ':'")
            self.here += 1
            self.blank()
            yield key, name

    def items(self) -> Iterator[int]:
        """Yield the offset of each item of the list at the cursor; read the item before the next is asked for."""
        self.here += 1
        first = True
        while not self._closes("]", first):
            first = False
            yield self.here

    def _closes(self, bracket: str, first: bool) -> bool:
        """Step over the end of a list or object, or over the comma to its next item."""
        if self.sees(bracket):
            self.here += 1
            return True
        if first:
            return False
        if not self.sees(","):
            raise self.error(f"expected ',' or '{bracket}'" if self.here < len(self.text) else "unexpected end of file")
        self.here += 1
        if self.sees(bracket):
            raise self.error("trailing comma", "remove the comma")
        return False


class _NodeReader(Scanner):
    """Reads values within limits, each with its position."""

    count = 0

    def value(self, depth: int) -> Node:
        if depth > MAXIMUM_DEPTH:
            raise TextError(f"is nested deeper than {MAXIMUM_DEPTH} levels", self.position(self.here))
        self.count += 1
        if self.count > MAXIMUM_NODES:
            raise TextError(f"contains more than {MAXIMUM_NODES:,} values", self.position(self.here))
        match self.text[self.here : self.here + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._list(depth)
            case '"':
                return Node(self.string(), {})
            case _:
                return self._number_or_word()

    def string(self) -> str:
        start = self.here
        value = super().string()
        bad = _NOT_TEXT.search(value)
        if bad:
            raise TextError(f"contains \\u{ord(bad.group()):04x}, which is not a text character", self.position(start))
        return value

    def _object(self, depth: int) -> Node:
        children: dict[str, tuple[Position, Node]] = {}
        for key, name in self.members():
            at = self.position(key)
            if name in children:
                first = children[name][0].line
                raise DuplicateKeyError(first, at, name)
            children[name] = (at, self.value(depth + 1))
        return Node({name: child.value for name, (_, child) in children.items()}, children)

    def _list(self, depth: int) -> Node:
        children: dict[str, tuple[Position, Node]] = {}
        for start in self.items():
            at = self.position(start)
            children[str(len(children))] = (at, self.value(depth + 1))
        return Node([child.value for _, child in children.values()], children)

    def _number_or_word(self) -> Node:
        number = _NUMBER.match(self.text, self.here)
        if number:
            if len(number.group()) > LONGEST_NUMBER:
                raise self.error(f"a number of {len(number.group())} digits")
            self.here = number.end()
            return Node(self._number(number), {})
        word = _WORD.match(self.text, self.here)
        if word and word.group() in _WORDS:
            self.here = word.end()
            return Node(_WORDS[word.group()], {})
        if self.here == len(self.text):
            raise self.error("unexpected end of file")
        shown = word.group()[:20] if word else self.text[self.here]
        raise self.error(f"expected a value, got {shown!r}")

    def _number(self, number: re.Match[str]) -> int | float:
        if not (number.group(1) or number.group(2)):
            return int(number.group())
        value = float(number.group())
        if value in (float("inf"), float("-inf")):
            raise TextError(
                f"contains a number that is too large: {number.group()[:20]}", self.position(number.start())
            )
        return value
