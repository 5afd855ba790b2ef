"""Literal credentials in texts that would be copied: found by the forms of well-known tokens. Pure."""

from __future__ import annotations

import re

_PATTERN = (
    rb"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{24,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"
    rb"|xox[abprs]-[A-Za-z0-9-]{16,}|glpat-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|npm_[A-Za-z0-9]{36}"
    rb"|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[\s\S]{40,}?-----END"
)
_TOKEN = re.compile(rb"(?<![A-Za-z0-9_-])(?:" + _PATTERN + rb")")
# What documentation writes in a token's place.
_EXAMPLE = re.compile(rb"(?i)x{6}|example|your|placeholder|\.\.\.|0{8}|1234567|abcdef")

# What takes the place of a credential in a text.
HIDDEN = b"***"


def lines_with_credentials(content: bytes) -> tuple[int, ...]:
    """The lines, counted from 1, on which something has the form of a live credential."""
    found = (hit for hit in _TOKEN.finditer(content) if not _EXAMPLE.search(hit.group()))
    return tuple(dict.fromkeys(content.count(b"\n", 0, hit.start()) + 1 for hit in found))


def without_tokens(content: bytes) -> tuple[bytes, int]:
    """Return a text with every live credential as `***`, and how many there were."""
    hits = [hit for hit in _TOKEN.finditer(content) if not _EXAMPLE.search(hit.group())]
    for hit in reversed(hits):
        content = content[: hit.start()] + HIDDEN + content[hit.end() :]
    return content, len(hits)
