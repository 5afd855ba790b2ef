"""The seam to the machine: Protocols of effects that stages are handed and tests replace.

A method does a whole job, not one system call. It raises `OSError` and nothing else of its own; stages turn that into a value.
A stage is handed only what it needs: `bridge` gets `Settling`, which has no method that removes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, TypeAlias, TypeVar

from attrs import frozen

from outfitter.model.layers import Document, DocumentForm, Entry
from outfitter.model.outcome import ChildExit, Identity, Row, Tree
from outfitter.model.projection import LaunchPlan, Record
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple, Value
from outfitter.railway import Effect, Outcome

if TYPE_CHECKING:
    from outfitter.model.exposure import Grant

P = ParamSpec("P")
A = TypeVar("A")

# (done, total): called while a long job runs.
Progress: TypeAlias = Callable[[int, int], None]
Answer = Literal["persist", "discard", "always"]
Consent = Literal["yes", "no", "without"]


class Step(Protocol):
    """Run a stage under its own name: time it, label a crash, and stop before it if a signal came."""

    def __call__(
        self, stage: Callable[P, Effect[A]] | Callable[P, Outcome[A]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A]:
        """Return the stage's effect; the outcome of a pure stage is lifted."""
        ...


class StepNote(NamedTuple):
    """One stage in the trace: its name, how it ended (`ok`, or the error's kind), and when (ns)."""

    name: str
    status: str
    started_ns: int
    ended_ns: int


class DurableState(NamedTuple):
    """A durable file as it is now, symlinks followed; `size` is in bytes, `mode` the permission bits.

    `linked`: a launcher that was killed while it replaced the file left it a second name, which changed its ctime.
    """

    path: str
    digest: bytes
    size: int
    mode: int
    identity: Identity
    linked: bool = False


class Reading(Protocol):
    """Read single files and directories. Nothing here writes, blocks on a FIFO, or reads past its limit."""

    def document(self, path: str, form: DocumentForm) -> Document | None:
        """Parse the file at an absolute path; None if it is absent. Cached by content."""
        ...

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a regular file (10 MB at most), None if there is none."""
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a directory, () if there is none."""
        ...

    def real(self, path: str) -> str:
        """Return the physical path: symlinks resolved as far as they exist."""
        ...


class Sources(Reading, Protocol):
    """Read trees, settings and native files, and ask programs. Nothing here writes, except to the cache."""

    def project_root(self, cwd: str, home: str) -> tuple[str, str, tuple[Notice, ...]]:
        """Return (project root, boundary, notices); the boundary is the git top level, else the root."""
        ...

    def listing(self, root: str, boundary: str, depth: int) -> Mapping[str, Entry]:
        """Return the entries below a tree's root by relative path, {} if there is no tree.

        Goes `depth` levels deep; directories behind symlinks are entered once, and only inside `boundary`.
        """
        ...

    def find_harness(self, command: str, path: str) -> Outcome[str]:
        """Return the absolute path of `command` on `path` (a PATH). Error: `HarnessUnavailable`."""
        ...

    def digest(self, path: str) -> str:
        """Return the BLAKE3 (hex) of a regular file of any size, symlinks followed; "" if there is none."""
        ...

    def probe(self, executable: str, arguments: tuple[str, ...], path: str) -> str:
        """Return what a program prints for `--help` and the like, after 10 s at most.

        `path` is the PATH it runs with. Cached by the program's path, size and mtime.
        """
        ...

    def newest_head(self, directory: str) -> bytes | None:
        """Return the first 256 KiB of the newest `*.jsonl` directly in a directory, None if there is none."""
        ...


class Projecting(Protocol):
    """Make the projection: everything happens below a run directory that this launch owns."""

    def make_directory(self, path: str) -> None:
        """Make a directory (0700) and its missing parents inside the run directory; an existing one is fine."""
        ...

    def write(self, path: str, data: bytes, executable: bool) -> Row:
        """Write a new file exclusively, 0600 or 0700; the row carries digest and identity, its path is b""."""
        ...

    def can_execute(self, path: str) -> bool:
        """Return whether a file with the execute bit can be executed where it is; not on a noexec mount."""
        ...

    def link(self, target: str, path: str) -> None:
        """Make a symlink at `path`."""
        ...

    def copy(self, source: str, path: str, executable: bool) -> tuple[Row, DurableState]:
        """Copy and hash a file in one pass; return the copy's row, and the source as it was read."""
        ...

    def seed_tree(
        self, source: str, path: str, progress: Progress | None
    ) -> tuple[Sequence[Row], Sequence[Row], tuple[Notice, ...]]:
        """Copy the regular files below a directory; return (projected rows, durable rows, notices).

        Row paths are relative to the seeded directory.
        """
        ...

    def ensure_durable(self, path: str, directory: bool, create: bytes) -> str:
        """Return the final target of a native path, created with `create` if missing; symlinks are followed.

        Raises `OSError` for the wrong kind of file and for a symlink into a missing directory.
        """
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a durable directory, subdirectories with a trailing slash."""
        ...

    def look(self, path: str) -> DurableState | None:
        """Return a durable file as it is now, None if there is none."""
        ...


class Unsaved(NamedTuple):
    """Why a content could not become durable; `path` is projection-relative.

    A `credential` is never shown to anybody (spec/50). `member` is the one top-level key of that JSON file that the run may
    change, "" for the whole file.
    """

    run_id: str
    path: str
    reason: str
    durable: str
    credential: bool = False
    member: str = ""


class Replacement(NamedTuple):
    """Copy `source` to the durable `target` if that still holds `expected` (a digest, None for absent).

    `mode` None keeps the target's; `keep_mtime` gives it the source's.
    """

    source: str
    target: str
    expected: bytes | None
    mode: int | None
    keep_mtime: bool


class WriteFailure(NamedTuple):
    """Why a durable file was not written.

    `conflict`: another program made or changed it; `error`: the system refused.
    """

    kind: Literal["conflict", "error"]
    reason: str


class Durable(Protocol):
    """Look at durable files after a run, and write them safely. Nothing here removes or shortens one."""

    def look(self, path: str, known: Identity | None, digest: bytes | None) -> DurableState | None:
        """Return the file as it is now, None if absent; it is not read if `known` still vouches for `digest`."""
        ...

    def read(self, path: str) -> bytes:
        """Return the bytes of a small regular file (10 MB at most), symlinks followed."""
        ...

    def exists(self, path: str) -> bool:
        """Return whether a path leads to anything, symlinks followed."""
        ...

    def recent(self, directory: str, since_ns: int) -> Sequence[str]:
        """Return the regular files below a directory that changed since a time (ns).

        Of a huge tree only the first part is looked at.
        """
        ...

    def replace(self, wanted: Sequence[Replacement]) -> Sequence[WriteFailure | None]:
        """Replace files atomically; return None or the failure for each.

        Each goes to an exclusive temporary next to the final target, its mode set before the first byte; all are flushed at
        once; then one by one is checked again and renamed (or linked, for a new file). `flush` makes the names last.
        """
        ...

    def write(self, target: str, content: bytes, expected: bytes | None, mode: int | None) -> WriteFailure | None:
        """Do the same for bytes in memory; `mode` None keeps the target's."""
        ...

    def keep(self, source: str, unsaved: Unsaved) -> str:
        """Keep a content once under `conflicts/<run id>/` (0600) and return its path."""
        ...

    def locked(self, lock: str, seconds: float) -> Callable[[], None] | None:
        """Take a lock directory and return its release, None if another program held it all the time."""
        ...

    def prefix(self, projected: str, durable: str, seeded_size: int) -> tuple[bool, bool]:
        """Return (projected is empty or a strict prefix of durable, durable is a prefix of projected)."""
        ...

    def flush(self) -> WriteFailure | None:
        """Flush each directory written to so far, once; return the first failure."""
        ...

    def tidy(self, target: str) -> None:
        """Remove our own temporaries of killed launchers next to a durable path; those of live ones stay."""
        ...

    def kept(self) -> tuple[int, int]:
        """Return how many contents are kept under `conflicts/`, of all runs, and how many bytes they hold."""
        ...


class Trees(Protocol):
    """Take fingerprints of directories, and save them (spec/60)."""

    def scan(
        self,
        root: str,
        known_rows: Sequence[Row],
        taken_ns: int,
        trusted: bool,
        wanted: Callable[[bytes], bool] | None = None,
    ) -> Tree:
        """Return the tree now; `known_rows` were taken at `taken_ns`.

        An added or resized file whose raw path is not `wanted` is not read, and has no digest.
        `trusted`: we wrote those rows ourselves and nothing else has run yet.
        """
        ...

    def save_baseline(self, path: str, tree: Tree, durable: Sequence[Row]) -> None:
        """Write a baseline file once, exclusively."""
        ...

    def load_baseline(self, path: str) -> tuple[Tree, Sequence[Row]]:
        """Read a baseline file; raises `OSError` if it is missing or damaged."""
        ...

    def look_again(self, root: str, known_rows: Sequence[Row], taken_ns: int) -> Sequence[Row]:
        """Return those of the known paths that are regular files now, as they are now; no other file is read."""
        ...


class Token(Protocol):
    """The held lock of a run directory; the harness inherits its descriptor."""

    @property
    def descriptor(self) -> int:
        """The open lock file."""
        ...


class OpenRun(NamedTuple):
    """A run directory that this launch holds: its record as journalled, and the lock."""

    record: Record
    token: Token


class Journalled(NamedTuple):
    """A journal and the condition of its run.

    `live`: the lock is held; `dead`: nobody holds it; `gone`: the run directory does not exist any more; `other`: its path
    holds something else now, or its lock file is missing; `unreadable`: `reason` says why. `orphan`: a run directory that may
    hold unsaved content has no journal, and the record is its own copy.
    """

    run_id: str
    record: Record | None
    condition: Literal["live", "dead", "gone", "other", "unreadable", "orphan"]
    reason: str = ""


class FindStrays(Protocol):
    """Find what a harness left in the run directory outside the projection."""

    def __call__(self, root: str) -> Sequence[Row]:
        """Return the non-empty files next to the projection; paths are relative to the run directory `root`."""
        ...


class Runs(Protocol):
    """Run directories, their locks and their journals."""

    def name(self, agent: str, harness: str) -> tuple[str, str]:
        """Return a run id and the absolute path of a run directory that does not exist yet."""
        ...

    def open(self, root: str) -> tuple[Token, int, int]:
        """Make a run directory (0700) and take its lock; return the lock, device and inode."""
        ...

    def journal(self, record: Record) -> tuple[Notice, ...]:
        """Replace the journal, and from the baseline on the copy in the run directory.

        A state directory that cannot be written is a notice.
        """
        ...

    def forget(self, run_id: str) -> None:
        """Remove a journal."""
        ...

    def remove(self, root: str, device: int, inode: int) -> tuple[Notice, ...]:
        """Remove a run directory by descriptors, symlinks not followed; say what could not be removed."""
        ...

    def close(self, token: Token) -> None:
        """Release the lock."""
        ...

    def stale(self) -> Iterable[tuple[Record, Token]]:
        """Yield each dead launcher's journal that still has its run directory, now locked by us (spec/50)."""
        ...

    def sweep(self, now_ns: int) -> tuple[Notice, ...]:
        """Remove run directories older than seven days, by the rules of spec/50."""
        ...

    def journals(self) -> tuple[Journalled, ...]:
        """Return every journal of this user with the condition of its run, oldest first."""
        ...

    def claim(self, record: Record) -> Token | None:
        """Take the lock of a dead launcher's run directory; None if it is held, gone, or another one."""
        ...

    def place(self, token: Token, record: Record) -> str | None:
        """Return where the run directory of a held lock is now; None if it was removed.

        Its own path, or that of another place; "" if it was moved and nothing tells where to.
        """
        ...

    def make_accessible(self, record: Record) -> None:
        """Give the owner access to the run directory and its projection again, if the harness took it away."""
        ...

    def strays(self, root: str) -> Sequence[Row]:
        """Find strays (see `FindStrays`)."""
        ...


class Grants(Protocol):
    """Read and keep what the user trusted: one grant a project, by its key (docs/security.md)."""

    def grant(self, key: str) -> Grant | None:
        """Return a project's grant, None if there is none that counts."""
        ...

    def keep(self, key: str, grant: Grant) -> None:
        """Write a grant (0600) in the place of the one before."""
        ...

    def revoke(self, key: str) -> bool:
        """Remove a grant; return whether there was one."""
        ...

    def every(self) -> tuple[tuple[str, Grant], ...]:
        """Return all grants with their keys."""
        ...


class Processes(Protocol):
    """Run the harness."""

    def run(self, plan: LaunchPlan, token: Token, meanwhile: Callable[[], None]) -> Outcome[ChildExit]:
        """Spawn, forward signals, wait, restore the terminal. `meanwhile` is called once, after the start."""
        ...


class Asking(Protocol):
    """Ask the user, and show how far a long job is."""

    def ask(self, question: str) -> tuple[Answer, str]:
        """Return the answer, and a remark to print if end of input or an interrupt decided."""
        ...

    def progress(self, label: str) -> Progress:
        """Return a callback (done, total): a bar after half a second on a terminal, nothing elsewhere."""
        ...


class Terminal(Asking, Protocol):
    """Speak with the user."""

    def say(self, notice: Notice) -> None:
        """Print one notice on stderr, at once."""
        ...

    def consent(self, question: str) -> Consent:
        """Ask whether a tree that nobody trusted yet may run; no is the default."""
        ...

    def saving(self) -> None:
        """From here on a signal cuts nothing short.

        The first one prints what is being saved, the second one leaves the run to recovery.
        """
        ...


class Settling(NamedTuple):
    """What `bridge` may do: write durable files, ask, read settings, find strays. It removes nothing."""

    durable: Durable
    user: Asking
    files: Reading
    strays: FindStrays


@frozen(eq=False, repr=False)
class Host(Value):
    """Everything a launch can do to the machine, built in `edges.real`; tests make it fail."""

    sources: Sources
    projecting: Projecting
    durable: Durable
    trees: Trees
    runs: Runs
    processes: Processes
    terminal: Terminal
    step: Step
    steps: Callable[[], tuple[StepNote, ...]]
    grants: Grants

    def settling(self) -> Settling:
        """Return the part of this host that `bridge` is handed."""
        return Settling(self.durable, self.terminal, self.sources, self.runs.strays)
