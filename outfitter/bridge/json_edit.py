"""One top-level key of a JSON file edited in place: every other byte, order and spelling stays (spec/40, 006.5.15). Pure."""

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_BOM = "\ufeff"
_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class Span(NamedTuple):
    """Where a member stands in the text: the key's quote, and the value's first and one past its last character."""

    key: int
    start: int
    end: int


def member_text(content: bytes, member: str) -> str | None:
    """A top-level member's value exactly as it is spelled, None where there is none or the file is no JSON object."""
    text = _text(content)
    spans = None if text is None else _spans(text)
    if text is None or spans is None or member not in spans:
        return None
    span = spans[member]
    return text[span.start : span.end]


def edited(content: bytes, member: str, value: str) -> bytes | None:
    """The file with `member` set to the JSON text `value`; None where it is no JSON object in UTF-8, or it cannot be proved.

    An existing member is replaced where it stands (of a repeated one the last, which is the one that counts); a new one goes
    last, spaced as its neighbours are.
    """
    text = _text(content)
    spans = None if text is None else _spans(text)
    if text is None or spans is None:
        return None
    made = _replaced(text, spans[member], value) if member in spans else _appended(text, spans, member, value)
    return made.encode() if _proved(text, made, member, value) else None


def _text(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _spans(text: str) -> dict[str, Span] | None:
    """Every member of the root object, or None where the text is no JSON object and nothing else."""
    try:
        at = _skip(text, len(_BOM) if text.startswith(_BOM) else 0)
        if text[at : at + 1] != "{":
            return None
        spans: dict[str, Span] = {}
        at = _skip(text, at + 1)
        if text[at : at + 1] == "}":
            return spans if _skip(text, at + 1) == len(text) else None
        while True:
            key = at
            if text[at : at + 1] != '"':
                return None
            name, at = scanstring(text, at + 1, True)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                return None
            start = _skip(text, at + 1)
            _, end = _DECODER.raw_decode(text, start)
            spans[name] = Span(key, start, end)
            at = _skip(text, end)
            if text[at : at + 1] == "}":
                return spans if _skip(text, at + 1) == len(text) else None
            if text[at : at + 1] != ",":
                return None
            at = _skip(text, at + 1)
    except (ValueError, RecursionError):
        return None


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _replaced(text: str, span: Span, value: str) -> str:
    return text[: span.start] + value + text[span.end :]


def _appended(text: str, spans: dict[str, Span], member: str, value: str) -> str:
    name = json.dumps(member)
    if not spans:
        brace = text.index("{") + 1
        return text[:brace] + f"{name}: {value}" + text[_skip(text, brace) :]
    last = max(spans.values(), key=lambda span: span.end)
    before = text[: last.key]
    space = before[len(before.rstrip(" \t\n\r")) :]
    colon = text[last.key : last.start].split(":")[-1]
    return text[: last.end] + f",{space}{name}:{colon}{value}" + text[last.end :]


def _proved(old: str, new: str, member: str, value: str) -> bool:
    """Whether the new text says what the old one says but for the member, numbers compared as they are spelled."""
    try:
        wanted = {**_exact(old), member: _exact(value)}
        return bool(_exact(new) == wanted and list(_exact(new)) == list(wanted))
    except (ValueError, RecursionError):
        return False


def _exact(text: str) -> Any:
    return json.loads(
        text.removeprefix(_BOM),
        parse_int=lambda n: ("int", n),
        parse_float=lambda n: ("float", n),
        parse_constant=_refuse,
    )


def _refuse(word: str) -> Any:
    raise ValueError(word)
