"""Markdown with YAML front matter, and a line-wise reading of front matter that is nearly YAML.

See spec/15, V6, V11 and V13.
"""

import json
import re
from typing import NamedTuple

from outfitter.model.request import Position
from outfitter.syntax import yaml_core
from outfitter.syntax.fault import DuplicateKeyError, Node, Parsed, Remark, TextError, TooLargeError, kind_of, positions

# More keys than this are not read line by line: each is parsed alone.
MAXIMUM_LINE_WISE = 1000
# What decides what an agent is or may do must be YAML; any other key that is none is read as text.
_USED_KEYS = (
    "inherits", "skills", "subagents", "mcp", "extensions", "plugins", "controls", "systemprompt", "prompttemplate",
    "appendsystemprompt", "references", "scripts", "assets", "abstract", "enabled", "mainagent", "readonly", "hooks",
    "isolation", "maxturns", "steps", "background",
)  # fmt: skip
_LIMIT_PARTS = ("tool", "permission", "policy", "allow", "deny", "block", "forbid", "exclude", "restrict", "guard", "sandbox", "approval", "mcp")  # fmt: skip
# One of these, or a limit, must be in what is below the first line, to be front matter and no text between rules.
_TELLING_KEYS = ("name", "description", "id", "label", "model")
_ZERO_WIDTH = "\ufeff\u200b\u200c\u200d\u2060"
_HINT_LENGTH = 100
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
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

    Lines above it that carry no content are passed over, with a remark. Raises `TextError` if it is not closed or not readable.
    """
    lines = _LINE.findall(text)
    above = 0 if lines and _FENCE.fullmatch(lines[0]) else lines_above(lines)
    if above >= len(lines) or not _opens(lines[above]):
        return Parsed(None, {}, text)
    end = next((n for n, line in enumerate(lines[above + 1 :], above + 1) if _FENCE.fullmatch(line)), 0)
    late = not _FENCE.fullmatch(lines[0])
    if late and not (end and _tells(_entries(lines[above + 1 : end]))):
        return Parsed(None, {}, text)
    if not end:
        raise TextError("the front matter is not closed", Position(1, 1), hint="add a line '---' after it")
    node, remarks = _front_matter(lines[above + 1 : end], above + 1)
    if node.value is not None and not isinstance(node.value, dict):
        raise TextError(f"the front matter is {kind_of(node.value)}, not a mapping", Position(above + 2, 1))
    start = sum(map(len, lines[: end + 1]))
    said = (*((_late(above + 1),) if late else ()), *remarks)
    return Parsed(node.value or {}, positions(node), text, start, remarks=said)


def lines_above(lines: list[str]) -> int:
    """Count the first lines that carry no content.

    Blank ones, comments of HTML and of scripts, and an opening code fence.
    """
    number, comment = 0, False
    for number, line in enumerate(lines):
        bare = line.strip(" \t\r\n" + _ZERO_WIDTH)
        if comment or bare.startswith("<!--"):
            comment = "-->" not in bare
            if comment or bare.endswith("-->"):
                continue
            return number
        if bare and not bare.startswith(("#", "//", "%", "```", "~~~")):
            return number
    return len(lines)


def _opens(line: str) -> bool:
    return _FENCE.fullmatch(line.lstrip(_ZERO_WIDTH)) is not None


def _tells(entries: list[_Entry]) -> bool:
    """Whether keys below the first line are an author's front matter, not text between two rules."""
    return any(entry.key in _TELLING_KEYS or _is_limit(entry.key) for entry in entries)


def _is_limit(key: str) -> bool:
    return any(part in key.lower() for part in _LIMIT_PARTS)


def _must_parse(key: str) -> bool:
    return _is_limit(key) or key.lower().replace("_", "").replace("-", "") in _USED_KEYS


def _late(line: int) -> Remark:
    message = "front matter below the first line is read here; Claude Code itself ignores it"
    return Remark("front-matter-late", message, line, "remove everything above it")


def _front_matter(lines: list[str], above: int) -> tuple[Node, tuple[Remark, ...]]:
    """Front matter below `above` lines, the fence included, as YAML or else line by line."""
    try:
        return yaml_core.load("".join(lines), skipped=above), ()
    except TextError as fault:
        entries = _entries(lines)
        if not 0 < len(entries) <= MAXIMUM_LINE_WISE or isinstance(fault, (DuplicateKeyError, TooLargeError)):
            raise
        return _line_wise(entries, above + 1)


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


def _line_wise(entries: list[_Entry], first_line: int) -> tuple[Node, tuple[Remark, ...]]:
    """Parse each entry as YAML of its own.

    One that fails is taken as text, with a remark, if nothing depends on it.
    """
    children: dict[str, tuple[Position, Node]] = {}
    remarks: list[Remark] = []
    for entry in entries:
        line = entry.line + first_line
        if entry.key in children:
            first = children[entry.key][0].line
            raise DuplicateKeyError(first, Position(line, 1), entry.key)
        try:
            alone = yaml_core.load("".join(entry.lines), skipped=line - 1)
            (pair,) = alone.children.values()
            children[entry.key] = pair
        except TextError as fault:
            if _must_parse(entry.key) or isinstance(fault, TooLargeError):
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
    short = value if len(value) <= _HINT_LENGTH else value[: _HINT_LENGTH - 1] + "…"
    quoted = f"{key}: {json.dumps(short, ensure_ascii=False)}"
    return Remark("near-yaml", f"{key} is not valid YAML; it is read as text", line, f"write {quoted}")
