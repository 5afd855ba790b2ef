"""Edit one top-level member of a JSON file; every other byte stays (spec/40, 006.5.15). Pure."""

import json
from typing import Any

from outfitter.adapters.native_json import refuse_constant
from outfitter.syntax.json_scanner import BYTE_ORDER_MARK, MemberSpan, root_members

_BLANKS = " \t\n\r"


def member_text(content: bytes, member: str) -> str | None:
    """Return a top-level member's value as it is spelled, None without one or without a JSON object."""
    text = _text(content)
    spans = None if text is None else root_members(text)
    if text is None or spans is None or member not in spans:
        return None
    span = spans[member]
    return text[span.start : span.end]


def edited(content: bytes, member: str, value: str) -> bytes | None:
    """Return the file with `member` set to the JSON text `value`; None if that cannot be done safely.

    An existing member is replaced where it stands (of a repeated one the last, which is the one that counts); a new one goes
    last, spaced as its neighbours are.
    """
    text = _text(content)
    spans = None if text is None else root_members(text)
    if text is None or spans is None:
        return None
    made = _replaced(text, spans[member], value) if member in spans else _appended(text, spans, member, value)
    return made.encode() if _proved(text, made, member, value) else None


def _text(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _replaced(text: str, span: MemberSpan, value: str) -> str:
    return text[: span.start] + value + text[span.end :]


def _appended(text: str, spans: dict[str, MemberSpan], member: str, value: str) -> str:
    name = json.dumps(member)
    if not spans:
        brace = text.index("{") + 1
        return text[:brace] + f"{name}: {value}" + text[brace:].lstrip(_BLANKS)
    last = max(spans.values(), key=lambda span: span.end)
    before = text[: last.key]
    space = before[len(before.rstrip(_BLANKS)) :]
    colon = text[last.key : last.start].split(":")[-1]
    return text[: last.end] + f",{space}{name}:{colon}{value}" + text[last.end :]


def _proved(old: str, new: str, member: str, value: str) -> bool:
    """Return whether only the member differs between the texts; numbers are compared as they are spelled."""
    try:
        wanted = {**_exact(old), member: _exact(value)}
        return bool(_exact(new) == wanted and list(_exact(new)) == list(wanted))
    except (ValueError, RecursionError):
        return False


def _exact(text: str) -> Any:
    return json.loads(
        text.removeprefix(BYTE_ORDER_MARK),
        parse_int=lambda n: ("int", n),
        parse_float=lambda n: ("float", n),
        parse_constant=refuse_constant,
    )
