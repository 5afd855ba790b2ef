"""Front matter edited as text: lines, comments and unknown keys stay.

Keys are added or put out of force. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.model.value import NamedTuple

_FENCE = re.compile(r"---[ \t]*")
_TOP = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|$)")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_/.-]*")
# Words that YAML reads as something other than text.
_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


class Halves(NamedTuple):
    """Front matter lines without fences, the body, and the line end that the file uses."""

    head: tuple[str, ...]
    body: str
    end: str = "\n"


def halves(text: str) -> Halves:
    """A Markdown text in its two parts; no head where there is no front matter."""
    text = text.removeprefix("\ufeff")
    end = "\r\n" if "\r\n" in text.partition("\n")[0] + "\n" else "\n"
    lines = re.split(r"(?<=\n)", text)
    if not _FENCE.fullmatch(lines[0].rstrip("\r\n")):
        return Halves((), text, end)
    close = next((n for n, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line.rstrip("\r\n"))), 0)
    if not close:
        return Halves((), text, end)
    return Halves(tuple(lines[1:close]), "".join(lines[close + 1 :]), end)


def joined(parts: Halves) -> str:
    """The text of the two parts."""
    return "".join((f"---{parts.end}", *parts.head, f"---{parts.end}", parts.body))


def with_keys(parts: Halves, added: Mapping[str, Any]) -> Halves:
    """The parts with keys added at the end of the head; a key that stands there already is left alone."""
    known = {found[1] for line in parts.head if (found := _TOP.match(line))}
    lines = tuple(f"{key}: {scalar(value)}{parts.end}" for key, value in added.items() if key not in known)
    return parts._replace(head=(*parts.head, *lines))


def without_keys(parts: Halves, reasons: Mapping[str, str]) -> Halves:
    """The parts with top-level keys turned into comments, the reason behind the key's line.

    Without a reason they are left out.
    """
    made: list[str] = []
    reason: str | None = None
    for line in parts.head:
        top = _TOP.match(line)
        if top or (line.strip() and not line.startswith((" ", "\t", "-", "#", "}", "]"))):
            reason = reasons.get(top[1]) if top else None
        if reason is None or (reason and line.startswith("#")):
            made.append(line)
            continue
        bare = line.rstrip("\r\n")
        if reason and bare.strip():
            made.append(f"# {bare}{f'  ({reason})' if top else ''}{parts.end}")
    return parts._replace(head=tuple(made))


def scalar(value: Any) -> str:
    """A value as YAML on one line, plain where that is safe, else as JSON, which is YAML too."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(key))}: {scalar(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(scalar(inner) for inner in value) + "]"
    return json.dumps(value, default=str)


def written(values: Mapping[str, Any], comments: Mapping[str, tuple[str, ...]], body: str) -> str:
    """A new Markdown text.

    Front matter in the order of `values`, `comments` above the key they belong to, then the body.
    """
    homeless = [comment for key, several in comments.items() if key not in values for comment in several]
    lines = [f"# {comment}".rstrip() + "\n" for comment in homeless]
    for key, value in values.items():
        lines += [f"# {comment}".rstrip() + "\n" for comment in comments.get(key, ())]
        if value is not None:
            lines.append(f"{key}: {scalar(value)}\n")
    text = body.strip("\n")
    return f"---\n{''.join(lines)}---\n\n{text}\n" if text else f"---\n{''.join(lines)}---\n"
