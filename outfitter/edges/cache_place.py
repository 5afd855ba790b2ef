"""Where Outfitter's cache is, known before any settings are read."""

from __future__ import annotations

import os
from collections.abc import Callable

from outfitter.edges import sources
from outfitter.model.request import resolved

SETTINGS_FILES = ("settings.local.yml", "settings.yml")
KEY = b"cache_directory:"
NULLS = (b"", b"~", b"null", b"Null", b"NULL")


def early_cache_directory(home: str) -> str:
    """Where what is parsed and probed is remembered, known before any settings are: a cheap look at the home's two files.

    It agrees with `survey.cache_directory` wherever the key is written plainly, at the start of a line and with a scalar on
    it; any other spelling means the default here. Being wrong costs a second cache, and nothing else.
    """
    tree = os.path.join(home, ".agents")
    for name in SETTINGS_FILES:
        given = _plain_value(sources.read, os.path.join(tree, name))
        if given:
            return resolved(given, home, tree)
    return os.path.join(tree, "cache")


def _plain_value(read: Callable[[str], bytes | None], path: str) -> str:
    try:
        text = read(path) or b""
    except OSError:
        return ""
    if KEY not in text:
        return ""
    line = next((line for line in text.splitlines() if line.startswith(KEY)), KEY)
    value = line[len(KEY) :].split(b" #")[0].strip()
    if value in NULLS:
        return ""
    if value[:1] in (b'"', b"'") and value[:1] == value[-1:]:
        value = value[1:-1]
    return os.fsdecode(value) if value and value[:1] not in b"{[|>&*!%@`\"'" and b"\\" not in value else ""
