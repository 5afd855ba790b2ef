"""Inherited or isolated (006.5.1, 22, 23), and where Claude Code writes: seed 000's table, its known scratch (spec/40, harness facts), and what is bridged (spec/50). Pure."""

from __future__ import annotations

import posixpath
import re

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

# Seed 000, "The Claude Code adapter currently declares", in its order.
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
    """`isolated`: a configuration directory of the run's own. `missing`: the flags for want of which it is not inherited."""

    isolated: bool
    missing: tuple[str, ...] = ()


def mode(request: Request, settings: Settings, help_text: str) -> Mode:
    """The one answer that the declared paths, the wants and the plan all go by.

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
    why = f"does not know {flags}," if help_text.strip() else f"printed no help to check for {flags},"
    return (
        Notice(
            "warning",
            "claude-isolated-fallback",
            f"{executable} {why} which an inherited run needs; this run is isolated instead",
            "update Claude Code, or ask for --isolated to say that this is meant",
        ),
    )


def state_paths(request: Request, settings: Settings, facts: Facts) -> tuple[StatePath, ...]:
    """What this run declares, `unknown` last: everything when isolated, `unknown` alone when inherited (spec/40)."""
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
    """The native `.claude.json`: in a directory of the user's own choosing, else beside the usual one in the home."""
    given = request.ambient.env.get("CLAUDE_CONFIG_DIR", "")
    chosen = given and posixpath.normpath(posixpath.join(request.ambient.cwd, given)) == posixpath.normpath(native)
    usual = posixpath.normpath(native) == posixpath.join(request.ambient.home, ".claude")
    return posixpath.join(request.ambient.home if usual and not chosen else native, STATE)


def strategy_of(strategies: Strategies, key: str) -> str:
    """The strategy of a declared path, "" where it is not declared."""
    return next((row.strategy for row in strategies.declared if row.path.key == key), "")


def bridges(request: Request, facts: Facts, strategies: Strategies, seeded: str, sessions: bool) -> tuple[Bridge, ...]:
    """What an isolated run merges back (006.5.14 to 18). `seeded` is the digest of the seeded account; `sessions` whether
    transcripts are bridged rather than linked or dropped."""
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
    """What an isolated run starts from (006.5.12, 17): the login as it is, and this directory's own history."""
    native = facts.native
    login = Seed(posixpath.join(native, CREDENTIALS), CREDENTIALS)
    history = Seed(posixpath.join(native, "projects", folder) + "/", f"projects/{folder}/")
    return (login, history) if sessions else (login,)
