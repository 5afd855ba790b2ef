"""Where Pi writes: the declared table of seed 000, and its known scratch (spec/40, harness facts). Pure."""

from __future__ import annotations

import posixpath

from outfitter.model.projection import Facts
from outfitter.model.settings import StatePath, Strategy

_FILE: tuple[Strategy, ...] = ("symlink", "warn", "error", "prompt")
_TREE: tuple[Strategy, ...] = ("symlink", "discard", "warn", "error")
_ALL: tuple[Strategy, ...] = ("symlink", "discard", "warn", "error", "prompt")
_SCRATCH: tuple[Strategy, ...] = ("discard", "warn", "error")

# Seed 000, "Path-keyed adapter declarations", in its order.
TABLE: tuple[tuple[str, tuple[Strategy, ...]], ...] = (
    ("auth.json", ("symlink", "error", "prompt")),
    ("settings.json", _FILE),
    ("keybindings.json", _FILE),
    ("mcp.json", _FILE),
    ("models.json", _FILE),
    ("trust.json", _FILE),
    ("plugins/", _ALL),
    ("cache/", _TREE),
    ("sessions/", _TREE),
    ("npm/", _TREE),
    ("git/", _TREE),
    ("tmp/", ("symlink", "discard")),
    ("utilities/", _TREE),
    ("bin/", _TREE),
)

# Helper programs that Pi fetches: kept in Outfitter's cache, shared by all projections (seed 000).
_CACHED = ("utilities/", "bin/")
# Declared paths at which a file may be generated.
GENERATED = ("settings.json", "keybindings.json", "mcp.json", "models.json")

SCRATCH: tuple[str, ...] = (
    "auth.json.lock/",
    "mcp-auth.json.lock/",
    "models-store.json.lock/",
    "settings.json.lock/",
    "trust.json.lock/",
    "models-store.json",
    "crashes.json",
    "mcp.log",
    "mcp.log.1",
    "pi-debug.log",
)
# Logins to MCP servers: a credential file beside auth.json, so it lives where that one does.
MCP_LOGINS = "mcp-auth.json"

# What Pi makes unasked where the file is absent (an idle run must change nothing).
_UNASKED = {"auth.json": b"{}", "models-store.json": b"{}"}


def state_paths(facts: Facts) -> tuple[StatePath, ...]:
    """Pi's declared paths with their native places: seed 000's table, then MCP logins, then scratch."""
    declared = tuple(_declared(key, allowed, facts) for key, allowed in TABLE)
    logins = _declared(MCP_LOGINS, _ALL, facts)._replace(scratch=True)
    scratch = tuple(StatePath(key, "discard", _SCRATCH, scratch=True, initial=_UNASKED.get(key)) for key in SCRATCH)
    return (*declared, logins, *scratch)


def _declared(key: str, allowed: tuple[Strategy, ...], facts: Facts) -> StatePath:
    native = posixpath.join(facts.cache, "utilities/") if key in _CACHED else posixpath.join(facts.native, key)
    return StatePath(key, "symlink", allowed, native, initial=_UNASKED.get(key), create=_created(key))


def _created(key: str) -> bytes:
    """What a missing durable file holds when it is made: the real Pi crashes on an empty `trust.json`."""
    if key == "models.json":
        return b'{"providers": {}}'
    return b"{}" if key.endswith(".json") else b""
