"""YAML text to a JSON-like value with positions: one document, core schema, bounded.

Tags never build objects; size and depth are limited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from outfitter.model.request import Position
from outfitter.syntax.fault import MAXIMUM_DEPTH, MAXIMUM_NODES, DuplicateKeyError, Node, TextError, TooLargeError
from outfitter.syntax.scalars import Scalar, plain

_CORE = "tag:yaml.org,2002:"
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HINTS = {
    "mapping values are not allowed": "quote a value that contains ': '",
    "cannot start any token": "quote a value that begins with a special character",
}
_MAPPINGS = ("", f"{_CORE}map")
_SEQUENCES = ("", f"{_CORE}seq")


def load(text: str, skipped: int = 0) -> Node:
    """Return the one document in a text, null if there is none. Raises `TextError`.

    `skipped` lines of the file come before the text.
    """
    from yaml import YAMLError

    unprintable = _UNPRINTABLE.search(text)
    if unprintable:
        raise _unprintable(text, unprintable, skipped)
    try:
        return _Reader(_events(text), skipped).document()
    except YAMLError as error:
        raise _fault(text, error, skipped) from None


def _events(text: str) -> Iterator[Any]:
    import yaml

    return iter(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # type: ignore[no-untyped-call, unused-ignore]


class _Reader:
    """Composes one document from parser events and counts what aliases expand to."""

    def __init__(self, events: Iterator[Any], skipped: int) -> None:
        self.events = events
        self.skipped = skipped
        self.anchors: dict[str, Node] = {}
        self.count = 0
        self.builders: dict[str, Callable[[Any, int], Node]] = {
            "ScalarEvent": lambda event, _: self.scalar(event),
            "AliasEvent": lambda event, _: self.alias(event),
            "SequenceStartEvent": self.sequence,
            "MappingStartEvent": self.mapping,
        }

    def document(self) -> Node:
        node: Node | None = None
        for event in self.events:
            if type(event).__name__ != "DocumentStartEvent":
                continue
            if node is not None:
                raise TextError(
                    "contains a second document; only one is read", self.at(event), hint="remove the '---' line"
                )
            node = self.node(next(self.events), 0)
        return node or Node(None, {})

    def at(self, event: Any) -> Position:
        return Position(event.start_mark.line + 1 + self.skipped, event.start_mark.column + 1)

    def node(self, event: Any, depth: int) -> Node:
        if depth > MAXIMUM_DEPTH:
            raise TooLargeError(f"is nested deeper than {MAXIMUM_DEPTH} levels", self.at(event))
        made = self.builders[type(event).__name__](event, depth)
        self.count += made.size if type(event).__name__ == "AliasEvent" else 1
        if self.count > MAXIMUM_NODES:
            raise TooLargeError(f"expands to more than {MAXIMUM_NODES:,} values", self.at(event))
        if getattr(event, "anchor", None) and type(event).__name__ != "AliasEvent":
            self.anchors[event.anchor] = made
        return made

    def alias(self, event: Any) -> Node:
        if event.anchor not in self.anchors:
            raise TextError(f"alias *{event.anchor} has no anchor before it", self.at(event), hint=_HINTS_QUOTE)
        return self.anchors[event.anchor]

    def scalar(self, event: Any) -> Node:
        if "\0" in event.value or any("\ud800" <= c <= "\udfff" for c in event.value):
            raise TextError("contains an escape that is not a text character", self.at(event))
        try:
            return Node(_resolve(event), {})
        except ValueError as error:
            raise TextError(str(error), self.at(event), hint=_HINTS_QUOTE) from None

    def sequence(self, event: Any, depth: int) -> Node:
        self.expect_tag(event, _SEQUENCES)
        children: dict[str, tuple[Position, Node]] = {}
        while type(item := next(self.events)).__name__ != "SequenceEndEvent":
            children[str(len(children))] = (self.at(item), self.node(item, depth + 1))
        values = [child.value for _, child in children.values()]
        return Node(values, children, 1 + sum(child.size for _, child in children.values()))

    def mapping(self, event: Any, depth: int) -> Node:
        self.expect_tag(event, _MAPPINGS)
        children: dict[str, tuple[Position, Node]] = {}
        merged: dict[str, tuple[Position, Node]] = {}
        while type(item := next(self.events)).__name__ != "MappingEndEvent":
            key, is_merge = self.key(item)
            at = self.at(item)
            value = self.node(next(self.events), depth + 1)
            if is_merge:
                merged = {**self.merged(value, at), **merged}
            elif key in children:
                first = children[key][0].line
                raise DuplicateKeyError(first, at, key)
            else:
                children[key] = (at, value)
        children = {**children, **{name: pair for name, pair in merged.items() if name not in children}}
        values = {name: child.value for name, (_, child) in children.items()}
        return Node(values, children, 1 + sum(child.size for _, child in children.values()))

    def key(self, event: Any) -> tuple[str, bool]:
        """A key as text, whatever scalar it spells; and whether it is the merge key."""
        if type(event).__name__ == "AliasEvent":
            value = self.alias(event).value
            if isinstance(value, str):
                return value, False
        if type(event).__name__ != "ScalarEvent":
            raise TextError("a key must be text", self.at(event), hint="quote it")
        self.scalar(event)
        if not event.value and not event.style:
            raise TextError("a key is missing before ':'", self.at(event))
        if event.anchor:
            self.anchors[event.anchor] = Node(event.value, {})
        return event.value, event.value == "<<" and not event.style

    def merged(self, value: Node, at: Position) -> dict[str, tuple[Position, Node]]:
        """What `<<` brings in: a mapping, or mappings of which the first to name a key wins."""
        sources = [value] if isinstance(value.value, dict) else [child for _, child in value.children.values()]
        if not sources or not all(isinstance(source.value, dict) for source in sources):
            raise TextError("'<<' takes a mapping or a list of mappings", at)
        found: dict[str, tuple[Position, Node]] = {}
        for source in reversed(sources):
            found.update(source.children)
        return found

    def expect_tag(self, event: Any, allowed: tuple[str, ...]) -> None:
        if (event.tag or "") not in allowed and event.tag != "!":
            raise _foreign_tag(event.tag, self.at(event))


_HINTS_QUOTE = "quote the value if it is meant as text"


def _resolve(event: Any) -> Scalar:
    """Return a scalar's value by its tag, or by its spelling if it has neither tag nor quotes.

    Raises `ValueError` for an unsupported tag.
    """
    tag = event.tag or ""
    if tag in ("!", f"{_CORE}str") or (not tag and event.style):
        return str(event.value)
    value = plain(event.value)
    kinds: dict[str, type | tuple[type, ...]] = {"null": type(None), "bool": bool, "int": int, "float": (int, float)}
    wanted = kinds.get(tag.removeprefix(_CORE)) if tag else object
    if wanted is None:
        raise ValueError(f"tag {_shown(tag)} is not supported")
    if not isinstance(value, wanted) or (isinstance(value, bool) and tag and tag != f"{_CORE}bool"):
        raise ValueError(f"{event.value!r} is not a valid {tag.removeprefix(_CORE)}")
    return value


def _foreign_tag(tag: str, at: Position) -> TextError:
    return TextError(f"tag {_shown(tag)} is not supported", at, hint=_HINTS_QUOTE)


def _shown(tag: str) -> str:
    return "!!" + tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag


def _unprintable(text: str, found: re.Match[str], skipped: int) -> TextError:
    before = text[: found.start()]
    at = Position(before.count("\n") + 1 + skipped, len(before) - (before.rfind("\n") + 1) + 1)
    return TextError(f"contains the control character U+{ord(found.group()):04X}", at)


def _fault(text: str, error: Any, skipped: int) -> TextError:
    """The parser's complaint in one line; a tab where it stumbled is called by its name (spec/95 YML-06)."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return TextError(f"is not readable as YAML: {getattr(error, 'reason', None) or error}".splitlines()[0])
    at = Position(mark.line + 1 + skipped, mark.column + 1)
    lines = text.split("\n")
    line = lines[mark.line] if mark.line < len(lines) else ""
    blank = line[: len(line) - len(line.lstrip())]
    if "\t" in blank or line[mark.column : mark.column + 1] == "\t":
        return TextError("tab used for indentation", at, hint="indent with spaces")
    problem = str(error.problem)
    hint = next((hint for words, hint in _HINTS.items() if words in problem), "")
    context = f" {error.context}" if getattr(error, "context", None) else ""
    return TextError(f"is not valid YAML: {problem}{context}", at, hint=hint)
