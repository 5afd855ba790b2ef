"""Inherited or isolated, where Claude Code writes, and what is bridged.

006.5.1, 22 and 23; seed 000's table and the known scratch (spec/40, spec/harness-facts); spec/50. Pure.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.model.projection import Bridge, Facts, Seed
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Settings, StatePath, Strategies, Strategy
from outfitter.model.value import NamedTuple

# What inheriting stands on. The two prompt file flags are needed either way, and new versions do not list them one by one.
_INHERITING = ("--plugin-dir", "--mcp-config")


_FILE: tuple[Strategy, ...] = ("symlink", "warn", "error", "prompt")
_RESOURCES: tuple[Strategy, ...] = ("symlink", "discard", "warn", "error", "prompt")
_TREE: tuple[Strategy, ...] = ("symlink", "discard", "warn", "error")
_SCRATCH: tuple[Strategy, ...] = ("discard", "warn", "error")

# Seed 000, "Path-keyed adapter declarations", in its order.
TABLE: tuple[tuple[str, tuple[Strategy, ...]], ...] = (
    ("settings.json", _FILE),
    ("agents/", _RESOURCES),
    ("skills/", _RESOURCES),
    ("commands/", _RESOURCES),
    ("plugins/", _RESOURCES),
    ("projects/", _TREE),
    ("debug/", _TREE),
)
UNKNOWN = StatePath("unknown", "warn", ("discard", "warn", "error", "prompt"))

# The user's own data, of all projects: not linked unless a setting says so (spec/40).
LINKABLE = ("history.jsonl", "file-history/", "todos/", "plans/", "paste-cache/")

# What the program keeps for itself and leaves behind: the names seen on disk, and those that the program itself leaves out when
# it copies a configuration (2.1.332). What users write there (rules, themes, memories of subagents) is not among them.
_SCRATCH_NAMES = """
    .claude.json.backup .claude.json.lock/ .deep-link-register-failed .last-cleanup .last-update-result.json
    .oauth_refresh.lock.owner .oauth_refresh.lock/ .session_ingress_token .update.lock active-time.json
    api-dumps/ backups/ bridge-spawn/ cache/ ccr/ chrome/ computer-use.lock daemon.log
    daemon.scheduled.status.json daemon.status.json daemon/ downloads/ dump-prompts/ feedback-bundles/ feedback/
    file-transfers/ gh-pr-status-cache.json history.jsonl.lock/ ide/ image-cache/ jobs/ local-settings/ local/
    logs/ mcp-discovery-cache/ mcp-needs-auth-cache.json mcp-refresh-locks/ mcp-skill-archives/
    policy-limits.json project-settings/ remote-control/ remote-settings.json remote/ scratch/
    server-sessions.json server.lock session-env/ sessions/ settings.json.lock/ shares/ shell-snapshots/
    startup-perf/ state/ stats-cache.json statsig/ storage-v2/ tasks/ teams/ telemetry/ traces/ uploads/
    usage-data/
"""
SCRATCH = tuple(_SCRATCH_NAMES.split())

CREDENTIALS = ".credentials.json"
STATE = ".claude.json"
# Files under `plugins/` in which the program records absolute paths.
REGISTRIES = ("known_marketplaces.json", "installed_plugins.json")


class Mode(NamedTuple):
    """Whether the run is isolated; `missing` are the flags whose absence rules out an inherited run."""

    isolated: bool
    missing: tuple[str, ...] = ()


def mode(request: Request, settings: Settings, help_text: str) -> Mode:
    """Decide between an inherited and an isolated run, for declared paths, facts and plan alike.

    Settings reach here filtered: `isolation` counts from the home files only (006.5.23).
    """
    if request.isolated or settings.values.get("isolation") == "isolated":
        return Mode(True)
    missing = tuple(flag for flag in _INHERITING if not knows(help_text, flag))
    return Mode(bool(missing), missing)


def knows(help_text: str, flag: str) -> bool:
    """Whether a program's `--help` names a flag, whole."""
    return re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", help_text) is not None


def fallback_notice(chosen: Mode, executable: str, help_text: str) -> tuple[Notice, ...]:
    """The warning of 006.5.22, naming what was missing."""
    if not chosen.missing:
        return ()
    flags = ", ".join(chosen.missing)
    why = f"does not support {flags}," if help_text.strip() else f"printed no help to check for {flags},"
    return (
        Notice(
            "warning",
            "claude-isolated-fallback",
            f"{executable} {why} which an inherited run needs; this run is isolated instead",
            "update Claude Code, or pass --isolated to silence this",
        ),
    )


def state_paths(request: Request, settings: Settings, facts: Facts) -> tuple[StatePath, ...]:
    """Return what this run declares, `unknown` last (spec/40).

    An isolated run declares everything, an inherited one `unknown` alone.
    """
    return declared(facts.native) if mode(request, settings, facts.help).isolated else (UNKNOWN,)


def declared(native: str) -> tuple[StatePath, ...]:
    """Every path of an isolated run, over a native directory."""
    table = tuple(
        StatePath(key, "symlink", allowed, posixpath.join(native, key), create=b"{}" if key.endswith(".json") else b"")
        for key, allowed in TABLE
    )
    linkable = tuple(
        StatePath(key, "discard", ("symlink", *_SCRATCH), posixpath.join(native, key), scratch=True) for key in LINKABLE
    )
    scratch = tuple(StatePath(key, "discard", _SCRATCH, scratch=True) for key in SCRATCH)
    return (*table, *linkable, *scratch, UNKNOWN)


def state_file(request: Request, native: str) -> str:
    """Return the path of the native `.claude.json`.

    It is in a directory that the user chose, else next to the usual one, in the home.
    """
    given = request.ambient.env.get("CLAUDE_CONFIG_DIR", "")
    chosen = given and posixpath.normpath(posixpath.join(request.ambient.cwd, given)) == posixpath.normpath(native)
    usual = posixpath.normpath(native) == posixpath.join(request.ambient.home, ".claude")
    return posixpath.join(request.ambient.home if usual and not chosen else native, STATE)


def strategy_of(strategies: Strategies, key: str) -> str:
    """The strategy of a declared path, "" where it is not declared."""
    return next((row.strategy for row in strategies.declared if row.path.key == key), "")


def bridges(request: Request, facts: Facts, strategies: Strategies, seeded: str, sessions: bool) -> tuple[Bridge, ...]:
    """Return what an isolated run merges back (006.5.14 to 18).

    `seeded` is the digest of the seeded account. `sessions` is true if transcripts are bridged rather than linked or
    dropped.
    """
    native = facts.native
    place = state_file(request, native)
    merged = (
        Bridge("credentials", CREDENTIALS, posixpath.join(native, CREDENTIALS)),
        Bridge("member", STATE, place, member="oauthAccount", seeded=seeded, lock=place + ".lock"),
    )
    history = (Bridge("sessions", "projects/", posixpath.join(native, "projects")),) if sessions else ()
    linked = strategy_of(strategies, "plugins/") == "symlink"
    registry = Bridge("rewrite", "plugins/", posixpath.join(native, "plugins"), members=REGISTRIES)
    return (*merged, *history, *((registry,) if linked else ()))


def seeds(facts: Facts, folder: str, sessions: bool) -> tuple[Seed, ...]:
    """Return the login and this directory's history, with which an isolated run starts (006.5.12, 17)."""
    native = facts.native
    login = Seed(posixpath.join(native, CREDENTIALS), CREDENTIALS)
    history = Seed(posixpath.join(native, "projects", folder) + "/", f"projects/{folder}/")
    return (login, history) if sessions else (login,)


_KEPT = ("oauthAccount", "hasCompletedOnboarding")


class SeededState(NamedTuple):
    """The projected file's bytes, None for no file.

    `account` is the digest of the seeded account, "" for none.
    """

    content: bytes | None
    account: str = ""
    notices: tuple[Notice, ...] = ()


def seeded_state(path: str, raw: bytes | None, cwd: str, unreadable: str = "") -> SeededState:
    """Return the part of the native state at `path` that the projection gets.

    That is the account, the finished onboarding, and the trust of this very directory.

    Missing or unusable state stays absent; `unreadable` is why it could not be read. Trust is the boolean true at exactly
    `cwd`, nothing near it (JSN-08).
    """
    if raw is None:
        return SeededState(None, notices=(_unusable(path, f"cannot be read: {unreadable}"),) if unreadable else ())
    from outfitter.adapters.native_json import member_digest

    document = _parsed(raw)
    if document is None:
        return SeededState(None, notices=(_unusable(path, "is not a JSON object"),))
    kept: dict[str, Any] = {key: document[key] for key in _KEPT if key in document}
    if _trusted(document, cwd):
        kept["projects"] = {cwd: {"hasTrustDialogAccepted": True}}
    content = json.dumps(kept, ensure_ascii=True).encode("ascii") if kept else None
    return SeededState(content, member_digest(document, "oauthAccount"))


def _trusted(document: dict[str, Any], cwd: str) -> bool:
    projects = document.get("projects")
    entry = projects.get(cwd) if isinstance(projects, dict) else None
    return isinstance(entry, dict) and entry.get("hasTrustDialogAccepted") is True


def _parsed(raw: bytes) -> dict[str, Any] | None:
    """A JSON object, a byte-order mark before it allowed; None for anything else."""
    try:
        document = json.loads(raw.decode("utf-8-sig"), parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _refused(word: str) -> None:
    raise ValueError(word)


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(text)
    return number


def _unusable(path: str, why: str) -> Notice:
    return Notice(
        "notice",
        "claude-state-unusable",
        f"{path} {why}; this run starts without its account, onboarding and trust, and will not touch it",
    )


# Longer names are cut to this many UTF-16 units, and a dash and a hash follow.
LONGEST = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CWD = rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")'


def slug(path: str) -> str:
    """Return the folder name for a path: a dash for each UTF-16 unit but ASCII letters and digits."""
    units = _units(path)
    name = "".join(chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units)
    return name if len(units) <= LONGEST else f"{name[:LONGEST]}-{_base36(abs(_rolling(units)))}"


def alike(path: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return existing folders that may belong to a long path, although another version chose the suffix.

    () if the name is certain.
    """
    wanted = slug(path)
    if len(wanted) <= LONGEST:
        return ()
    listed = tuple(names)
    if wanted in listed:
        return ()
    return tuple(name for name in listed if len(name) >= LONGEST and name[:LONGEST] == wanted[:LONGEST])


def folder(path: str, names: Iterable[str], heads: Mapping[str, bytes | None]) -> str:
    """Return the folder to seed and merge (SLG-05).

    It is the computed name, or the similar one whose newest transcript records this path.

    `heads` maps a folder's name to the beginning of its newest transcript.
    """
    for name in alike(path, names):
        if recorded_directory(heads.get(name) or b"") == path:
            return name
    return slug(path)


def recorded_directory(head: bytes) -> str:
    """The working directory that a transcript's beginning records, "" where it records none."""
    for line in head.split(b"\n"):
        if b'"cwd"' not in line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            # The line that the head cuts off: its own `cwd` may still stand in it.
            found = re.search(_CWD, line)
            if found is None:
                continue
            try:
                record = {"cwd": json.loads(found[1])}
            except ValueError:
                continue
        if isinstance(record, dict) and isinstance(record.get("cwd"), str):
            return str(record["cwd"])
    return ""


def _units(path: str) -> tuple[int, ...]:
    if path.isascii():
        return tuple(path.encode())
    raw = path.encode("utf-16-le", "surrogatepass")
    return tuple(raw[at] | raw[at + 1] << 8 for at in range(0, len(raw), 2))


def _rolling(units: Iterable[int]) -> int:
    """A signed 32-bit hash: times 31, plus the unit, wrapping."""
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
