"""Markdown with YAML front matter, and a line-wise reading of front matter that is nearly YAML.

See spec/15, V11 and V13.
"""

import json
import re
from typing import NamedTuple

from outfitter.model.request import Position
from outfitter.syntax import yaml_core
from outfitter.syntax.fault import DuplicateKeyError, Node, Parsed, Remark, TextError, kind_of, positions

# More keys than this are not read line by line: each is parsed alone.
MAXIMUM_LINE_WISE = 1000
TEXT_KEYS = ("name", "id", "description", "label", "model")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# Blank lines and comments of HTML before anything else.
_ABOVE = re.compile(r"(?:[ \t]*\r?\n|[ \t]*<!--.*?-->[ \t]*\r?\n)+", re.DOTALL)
_FENCE = re.compile(r"---[ \t]*\r?\n?")
_TOP_LEVEL = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+|$)(.*)", re.DOTALL)


class _Entry(NamedTuple):
    """One top-level `key: rest` with its continuation lines; `line` counts from 0 inside the front matter."""

    key: str
    rest: str
    lines: list[str]
    line: int


def read(text: str) -> Parsed:
    """Split a text into front matter and body; the value is None if there is no front matter.

    Raises `TextError` if it is not closed or not readable.
    """
    lines = _LINE.findall(text)
    if not lines or not _FENCE.fullmatch(lines[0]):
        return Parsed(None, {}, text, remarks=_late(text))
    end = next((n for n, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), 0)
    if not end:
        raise TextError("the front matter is not closed", Position(1, 1), hint="add a line '---' after it")
    node, remarks = _front_matter(lines[1:end])
    if node.value is not None and not isinstance(node.value, dict):
        raise TextError(f"the front matter is {kind_of(node.value)}, not a mapping", Position(2, 1))
    start = sum(map(len, lines[: end + 1]))
    return Parsed(node.value or {}, positions(node), text, start, remarks=remarks)


def _late(text: str) -> tuple[Remark, ...]:
    """Return a warning for front matter below blank lines or a comment.

    Its limits would be lost silently.
    """
    above = _ABOVE.match(text)
    lines = _LINE.findall(text[above.end() :]) if above else []
    if not lines or not _FENCE.fullmatch(lines[0]):
        return ()
    end = next((n for n, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), 0)
    if not _entries(lines[1:end]):
        return ()
    line = text[: above.end()].count("\n") + 1 if above else 1
    message = "front matter must begin on the first line; this counts as text and sets nothing"
    return (Remark("front-matter-late", message, line, "remove everything above it"),)


def _front_matter(lines: list[str]) -> tuple[Node, tuple[Remark, ...]]:
    try:
        return yaml_core.load("".join(lines), skipped=1), ()
    except TextError as fault:
        entries = _entries(lines)
        if not 0 < len(entries) <= MAXIMUM_LINE_WISE or isinstance(fault, DuplicateKeyError):
            raise
        return _line_wise(entries)


def _entries(lines: list[str]) -> list[_Entry]:
    """Return the top-level keys with their lines.

    [] if a line is neither `key: rest` nor a continuation.
    """
    found: list[_Entry] = []
    for number, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        top = _TOP_LEVEL.fullmatch(bare)
        if top:
            found.append(_Entry(top.group(1), top.group(2), [line], number))
        elif not bare.strip() or bare.startswith(("#", "- ")) or bare[0] in " \t":
            if found:
                found[-1].lines.append(line)
            elif bare.strip() and not bare.startswith("#"):
                return []
        else:
            return []
    return found


def _line_wise(entries: list[_Entry]) -> tuple[Node, tuple[Remark, ...]]:
    """Parse each entry as YAML of its own; a text key that fails is taken as text, with a remark."""
    children: dict[str, tuple[Position, Node]] = {}
    remarks: list[Remark] = []
    for entry in entries:
        line = entry.line + 2
        if entry.key in children:
            first = children[entry.key][0].line
            raise DuplicateKeyError(first, Position(line, 1), entry.key)
        try:
            alone = yaml_core.load("".join(entry.lines), skipped=line - 1)
            (pair,) = alone.children.values()
            children[entry.key] = pair
        except TextError:
            if entry.key not in TEXT_KEYS:
                raise
            value = _as_text(entry)
            children[entry.key] = (Position(line, 1), Node(value, {}))
            remarks.append(_remark(entry.key, value, line))
    return Node({name: child.value for name, (_, child) in children.items()}, children), tuple(remarks)


def _as_text(entry: _Entry) -> str:
    """Return the text that the author meant.

    The rest of the line and its continuations joined by spaces, without one pair of outer quotes.
    """
    more = (line.strip() for line in entry.lines[1:] if not line.startswith(("#", "- ")))
    text = " ".join(part for part in (entry.rest.strip(), *more) if part)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


def _remark(key: str, value: str, line: int) -> Remark:
    quoted = f"{key}: {json.dumps(value, ensure_ascii=False)}"
    return Remark("near-yaml", f"{key} is not valid YAML; it is read as text", line, f"write {quoted}")
