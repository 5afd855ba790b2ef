"""The plan that an adapter makes, and the record that outlives the launcher (spec/40, spec/50)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import field, frozen

from outfitter.model.composition import Composition
from outfitter.model.errors import LaunchError
from outfitter.model.outcome import Change, ChildExit, Row, Settlement, Snapshot
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Handling, ScopeKind, Settings, Strategies
from outfitter.model.value import NamedTuple, Value

if TYPE_CHECKING:
    from outfitter.model.exposure import Verdict


class Generated(NamedTuple):
    """A file Outfitter writes: `path` relative to the projection; 0700 if `executable`, else 0600.

    `one_run` is told to the user nowhere: it only says that the path is a declared one (spec/50, "three kinds").
    """

    path: str
    content: bytes
    executable: bool = False


class Copied(NamedTuple):
    """A regular file copied into the projection: `source` absolute; becomes a generated path."""

    source: str
    path: str
    executable: bool = False


class Seed(NamedTuple):
    """Durable state copied in before launch.

    `path` ends with `/` for a whole tree: its regular files, mtimes kept; a missing one is fine.
    """

    source: str
    path: str


class Bridge(NamedTuple):
    """State that is merged back by a rule of its own (spec/50), as data: recovery has no adapter.

    `credentials`: the whole file `path`, three-way, usable JSON only. `member`: one top-level `member` of the JSON file `path`
    edited in place in `durable`; `seeded` is the BLAKE3 hex of that member's canonical JSON at seed time, "" where it was absent.
    `sessions`: every regular file under the directory `path` file by file into `durable`. `rewrite`: JSON files `members` under
    the durable directory in which prefixes of the projection's path are rewritten to the durable one.
    `lock` is the native lock directory to hold while `durable` is written, "" for none.
    """

    rule: Literal["credentials", "member", "sessions", "rewrite"]
    path: str
    durable: str
    member: str = ""
    seeded: str = ""
    lock: str = ""
    members: tuple[str, ...] = ()


@frozen(eq=False, repr=False)
class LaunchPlan(Value):
    """The command to run: absolute executable, arguments after argv[0], changes of the environment."""

    executable: str
    arguments: tuple[str, ...]
    env_set: Mapping[str, str] = field(repr=False)
    env_unset: tuple[str, ...]


@frozen(eq=False, repr=False)
class Facts(Value):
    """What an adapter's planning needs to know of the machine; gathered once, at the edge.

    `native` is the harness's own directory (absolute, look-through done); `cache` Outfitter's cache directory; `projection`
    the directory that will be made. `files`: absolute path → bytes, None where absent or no regular file.
    `help` is the harness's `--help` text ("" where it was not asked). `real`: path → physical path. `heads`: directory → the
    beginning of its newest `*.jsonl`, None where there is none. `unreadable`: file → why it could not be read (in `files` it is None).
    `notices`: what to tell of all that.
    """

    executable: str
    native: str
    cache: str
    projection: str
    project_root: str
    files: Mapping[str, bytes | None] = field(repr=False)
    listings: Mapping[str, tuple[str, ...]] = {}
    help: str = ""
    real: Mapping[str, str] = {}
    heads: Mapping[str, bytes | None] = field(repr=False, default={})
    unreadable: Mapping[str, str] = {}
    notices: tuple[Notice, ...] = ()


@frozen(eq=False, repr=False)
class ProjectionPlan(Value):
    """Everything that `project` carries out, and the launch that follows; `--dry-run` prints it."""

    harness: str
    generated: tuple[Generated, ...]
    copied: tuple[Copied, ...]
    seeds: tuple[Seed, ...]
    bridges: tuple[Bridge, ...]
    strategies: Strategies
    launch: LaunchPlan
    exported: str
    unsupported: tuple[str, ...] = ()
    native_reads: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


class LaunchSite(NamedTuple):
    """Where a launch will happen: a run id, a run directory to be made, and the facts gathered."""

    run_id: str
    root: str
    facts: Facts
    notices: tuple[Notice, ...] = ()


@frozen(eq=False, repr=False)
class Prepared(Value):
    """The end of the pure half: what a dry run prints and a launch carries out.

    `trees` are the layers' kinds and roots, highest first; `notices` all notices so far, in order and once.
    `trust` says who allowed what runs that the home did not write; None where nothing does.
    """

    request: Request
    settings: Settings
    composition: Composition
    site: LaunchSite
    plan: ProjectionPlan
    trees: tuple[tuple[str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    trust: Verdict | None = None

    @property
    def to_say(self) -> tuple[Notice, ...]:
        """What the stage runner prints before anything is written; a dry run prints its notices itself."""
        return () if self.request.dry_run else self.notices


class State(NamedTuple):
    """One declared path as this run makes it; `handling` is the strategy, or `bridge`.

    `durable` is the absolute native place ("" for none), `scope`/`origin` the settings scope and file that decided (for `always`),
    `form` whether a plain key or the harness's block did; `allowed` the strategies its declaration allows. `scratch` paths are
    not made before the harness makes them: an empty lock directory would read as a held lock.
    """

    key: str
    handling: Handling
    durable: str
    scope: ScopeKind
    origin: str
    form: str
    allowed: tuple[str, ...]
    initial: bytes | None = None
    create: bytes = b""
    scratch: bool = False


# "settled": everything that could be saved is; only the removal is left to do.
Phase = Literal["preparing", "started", "settled", "unsaved", "retained"]


@frozen(eq=False, repr=False)
class Record(Value):
    """The journal of a run: all that diff, bridge and recovery need (spec/50).

    `generated` holds projection-relative paths Outfitter wrote (files). `root` with `device` and `inode` names the run directory.
    `native` is the harness's own directory, which a launch inside this one looks through to.
    `interactive`: stdin and stdout are both terminals. Holds no contents and no credentials. `changes` is None until the run was settled.
    `out` is where the run's evidence was to go, "" for none.
    """

    run_id: str
    agent: str
    harness: str
    root: str
    device: int
    inode: int
    uid: int
    started_ns: int
    plan_digest: str
    strict: bool
    retained: bool
    project_root: str
    home: str
    native: str
    cache: str
    states: tuple[State, ...]
    unknown: Handling
    bridges: tuple[Bridge, ...]
    generated: tuple[str, ...]
    phase: Phase = "preparing"
    baseline_digest: str = ""
    interactive: bool = False
    changes: tuple[Change, ...] | None = None
    out: str = ""

    @property
    def projection(self) -> str:
        """The directory the harness sees as its configuration directory."""
        return self.root + "/projection"


class Projected(NamedTuple):
    """A projection as made: rows of all that we wrote into it, and of the durable files at that moment."""

    record: Record
    rows: Sequence[Row]
    durable: Sequence[Row]
    notices: tuple[Notice, ...] = ()


class BaselineTaken(NamedTuple):
    """A projection with its baseline saved: the harness may start. The stage runner prints `to_say`."""

    record: Record
    baseline: Snapshot
    to_say: tuple[Notice, ...] = ()


Ended: TypeAlias = ChildExit | LaunchError


class Settled(NamedTuple):
    """A run after diff and bridge. `record` carries the changes with their endings."""

    record: Record
    ended: Ended
    settlement: Settlement


@frozen(eq=False, repr=False)
class Report(Value):
    """The end of a launch: how it ended, what became of every write, and what to say.

    `notices` are those of cleaning up; the ones of preparing stand in `prepared`, those of settling in `settlement`.
    """

    prepared: Prepared
    record: Record
    ended: Ended
    settlement: Settlement
    notices: tuple[Notice, ...] = ()
