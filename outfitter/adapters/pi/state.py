"""Where Pi writes: the declared table of seed 000, and its known scratch.

See spec/40 and spec/harness-facts. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from outfitter.model.composition import Controls
from outfitter.model.projection import Facts
from outfitter.model.request import Ambient, Notice, resolved
from outfitter.model.settings import StatePath, Strategies, Strategy
from outfitter.model.value import NamedTuple

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


VARIABLE = "PI_CODING_AGENT_SESSION_DIR"
# The same value again, where a launch chose it: a launch inside that one, perhaps in another project, chooses anew.
CHOSEN = "OUTFITTER_PI_SESSION_DIR"
_LONGEST_NAME = 255
_CUT = 180


class Sessions(NamedTuple):
    """The variable's value for the child ("" : leave it as it is), and what to say."""

    directory: str
    notices: tuple[Notice, ...] = ()


def encoded(cwd: str) -> str:
    r"""Return Pi's own folder name for a working directory (spec/95 PIX-04).

    One leading separator is dropped; `/`, `\` and `:` become `-`; double dashes enclose it.
    """
    inner = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return "--" + inner.replace("/", "-").replace("\\", "-").replace(":", "-") + "--"


def durable_directory(native: str, cwd: str) -> str:
    """Return Pi's durable session directory for a working directory.

    A name that is too long for a file is cut, and a digest is added.
    """
    name = encoded(cwd)
    raw = name.encode("utf-8", "surrogateescape")
    if len(raw) > _LONGEST_NAME:
        from blake3 import blake3

        name = f"{raw[:_CUT].decode('utf-8', 'ignore')}-{blake3(raw).hexdigest(8)}--"
    return posixpath.join(native, "sessions", name)


def sessions(
    ambient: Ambient, controls: Controls, strategies: Strategies, facts: Facts, args: Iterable[str]
) -> Sessions:
    """Return the session directory that the child is given.

    In order of precedence: the command line, the tree's environment, an inherited variable, the `sessions/` strategy,
    `controls.session_directory`, the durable default. `args` are those of the controls and the pass-through ones.
    """
    words = _before_end(args)
    named = _named(words, ambient, controls)
    if named:
        return Sessions(controls.environment.get(VARIABLE, ""), _defeated(strategies, named))
    if _strategy(strategies) != "symlink":
        return Sessions("", _unused(strategies, controls))
    if controls.session_directory:
        return Sessions(resolved(controls.session_directory, ambient.home, facts.project_root))
    return Sessions(durable_directory(facts.native, ambient.cwd))


def _named(words: tuple[str, ...], ambient: Ambient, controls: Controls) -> str:
    """What decides the session directory from outside, "" for nothing."""
    for option in ("--no-session", "--session-dir"):
        if option in words:
            return option
    if VARIABLE in controls.environment:
        return f"controls.environment.{VARIABLE}"
    return VARIABLE if ambient.env.get(VARIABLE) and not from_outer_launch(ambient) else ""


def from_outer_launch(ambient: Ambient) -> bool:
    """Return whether an outer launch, not the user, chose the session directory in the environment."""
    value = ambient.env.get(VARIABLE, "")
    return bool(value) and value == ambient.env.get(CHOSEN, "")


def _defeated(strategies: Strategies, by: str) -> tuple[Notice, ...]:
    """The warning that a strategy the user set for `sessions/` governs nothing in this run."""
    strategy = _strategy(strategies)
    if strategy == "symlink" or by == "--no-session":
        return ()
    message = f"state_persistence sessions/: {strategy} has no effect: {by} decides where Pi keeps its sessions"
    return (Notice("warning", "strategy-defeated", message),)


def _unused(strategies: Strategies, controls: Controls) -> tuple[Notice, ...]:
    """The warning that a tree's session directory gives way to the strategy the user set."""
    if not controls.session_directory:
        return ()
    message = f"controls.session_directory has no effect while state_persistence has sessions/: {_strategy(strategies)}"
    return (Notice("warning", "session-directory-unused", message),)


def _strategy(strategies: Strategies) -> str:
    return next((r.strategy for r in strategies.declared if r.path.key == "sessions/"), "symlink")


def _before_end(args: Iterable[str]) -> tuple[str, ...]:
    """The words that Pi takes as options: those before its own `--`."""
    words = tuple(args)
    return words[: words.index("--")] if "--" in words else words
