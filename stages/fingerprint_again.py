"""Fingerprint, after the harness ended.

Reads: the run's record and its baseline.
Adds: the actual `Snapshot`.
Effects: reads the projection and the durable counterparts.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from errno import errorcode

from returns.result import Success

from outfitter.fingerprint.tree import NO_DIGEST, Folder, Rows, concat, pack, reparent, tree_of
from outfitter.host import Durable, Trees
from outfitter.model.outcome import GRANULARITY_NS, Row, Snapshot, path_bytes, path_text
from outfitter.model.projection import Record, State
from outfitter.railway import Effect, Outcome, attempt
from outfitter.run.ownership import PathIndex, index_paths, owner_of


def fingerprint_again(trees: Trees, durable: Durable, record: Record, baseline: Snapshot) -> Effect[Snapshot]:
    """Take the projection after the harness ended, and the durable files as they are now.

    Of what changed, only files are read that a rule may copy, and those of the size they had. A durable file that nobody can look at now has a row tagged `u`; a projection that is gone is an empty one. Errors:
    `EffectFailed` where the projection is there and cannot be listed.
    """

    def take() -> Outcome[Snapshot]:
        try:
            tree = trees.scan(record.projection, baseline.tree.rows, baseline.tree.taken_ns, False, _carried(record))
        except (FileNotFoundError, NotADirectoryError):
            tree = tree_of({b"": Folder(b"", b"", b"", b"", b"")}, baseline.tree.taken_ns)
        return Success(Snapshot(tree, _durable_now(trees, durable, record, baseline.durable)))

    return attempt("compare the projection with its baseline", take)


def _carried(record: Record) -> Callable[[bytes], bool]:
    """Return whether a rule may copy a file at a raw path: only then its content matters (spec/50)."""
    held = index_paths(record)

    def carried(path: bytes) -> bool:
        at = owner_of(held, path_text(path))
        return at.bridge is not None or (at.state is not None and at.strategy in ("symlink", "prompt"))

    return carried


def _durable_now(trees: Trees, durable: Durable, record: Record, before: Sequence[Row]) -> Rows:
    """Return rows of every durable counterpart now: those there were, and files that appeared since.

    Whole directories are looked at at once, for there may be a hundred thousand files; links are followed one by one.
    """
    held = index_paths(record)
    single: dict[str, Row | None] = {state.key: None for state in record.states if _wanted(state)}
    alone = {path_bytes(posixpath.dirname(path)) for path in (*held.files, *held.bridges, *held.entries)}
    seeded: dict[tuple[str, str], dict[bytes, Folder]] = {}
    for path, folder in pack(before).folders.items():
        tree, prefix = ("", "") if path in alone else _tree_of(held, path_text(path))
        if tree:
            below = path[len(path_bytes(prefix)) :]
            seeded.setdefault((tree, prefix), {})[below] = folder._replace(path=below, digest=b"")
        else:
            single |= {path_text(row.path): row for row in Rows({path: folder})}
    parts: list[dict[bytes, Folder]] = []
    for (tree, prefix), known in seeded.items():
        try:
            now = pack(trees.look_again(tree, Rows(known), record.started_ns)).folders
        except OSError as error:
            now = {path: _unobserved(folder, error) for path, folder in known.items()}
        for path, folder in known.items():
            found = now.get(path)
            if found is None or found.names != folder.names:
                gone = frozenset(folder.children()) - frozenset(found.children() if found else ())
                single |= {prefix + path_text(row.path): row for row in Rows({path: folder}) if _name(row) in gone}
        parts.append(reparent(Rows(now), path_bytes(prefix).rstrip(b"/")))
    rest = [row for path, known in single.items() for row in _look(durable, held, path, known, record.started_ns)]
    return concat(parts, rest)


def _unobserved(folder: Folder, error: OSError) -> Folder:
    """Return a known durable folder, no file of which can be looked at now."""
    note = errorcode.get(error.errno or 0, "EIO")
    rows = [
        row._replace(tag="u", digest=NO_DIGEST, note=note) for row in Rows({folder.path: folder}) if row.tag in "fx"
    ]
    return pack(rows).folders.get(folder.path, folder._replace(names=b"", tags=b"", stats=b"", digests=b"", extras=()))


def _name(row: Row) -> bytes:
    return posixpath.basename(row.path)


def _wanted(state: State) -> bool:
    """Return whether a durable file that was absent at launch counts: it may be written by now."""
    return bool(state.durable) and not state.key.endswith("/") and state.handling != "discard"


def _tree_of(held: PathIndex, path: str) -> tuple[str, str]:
    """Return the durable directory that a path was seeded from, and its prefix; ("", "") for a file.

    Sessions are seeded one project at a time, and that project's directory may itself be a link.
    """
    at = owner_of(held, path)
    if at.bridge and at.bridge.path.endswith("/"):
        project = path[len(at.bridge.path) :].split("/", 1)[0]
        prefix = f"{at.bridge.path}{project}/" if project else at.bridge.path
        return posixpath.join(at.bridge.durable, project).rstrip("/"), prefix
    if at.state and at.state_path.endswith("/") and at.state.durable:
        return at.state.durable, at.state_path
    return "", ""


def _place(held: PathIndex, path: str) -> str:
    """Where the durable counterpart of a path is; "" for none."""
    at = owner_of(held, path)
    key, durable = (
        (at.bridge.path, at.bridge.durable)
        if at.bridge
        else (at.state_path, at.state.durable)
        if at.state
        else ("", "")
    )
    return posixpath.join(durable, path[len(key) :]) if durable and key.endswith("/") else durable


def _look(durable: Durable, held: PathIndex, path: str, known: Row | None, since_ns: int) -> Iterator[Row]:
    """Yield a durable file as it is now; what is known of it counts only if it is older than this launch."""
    place = _place(held, path)
    if not place:
        return
    settled = known is not None and max(known.identity.mtime_ns, known.identity.ctime_ns) < since_ns - GRANULARITY_NS
    identity, digest = (known.identity, known.digest) if known and settled else (None, None)
    try:
        seen = durable.look(place, identity, digest)
    except OSError as error:
        if known is not None:
            yield known._replace(tag="u", digest=NO_DIGEST, note=errorcode.get(error.errno or 0, "EIO"))
        return
    if seen:
        tag = "x" if seen.mode & 0o100 else "f"
        yield Row(path_bytes(path), tag, seen.digest, seen.size, seen.mode, seen.identity)
