"""Cached checkouts of remote catalogs, replaced atomically once a new revision is checked (spec/10).

In `<cache>/sources/<name>/`, `checkout` is a symlink to the current `revisions/<commit>-<random>`, `state.json` describes it,
and `lock` serialises writers. The previous revision stays until the next change, for launches that still read it.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal, NamedTuple

from outfitter.fs import make_cache, read_document, write_atomic
from outfitter.model.errors import os_error_text
from outfitter.sync.git import fetch

Status = Literal["updated", "unchanged", "skipped", "failed"]
KEPT_REVISIONS = 2


class Synced(NamedTuple):
    """The result for one source; `source` and `reason` never hold a credential.

    `reason` says why it failed or was skipped, or what is missing in a checkout that can be used without it.
    """

    source: str
    status: Status
    ref: str = ""
    commit: str = ""
    previous: str = ""
    reason: str = ""


class Wanted(NamedTuple):
    """What is asked of a remote.

    `ref` is "" for its default branch; of the repository `path` is used, "" for all of it.
    """

    uri: str
    ref: str
    path: str = ""


def sync_one(
    shown: str,
    folder: str,
    wanted: Wanted,
    check: Callable[[str], str],
    env: Mapping[str, str],
    wait: Callable[[str], None],
    *,
    interactive: bool,
) -> Synced:
    """Bring the source called `shown` up to date: `folder` (`<cache>/sources/<name>`) to what is wanted.

    `check` returns why a checkout cannot be used, or "". `wait` is called once if another sync holds the lock. If anything
    fails, the last good checkout stays.
    """
    try:
        make_cache(os.path.join(folder, "revisions"), os.path.dirname(os.path.dirname(folder)))
        with _locked(os.path.join(folder, "lock"), lambda: wait(shown)):
            return _sync(folder, wanted, check, env, interactive)._replace(source=shown, ref=wanted.ref)
    except OSError as error:
        return Synced(shown, "failed", wanted.ref, reason=f"{error.filename}: {os_error_text(error)}")


def state(folder: str) -> dict[str, Any]:
    """Return `commit`, `ref`, `parts` and `fetched_ns` of the current checkout; {} if there is none."""
    value, problem = read_document(os.path.join(folder, "state.json"))
    return value if not problem and isinstance(value, dict) and os.path.isdir(os.path.join(folder, "checkout")) else {}


def _sync(
    folder: str, wanted: Wanted, check: Callable[[str], str], env: Mapping[str, str], interactive: bool
) -> Synced:
    before = state(folder)
    previous = str(before.get("commit", ""))
    fresh = os.path.join(folder, "revisions", f"new-{os.urandom(6).hex()}")
    try:
        fetched = fetch(wanted.uri, wanted.ref, fresh, env, path=wanted.path, interactive=interactive)
        problem = fetched.problem or check(fresh)
        missing = fetched.parts.missing
        if problem:
            reason = f"{problem}; {missing}" if missing else problem
            return Synced("", "failed", commit=previous, previous=previous, reason=reason)
        kept = _parts(before)
        if (
            fetched.commit == previous
            and _current(folder).startswith(previous[:12])
            and kept.issuperset(fetched.parts.there)
        ):
            _describe(folder, fetched.commit, wanted.ref, sorted(kept))
            # What could not be fetched now may be there from an earlier sync.
            missing = missing if kept == set(fetched.parts.there) else ""
            return Synced("", "unchanged", commit=previous, previous=previous, reason=missing)
        revision = os.path.join("revisions", f"{fetched.commit[:12]}-{os.urandom(4).hex()}")
        os.rename(fresh, os.path.join(folder, revision))
        _point(folder, revision)
        _describe(folder, fetched.commit, wanted.ref, fetched.parts.there)
        return Synced("", "updated", commit=fetched.commit, previous=previous, reason=missing)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        _remove_old(folder)


def _point(folder: str, revision: str) -> None:
    temporary = os.path.join(folder, f".checkout-{os.urandom(6).hex()}")
    os.symlink(revision, temporary)
    os.rename(temporary, os.path.join(folder, "checkout"))


def _parts(described: Mapping[str, Any]) -> set[str]:
    """What the current checkout holds besides its commit, by its description."""
    parts = described.get("parts")
    return {part for part in parts if isinstance(part, str)} if isinstance(parts, list) else set()


def _describe(folder: str, commit: str, ref: str, parts: Sequence[str]) -> None:
    state = {"schema_version": 1, "commit": commit, "ref": ref, "parts": list(parts), "fetched_ns": time.time_ns()}
    write_atomic(os.path.join(folder, "state.json"), json.dumps(state).encode())


def _current(folder: str) -> str:
    """Return the folder name of the revision in use.

    If a sync was killed before it wrote `state.json`, that file describes another one.
    """
    return os.path.basename(os.path.realpath(os.path.join(folder, "checkout")))


def _remove_old(folder: str) -> None:
    """Remove what a killed sync left, and all but the newest revisions; call it with the lock held."""
    for name in os.listdir(folder):
        if name.startswith(".checkout-") or (name.startswith(".") and name.endswith(".tmp")):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
    current = _current(folder)
    revisions = os.path.join(folder, "revisions")
    names = sorted(
        os.listdir(revisions), key=lambda name: os.stat(os.path.join(revisions, name)).st_mtime_ns, reverse=True
    )
    kept = [current, *(name for name in names if name != current and not name.startswith("new-"))][:KEPT_REVISIONS]
    for name in names:
        if name not in kept:
            shutil.rmtree(os.path.join(revisions, name), ignore_errors=True)


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
