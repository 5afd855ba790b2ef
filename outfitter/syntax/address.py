"""Credentials in addresses: found, hidden or removed, in any text and in time linear in its length. Pure.

An address is `scheme://authority/path?query#fragment`. Its credentials are the user part of the authority (all before its
last `@`) and the values of query parameters named like a secret. Programs disagree about a password that was not
percent-encoded, so whatever one of them could take for a password counts as one: too much hidden is better than too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HIDDEN = "***"

_WORD = re.compile(r"\S+")
# Where an address begins, or the name of a parameter in a query or a fragment ends.
_SIGN = re.compile(r"://|[?&#;]([^\s=&#;?]*)=")
_AUTHORITY = re.compile(r"[^/?#\s]*")
_VALUE = re.compile(r"[^\s&#]*")
# The quotes and stops after a value belong to the text around the address.
_AFTER_VALUE = "'\"`.,:;!)]}>"
_SECRET_NAME = re.compile(
    r"(token|secret|password|passwd|credentials?|signature|apikey|accesskey|privatekey|authorization)$"
    r"|(^|[_.\-])(key|pwd|pass|sig|auth|jwt)$",
    re.IGNORECASE,
)
# What stands where a port would, and is neither one nor a reference to one: the start of an unencoded password.
_NO_PORT = re.compile(r"\d*[^\d\]${}][^\]${}]*")


def hide_credentials(text: str) -> str:
    """The text with each user part as `***@` and each secret value as `***`: for people to read."""
    return _replaced(text, HIDDEN + "@", HIDDEN)


def without_credentials(text: str) -> str:
    """The text with each user part removed and each secret value empty: an address to compare, name or write."""
    return _replaced(text, "", "")


def has_credentials(text: str) -> bool:
    """Whether an address in the text has a user part or a secret query value."""
    return next(_spans(text), None) is not None


def user_parts(text: str) -> Iterator[str]:
    """Yield the user part of each address, without its `@`."""
    return (text[start : end - 1] for start, end, user in _spans(text) if user)


def _replaced(text: str, user: str, value: str) -> str:
    parts: list[str] = []
    done = 0
    for start, end, is_user in _spans(text):
        parts += (text[done:start], user if is_user else value)
        done = end
    return "".join((*parts, text[done:]))


def _spans(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, whether it is a user part) of each credential, in order. A user part's span includes its `@`."""
    if "://" not in text:
        return
    for word in _WORD.finditer(text):
        first = text.find("://", word.start(), word.end())
        if first >= 0:
            yield from _in_word(text, first, word.end())


def _in_word(text: str, position: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Go once over a word that begins an address at `position`, so that time stays linear."""
    last_at = text.rfind("@", position, end)
    while sign := _SIGN.search(text, position, end):
        if sign[1] is None:
            at, position = _user_end(text, sign.end(), end, last_at)
            if at >= 0 and not _is_ssh_user(text, sign.start(), at):
                yield sign.end(), at + 1, True
        else:
            position = sign.end()
            if _SECRET_NAME.search(sign[1]):
                value = _matched(_VALUE, text, position, end).rstrip(_AFTER_VALUE)
                if value:
                    yield position, position + len(value), False
                position += len(value)


def _user_end(text: str, start: int, end: int, last_at: int) -> tuple[int, int]:
    """(the `@` that ends the user part of the address whose authority begins at `start`, or -1; where to go on)."""
    authority = _matched(_AUTHORITY, text, start, end)
    stop = start + len(authority)
    at = text.rfind("@", start, stop)
    if at < 0 and last_at > stop and _begins_password(authority):
        return last_at, last_at + 1
    return at, stop


def _matched(pattern: re.Pattern[str], text: str, start: int, end: int) -> str:
    match = pattern.match(text, start, end)
    return match[0] if match else ""


def _begins_password(authority: str) -> bool:
    """Whether an authority without `@` ends in a password cut by its own `/`, `?` or `#`, as in `https://user:p/ss@host`."""
    port = authority.rpartition(":")[2] if ":" in authority else ""
    return _NO_PORT.fullmatch(port) is not None


def _is_ssh_user(text: str, scheme_end: int, at: int) -> bool:
    """Whether this is the account name of an ssh address, which is not a secret: `ssh://git@host`."""
    scheme = text[max(scheme_end - 3, 0) : scheme_end].lower()
    return scheme == "ssh" and ":" not in text[scheme_end + 3 : at]
