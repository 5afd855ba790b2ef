"""The seam to the machine: frozen records of effect functions, one a concern, that stages are given and tests replace.

Functions are whole jobs, not system calls. They raise `OSError` and nothing else of their own; stages turn that into values.
A stage gets only the record it needs: `bridge` is handed no function that could remove a durable file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, ParamSpec, Protocol, TypeVar

from attrs import frozen

from outfitter.model.layers import Document, DocumentForm, Entry
from outfitter.model.outcome import ChildExit, Identity, Row, Tree
from outfitter.model.projection import LaunchPlan, Record
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple, Value
from outfitter.railway import Effect, Outcome

P = ParamSpec("P")
A = TypeVar("A")


class Step(Protocol):
    """Runs a stage under its own name: times it for the trace, labels a crash, and stops before it if a signal came."""

    def __call__(
        self, stage: Callable[P, Effect[A]] | Callable[P, Outcome[A]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A]:
        """The stage's effect; a pure stage's outcome is lifted."""
        ...


class StepNote(NamedTuple):
    """What the trace keeps of one stage: its name, how it ended (`ok`, or the error's kind), and observational times (ns)."""

    name: str
    status: str
    started_ns: int
    ended_ns: int


class Seen(NamedTuple):
    """A durable file as found, links followed to the last target: its real path, digest, size, permission bits, identity."""

    path: str
    digest: bytes
    size: int
    mode: int
    identity: Identity


def _nothing(path: str) -> None:
    """Nothing is known of this path."""


class Sources(NamedTuple):
    """Reading trees, settings and native files. Nothing here writes, blocks on a fifo, or reads past its limit."""

    project_root: Callable[[str, str], tuple[str, str, tuple[Notice, ...]]]
    """(cwd, home) → (project root, boundary: git top level or the root itself, notices) by spec/10 and spec/15 V5."""
    listing: Callable[[str, str, int], Mapping[str, Entry]]
    """(tree root, boundary, depth) → entries by relative path; directory links walked once; {} where there is no tree."""
    document: Callable[[str, DocumentForm], Document | None]
    """(absolute path, form) → the parsed file with positions and problems, or None where it is absent. Cached by content."""
    read: Callable[[str], bytes | None]
    """A regular file's bytes (10 MB at most), or None where there is none."""
    names: Callable[[str], tuple[str, ...]]
    """The sorted names in a directory, () where there is none."""
    real: Callable[[str], str]
    """The physical path, links resolved as far as they exist."""
    find_harness: Callable[[str, str], Outcome[str]]
    """(command, PATH) → absolute path of a program that can be executed, else `HarnessUnavailable` (spec/80)."""
    digest: Callable[[str], str]
    """A regular file's BLAKE3 in hex, links followed, of any size; "" where there is none."""
    probe: Callable[[str, tuple[str, ...], str], str]
    """(executable, arguments, PATH) → what it prints for `--help` and the like, 10 s at most; cached by path, size and mtime."""
    newest_head: Callable[[str], bytes | None] = _nothing
    """(directory) → the first 256 KiB of the newest `*.jsonl` directly in it, None where there is none."""


class Projecting(NamedTuple):
    """Making the projection: everything happens below a run directory that this launch owns."""

    make_directory: Callable[[str], None]
    """Make a directory (0700) and its missing parents inside the run directory; existing is fine."""
    write: Callable[[str, bytes, bool], Row]
    """(absolute path, bytes, executable) → a new file, 0600 or 0700, exclusively; the row carries digest and identity, path b""."""
    link: Callable[[str, str], None]
    """(target, absolute path) → a symbolic link."""
    copy: Callable[[str, str, bool], tuple[Row, Seen]]
    """(source, absolute path, executable) → a copy in one pass with its digest; the source as it was read. Links at the source followed."""
    seed_tree: Callable[
        [str, str, Callable[[int, int], None] | None], tuple[Sequence[Row], Sequence[Row], tuple[Notice, ...]]
    ]
    """(source directory, absolute path, progress) → (projected rows, durable rows, notices): regular files, recursively, mtimes kept; paths relative to the seeded directory."""
    ensure_durable: Callable[[str, bool, bytes], str]
    """(native path, is a directory, initial bytes) → the final target, created if missing; links followed, wrong kinds and dangling folders raise."""
    names: Callable[[str], tuple[str, ...]]
    """(durable directory) → the sorted names in it, a trailing slash marks a directory (links followed); () where there is none."""
    look: Callable[[str], Seen | None]
    """A durable file as it is now: `Durable.look` with nothing known before."""


class Unsaved(NamedTuple):
    """Why a content could not become durable: the run, its projection-relative path, the reason, where it belonged.

    A `credential` is never shown to anybody (spec/50). `member`: the one top-level key of that JSON file which is the run's
    to change, "" where the whole file is.
    """

    run_id: str
    path: str
    reason: str
    durable: str
    credential: bool = False
    member: str = ""


class Replacement(NamedTuple):
    """A copy of `source` to be put at the durable path `target`, if that still holds `expected` (a digest, None for absent).

    `mode` None keeps the target's; `keep_mtime` gives it the source's.
    """

    source: str
    target: str
    expected: bytes | None
    mode: int | None
    keep_mtime: bool


class Durable(NamedTuple):
    """The durable side after a run: look, and put safely. There is no way to remove or shorten anything here."""

    look: Callable[[str, Identity | None, bytes | None], Seen | None]
    """(path, known identity, known digest) → the file as it is now, unread if the identity still vouches for the digest; None where absent."""
    read: Callable[[str], bytes]
    """The bytes of a small regular file (10 MB at most), links followed."""
    replace: Callable[[Sequence[Replacement]], Sequence[str]]
    """For each, "" or why not: exclusive temporary beside the final target, mode before bytes; all flushed at once; then one by
    one re-checked and renamed (or linked, for a new file). Their folders: `flush`."""
    write: Callable[[str, bytes, bytes | None, int | None], str]
    """(durable path, new bytes, expected digest or None for absent, mode or None to keep) → the same for bytes in memory."""
    keep: Callable[[str, Unsaved], str]
    """(source, what is known of it) → where under `conflicts/<run id>/` the content was kept, 0600; the same content once."""
    locked: Callable[[str, float], Callable[[], None] | None]
    """(lock directory, seconds) → a release, or None where another program held it all the while (never removed by us)."""
    prefix: Callable[[str, str, int], tuple[bool, bool]]
    """(projected file, durable file, seeded size) → (projected is empty or a strict prefix of the durable, durable is a prefix of projected)."""
    flush: Callable[[], str]
    """Make every name written so far last, each folder once; "" or why not."""
    tidy: Callable[[str], None]
    """(durable path) → what a killed launcher left of its own temporaries in that folder is gone; a live one's stay."""
    kept: Callable[[], tuple[int, int]]
    """How many contents are kept under `conflicts/`, of all runs, and how many bytes they hold."""


class Trees(NamedTuple):
    """Fingerprints (spec/60)."""

    scan: Callable[[str, Sequence[Row], int, bool], Tree]
    """(root, known rows, their taken_ns, trusted) → the tree now. `trusted`: the rows were written by us and nothing else ran yet."""
    save_baseline: Callable[[str, Tree, Sequence[Row]], None]
    """(baseline file, tree, durable rows) → written once, exclusively."""
    load_baseline: Callable[[str], tuple[Tree, Sequence[Row]]]
    """The inverse; raises `OSError` where it is missing or damaged."""
    look_again: Callable[[str, Sequence[Row], int], Sequence[Row]]
    """(directory, known rows, their taken_ns) → those of the known paths that are regular files now, as they are now; no other file is read."""


class Token(Protocol):
    """The held lock of a run directory; its descriptor is inherited by the harness."""

    @property
    def descriptor(self) -> int:
        """The open lock file."""
        ...


class Occupied(NamedTuple):
    """A run directory that this launch holds: its record as journalled, and the lock."""

    record: Record
    token: Token


class Journalled(NamedTuple):
    """A journal as found. `live`: its lock is held; `dead`: nobody holds it; `gone`: no such run directory any more.

    `other`: what stands at its path is not what was journalled, or has lost its lock file; `unreadable`: `reason` says why.
    """

    run_id: str
    record: Record | None
    condition: Literal["live", "dead", "gone", "other", "unreadable"]
    reason: str = ""


def _nothing_beside(root: str) -> Sequence[Row]:
    """Nothing stands beside the projection."""
    del root
    return ()


class Runs(NamedTuple):
    """Run directories, their locks and their journals."""

    name: Callable[[str, str], tuple[str, str]]
    """(agent, harness) → (run id, absolute path of a run directory that does not exist yet)."""
    open: Callable[[str], tuple[Token, int, int]]
    """(root) → made 0700 with its lock held: the token, device and inode."""
    journal: Callable[[Record], tuple[Notice, ...]]
    """Replace the journal, and, from the baseline on, the copy in the run directory; a state directory that cannot be written is a notice."""
    forget: Callable[[str], None]
    """(run id) → its journal is gone."""
    remove: Callable[[str, int, int], tuple[Notice, ...]]
    """(root, device, inode) → the run directory is gone, by descriptors, links not followed; what could not be removed is said."""
    close: Callable[[Token], None]
    """Release the lock."""
    stale: Callable[[], Iterable[tuple[Record, Token]]]
    """Each journal of a dead launcher whose run directory is still ours, locked by us now (spec/50, "killed outright")."""
    sweep: Callable[[int], tuple[Notice, ...]]
    """(now in ns) → removes run directories older than seven days, by the rules of spec/50."""
    latest: Callable[[str], Record | None]
    """(run id) → the record as this process journalled it last; None if it never did."""
    journals: Callable[[], tuple[Journalled, ...]]
    """Every journal of this user with the condition of its run, oldest first."""
    claim: Callable[[Record], Token | None]
    """The lock of a dead launcher's run directory, ours now; None where it is held, gone, or not the one journalled."""
    strays: Callable[[str], Sequence[Row]] = _nothing_beside
    """(root) → the files with something in them that a harness left in the run directory outside the projection, paths relative to it."""


class Processes(NamedTuple):
    """The harness itself."""

    run: Callable[[LaunchPlan, Token, Callable[[], None]], Outcome[ChildExit]]
    """(plan, lock, while running) → spawn, forward signals, wait, restore the terminal. `while running` is called once after the start."""


Answer = Literal["persist", "discard", "always"]


class Terminal(NamedTuple):
    """Speaking with the user."""

    say: Callable[[Notice], None]
    """One line on stderr, at once."""
    ask: Callable[[str], tuple[Answer, str]]
    """(question) → the answer, and a remark to print where end of input or an interrupt decided."""
    progress: Callable[[str], Callable[[int, int], None]]
    """(what is done) → a callback (done, total): a bar after half a second on a terminal, nothing elsewhere."""
    saving: Callable[[], None]
    """From here on a signal shortens nothing: the first says what is being saved, the second leaves the run to recovery."""


@frozen(eq=False, repr=False)
class Host(Value):
    """Everything a launch can do to the machine. Built in one place (`edges.real`); wrapped by tests that make it fail."""

    sources: Sources
    projecting: Projecting
    durable: Durable
    trees: Trees
    runs: Runs
    processes: Processes
    terminal: Terminal
    step: Step
    steps: Callable[[], tuple[StepNote, ...]]
