"""Cached checkouts of remote catalogs: fetched beside the last good one, checked, then put in its place at once (spec/10).

`<cache>/sources/<name>/`: `checkout` is a link to the current `revisions/<commit>-<random>`, `state.json` says what it is,
`lock` serialises writers. The revision before the current one stays until the next change, for launches that still read it.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from outfitter.fs import make_cache, read_document
from outfitter.sync.git import fetch

Status = Literal["updated", "unchanged", "skipped", "failed"]
KEPT_REVISIONS = 2


class Synced(NamedTuple):
    """What became of one source: `source` and `reason` never hold a credential."""

    source: str
    status: Status
    ref: str = ""
    commit: str = ""
    previous: str = ""
    reason: str = ""


def sync_one(
    shown: str,
    place: str,
    uri: str,
    ref: str,
    check: Callable[[str], str],
    env: Mapping[str, str],
    wait: Callable[[str], None],
    *,
    interactive: bool,
) -> Synced:
    """Bring the source called `shown` up to date: `place` (`<cache>/sources/<name>`) up to `uri` at `ref`. `check` says why a checkout is no good, "" if it is.

    Whatever fails, the last good checkout stays. `wait` is told once that another sync holds the lock.
    """
    try:
        make_cache(os.path.join(place, "revisions"), os.path.dirname(os.path.dirname(place)))
        with _locked(os.path.join(place, "lock"), lambda: wait(shown)):
            return _sync(place, uri, ref, check, env, interactive)._replace(source=shown, ref=ref)
    except OSError as error:
        return Synced(shown, "failed", ref, reason=f"{error.filename}: {error.strerror}")


def state(place: str) -> dict[str, Any]:
    """What the current checkout is: `commit`, `ref`, `fetched_ns`; {} where there is none."""
    value, why = read_document(os.path.join(place, "state.json"))
    return value if not why and isinstance(value, dict) and os.path.isdir(os.path.join(place, "checkout")) else {}


def _sync(
    place: str, uri: str, ref: str, check: Callable[[str], str], env: Mapping[str, str], interactive: bool
) -> Synced:
    previous = str(state(place).get("commit", ""))
    fresh = os.path.join(place, "revisions", f"new-{os.urandom(6).hex()}")
    try:
        fetched = fetch(uri, ref, fresh, env, interactive=interactive)
        problem = fetched.problem or check(fresh)
        if problem:
            return Synced("", "failed", commit=previous, previous=previous, reason=problem)
        if fetched.commit == previous and _current(place).startswith(previous[:12]):
            _describe(place, fetched.commit, ref)
            return Synced("", "unchanged", commit=previous, previous=previous)
        kept = os.path.join("revisions", f"{fetched.commit[:12]}-{os.urandom(4).hex()}")
        os.rename(fresh, os.path.join(place, kept))
        _point(place, kept)
        _describe(place, fetched.commit, ref)
        return Synced("", "updated", commit=fetched.commit, previous=previous)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        _tidy(place)


def _point(place: str, kept: str) -> None:
    temporary = os.path.join(place, f".checkout-{os.urandom(6).hex()}")
    os.symlink(kept, temporary)
    os.rename(temporary, os.path.join(place, "checkout"))


def _describe(place: str, commit: str, ref: str) -> None:
    temporary = os.path.join(place, f".state-{os.urandom(6).hex()}")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"schema_version": 1, "commit": commit, "ref": ref, "fetched_ns": time.time_ns()}, file)
    os.rename(temporary, os.path.join(place, "state.json"))


def _current(place: str) -> str:
    """The revision in use, by the name of its folder; a sync killed before it described one has left another in `state.json`."""
    return os.path.basename(os.path.realpath(os.path.join(place, "checkout")))


def _tidy(place: str) -> None:
    """Remove what a killed sync left and all but the newest revisions. Called with the lock held: nobody else is fetching."""
    current = _current(place)
    shelf = os.path.join(place, "revisions")
    names = sorted(os.listdir(shelf), key=lambda name: os.stat(os.path.join(shelf, name)).st_mtime_ns, reverse=True)
    spared = [current, *(name for name in names if name != current and not name.startswith("new-"))][:KEPT_REVISIONS]
    for name in names:
        if name not in spared:
            shutil.rmtree(os.path.join(shelf, name), ignore_errors=True)


@contextmanager
def _locked(path: str, waiting: Callable[[], None]) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
