"""Merge settings.

Reads: `SettingsFiles`.
Adds: `Settings`.
Effects: none.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve
from returns.result import Failure, Success

from outfitter.model.errors import SettingsInvalid
from outfitter.model.request import Notice, Position
from outfitter.model.settings import HOME_SCOPES, Scope, Settings, SettingsFiles
from outfitter.railway import Outcome
from outfitter.settings.merge import merge_scopes

# What a checked-in or remote file may not decide (spec/10, 006.5.23).
HOME_KEYS = ("isolation", "harness_defaults", "cache_directory", "trusted_hosts", "trust")
KEYS = (
    "default_agent",
    "default_harness",
    "sources",
    "remote_settings",
    "state_persistence",
    "custom_settings",
    "agent_defaults",
    "native_layers",
    *HOME_KEYS,
)
# Keys of another tool that reads the same file (spec/15 V28); `$schema` is for editors.
FOREIGN_KEYS = ("workflows", "startup", "telemetry", "source_cache", "enterprise")
SILENT_KEYS = ("$schema",)


def merge_settings(files: SettingsFiles) -> Outcome[Settings]:
    """Merge all scopes (spec/20); keys that do not count, and unknown ones, are left out with a notice.

    Types were checked where each file was read. Errors: `SettingsInvalid` with every problem of every file.
    """
    if files.problems:
        return Failure(SettingsInvalid(files.problems))
    scopes = tuple(_own(scope) for scope in files.scopes)
    merged = merge_scopes(scopes)
    unused = (notice for scope in files.scopes for notice in _unused_keys(scope))
    notices = (*files.notices, *_foreign(files.scopes), *unused)
    return Success(Settings(merged.values, merged.origins, merged.overridden, scopes, notices))


def _own(scope: Scope) -> Scope:
    """A scope without the keys that do not count in it."""
    counted = KEYS if scope.kind in HOME_SCOPES else tuple(key for key in KEYS if key not in HOME_KEYS)
    return evolve(scope, values={key: value for key, value in scope.values.items() if key in counted})


def _unused_keys(scope: Scope) -> Iterable[Notice]:
    for key, value in scope.values.items():
        place = _place(scope, key)
        if key in HOME_KEYS and scope.kind not in HOME_SCOPES and value is not None:
            message = f"{place}: {key} counts from the home settings only; it is ignored here"
            yield Notice("warning", "setting-ignored", message, "set it in ~/.agents/settings.yml if you want it")
        elif key not in (*KEYS, *FOREIGN_KEYS, *SILENT_KEYS):
            yield Notice("warning", "setting-unknown", f"{place}: unknown key {key!r}", _nearest(key))


def _foreign(scopes: Iterable[Scope]) -> tuple[Notice, ...]:
    """One notice for all keys of another tool, wherever they stand."""
    found = [f"{key} ({_place(scope, key)})" for scope in scopes for key in scope.values if key in FOREIGN_KEYS]
    return (
        (Notice("notice", "setting-foreign", f"settings of another tool, not used here: {', '.join(found)}"),)
        if found
        else ()
    )


def _place(scope: Scope, key: str) -> str:
    line = scope.positions.get((key,), Position()).line
    return f"{scope.path}:{line}" if line else scope.path


def _nearest(key: str) -> str:
    from outfitter.model.wording import did_you_mean

    return did_you_mean(key, (*KEYS, *FOREIGN_KEYS), f"known keys: {', '.join(sorted(KEYS))}", 1)
