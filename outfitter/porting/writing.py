"""Writing an import.

Each resource appears whole and at once, and what a killed import left is removed by the next.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from blake3 import blake3

from outfitter.fs import make_directories, read_document, replace_json
from outfitter.model.value import NamedTuple
from outfitter.porting.adoption_plan import WRITTEN, Remembered, Row, Standing, digest, landing
from outfitter.porting.gather import unit_of

_STAGING = re.compile(r"\.outfitter-import-[0-9a-f]{12}")
_LOCK = ".lock"
Progress = Callable[[int, int], None]


class Written(NamedTuple):
    """How many files an import wrote, and the physical tree they are in."""

    files: int
    tree: str


def standing(tree: str, paths: Iterable[str]) -> Standing:
    """What a tree holds: every path, the bytes of those that `paths` would land on, and its links.

    Raises `OSError`.
    """
    every: set[str] = set()
    linked: set[str] = set()
    for folder, folders, names in os.walk(tree):
        inside = os.path.relpath(folder, tree)
        prefix = "" if inside == "." else f"{inside}/"
        folders[:] = [name for name in folders if not _STAGING.fullmatch(name) and prefix + name != "cache"]
        for name in (*folders, *names):
            every.add(prefix + name)
            if os.path.islink(os.path.join(folder, name)):
                linked.add(prefix + name)
    known = frozenset(every)
    files: dict[str, bytes] = {}
    for path in {landing(path, known) for path in paths}:
        place = os.path.join(tree, path)
        if os.path.isfile(place):
            files[path] = _bytes(place)
    return Standing(files, known | frozenset(files), frozenset(linked))


def _bytes(place: str) -> bytes:
    with open(place, "rb") as file:
        return file.read()


def write_rows(tree: str, rows: Sequence[Row], progress: Progress) -> Written:
    """Write the rows that are to be written.

    Raises `OSError`; whole resources written before it stay, nothing else does.

    A tree that is not there is put in place at once. In one that is, a new agent or skill appears with all its files by one
    rename, and a changed file by another, if it still holds what the row says.
    """
    chosen = [row for row in rows if row.fate in WRITTEN]
    fresh = not os.path.lexists(tree)
    above = os.path.dirname(tree)
    tidy(above)
    if not fresh:
        tidy(tree)
    if not chosen:
        return Written(0, tree)
    staging = os.path.join(above if fresh else tree, f".outfitter-import-{os.urandom(6).hex()}")
    os.mkdir(staging, 0o755)
    lock = os.open(os.path.join(staging, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for number, row in enumerate(chosen, 1):
            _stage(os.path.join(staging, row.path), row)
            progress(number, len(chosen))
        if fresh:
            os.unlink(os.path.join(staging, _LOCK))
            os.rename(staging, tree)
        else:
            _place(staging, tree, chosen)
    finally:
        os.close(lock)
        shutil.rmtree(staging, ignore_errors=True)
        progress(1, 1)
    return Written(len(chosen), tree)


def tidy(directory: str) -> None:
    """Remove staging folders whose import is dead: nobody holds their lock."""
    try:
        names = [name for name in os.listdir(directory) if _STAGING.fullmatch(name)]
    except OSError:
        return
    for name in names:
        place = os.path.join(directory, name)
        if not os.path.islink(place) and _is_dead(os.path.join(place, _LOCK)):
            shutil.rmtree(place, ignore_errors=True)


def _is_dead(lock: str) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _stage(place: str, row: Row) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o755 if row.executable else 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(row.now)


def _place(staging: str, tree: str, rows: Sequence[Row]) -> None:
    """Move staged resources into a tree that exists: a new folder as one, everything else file by file."""
    physical = os.path.realpath(tree)
    moved: set[str] = set()
    for row in rows:
        unit = unit_of(row.path)
        if unit in moved:
            continue
        if unit != row.path and not os.path.lexists(os.path.join(tree, unit)):
            _beside(os.path.join(tree, unit), physical)
            os.rename(os.path.join(staging, unit), os.path.join(tree, unit))
            moved.add(unit)
            continue
        target = os.path.join(tree, row.path)
        _beside(target, physical)
        if row.there is None:
            os.link(os.path.join(staging, row.path), target)
            continue
        if _bytes(target) != row.there:
            raise OSError(errno.EBUSY, "changed while it was imported; run the import again", target)
        os.chmod(os.path.join(staging, row.path), os.stat(target).st_mode & 0o7777)
        os.replace(os.path.join(staging, row.path), target)


def _beside(target: str, physical: str) -> None:
    """Make the folders above a target, none of them outside the tree."""
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    real = os.path.realpath(folder)
    if real != physical and not real.startswith(physical + os.sep):
        raise OSError(errno.ELOOP, "a link leads out of the tree; nothing is written there", folder)


def last_import(state_root: str, tree: str) -> dict[str, Remembered]:
    """What the source said at the last import into a tree, by path; {} where none is known."""
    document, _ = read_document(_record(state_root, tree))
    files = document.get("files") if isinstance(document, dict) else None
    found: dict[str, Remembered] = {}
    for path, entry in files.items() if isinstance(files, dict) else ():
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
            text = entry[1].encode("utf-8", "surrogateescape") if isinstance(entry[1], str) else None
            found[path] = Remembered(entry[0], text)
    return found


def remember(state_root: str, home: str, tree: str, rows: Iterable[Row], before: Mapping[str, Remembered]) -> None:
    """Keep what the source says now of everything that is in the tree.

    So that the next import can tell who changed what.
    """
    kept = dict(before)
    for row in rows:
        if row.fate in ("new", "update", "same", "kept"):
            kept[row.path] = Remembered(digest(row.said), None if row.copied else row.said)
    if kept == before:
        return
    place = _record(state_root, tree)
    make_directories(os.path.dirname(place), home)
    files = {
        path: [one.digest, None if one.text is None else one.text.decode("utf-8", "surrogateescape")]
        for path, one in sorted(kept.items())
    }
    replace_json(place, {"schema_version": 1, "tree": os.path.realpath(tree), "files": files})


def _record(state_root: str, tree: str) -> str:
    key = blake3(os.fsencode(os.path.realpath(tree))).hexdigest()[:24]
    return os.path.join(state_root, "imports", f"{key}.json")
