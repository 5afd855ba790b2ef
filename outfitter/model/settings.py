"""Settings after the merge, and the strategies they resolve to (spec/20, seeds 000 and 001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from outfitter.model.request import Notice, Position, Problem
from outfitter.model.value import NamedTuple, Value

ScopeKind = Literal["project-local", "project", "home-local", "home", "remote", "default"]
HOME_SCOPES: tuple[ScopeKind, ...] = ("home-local", "home")

Strategy = Literal["symlink", "discard", "warn", "error", "prompt"]
# "bridge" is how the journal marks what an adapter seeds and merges itself; no setting can name it.
Handling = Literal["symlink", "discard", "warn", "error", "prompt", "bridge"]

KeyPath = tuple[str, ...]


class Origin(NamedTuple):
    """Which scope decided a leaf, and where: `path:line`; the built-in defaults have no path."""

    scope: ScopeKind
    path: str = ""
    at: Position = Position()


@frozen(eq=False, repr=False)
class Scope(Value):
    """One settings file as read: its values, and the position of each key.

    Relative paths in it are relative to `directory`.
    """

    kind: ScopeKind
    path: str
    directory: str
    values: Mapping[str, Any]
    positions: Mapping[KeyPath, Position]
    editable: bool


class SettingsFiles(NamedTuple):
    """The settings files as read, highest precedence first, and what is wrong with them.

    `boundary` is what symlinks of the project's tree may not leave (absolute).
    """

    project_root: str
    boundary: str = ""
    scopes: tuple[Scope, ...] = ()
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


@frozen(eq=False, repr=False)
class Settings(Value):
    """The merge of all scopes (spec/20): values, the origin of every leaf, and what each leaf overrode."""

    values: Mapping[str, Any]
    origins: Mapping[KeyPath, Origin]
    overridden: Mapping[KeyPath, tuple[Origin, ...]]
    scopes: tuple[Scope, ...]
    notices: tuple[Notice, ...] = ()


class StatePath(NamedTuple):
    """A path that an adapter declares its harness may write; a trailing slash means a whole directory.

    `native` is the absolute durable place behind `symlink`, or None where there is none (scratch).
    `scratch` marks the harness's known scratch, which plain settings keys do not reach (spec/20).
    `initial` is what the harness makes unasked in a watched file that is absent (spec/50), as bytes; None for nothing.
    `create` is what a missing durable file is created with under `symlink`.
    """

    key: str
    default: Strategy
    allowed: tuple[Strategy, ...]
    native: str | None = None
    scratch: bool = False
    initial: bytes | None = None
    create: bytes = b""
    note: str = ""


class Resolution(NamedTuple):
    """One declared path with the strategy that holds for this run, and who decided it."""

    path: StatePath
    strategy: Strategy
    origin: Origin
    form: Literal["plain", "harness", "default"] = "default"


@frozen(eq=False, repr=False)
class Strategies(Value):
    """Every declared path's resolution, in the adapter's order, and that of the `unknown` pseudo-path.

    `idle` are those of paths that the harness declares under another strategy of its own, but not in this run.
    """

    declared: tuple[Resolution, ...]
    unknown: Resolution
    notices: tuple[Notice, ...] = ()
    idle: tuple[Resolution, ...] = ()
