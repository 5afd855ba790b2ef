"""Test what a launch needs of directories: create, write, symlink, execute, lock."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from typing import Literal, NamedTuple

from outfitter.model.errors import os_error_text

ROOM = 64 << 20
# In rising order; only `error` fails the command.
Verdict = Literal["skipped", "ok", "info", "warning", "error"]
VERDICTS: tuple[Verdict, ...] = ("skipped", "ok", "info", "warning", "error")


class Check(NamedTuple):
    """One check and its result; `details` are further lines, `hint` says how to fix it."""

    name: str
    verdict: Verdict
    message: str
    hint: str = ""
    details: tuple[str, ...] = ()


def worst(checks: tuple[Check, ...]) -> Verdict:
    """Return the gravest verdict."""
    return max((check.verdict for check in checks), key=VERDICTS.index, default="ok")


def temporary_root(path: str, home: str) -> Check:
    """Check what run directories need of the temporary root (TMPDIR)."""
    name = "temporary directory"
    hint = "set TMPDIR to a directory of your own on a local file system"
    try:
        with tempfile.TemporaryDirectory(prefix="outfitter-doctor-", dir=path) as trial:
            failure = _failure(trial)
    except OSError as error:
        return Check(name, "error", f"{path}: {error.strerror}", hint)
    if failure:
        return Check(name, "error", f"{path}: {failure}", hint)
    remarks = [text for text in (_noexec(path), _open_to_all(path), _little_room(path)) if text]
    if os.path.realpath(path) == os.path.realpath(home):
        remarks.append("it is the home directory")
    if remarks:
        return Check(name, "warning", f"{path}: {'; '.join(remarks)}", hint)
    return Check(name, "ok", f"{path}: writable, with links, locks and programs")


def writable(name: str, path: str, without: str) -> Check:
    """Check a directory that is created when needed; `without` says what a launch lacks without it."""
    existing = path
    while not os.path.lexists(existing) and existing != "/":
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        text = f"{path}: {existing} is not a directory; {without}"
        return Check(name, "warning", text, f"move {existing} aside")
    try:
        with tempfile.TemporaryFile(dir=existing):
            return Check(name, "ok", path if existing == path else f"{path} (does not exist yet)")
    except OSError as error:
        return Check(name, "warning", f"{path}: {existing}: {error.strerror}; {without}", f"make {existing} writable")


def misplaced(path: str, directory: bool) -> str:
    """Return why a harness cannot use a native path, or "" (spec/50, "Materializing")."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(path))
        if os.path.islink(path) and not os.path.isdir(folder):
            return f"is a symlink to {os.readlink(path)}, in a directory that does not exist"
        return ""
    except OSError as error:
        return os_error_text(error)
    if directory != stat.S_ISDIR(mode):
        return "is not a directory" if directory else "is not a regular file"
    return ""


def _failure(trial: str) -> str:
    """Return what cannot be done in a fresh directory, or ""."""
    file = os.path.join(trial, "file")
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return f"cannot lock files ({error.strerror})"
    finally:
        os.close(descriptor)
    try:
        os.symlink("file", os.path.join(trial, "link"))
    except OSError as error:
        return f"cannot create symlinks ({error.strerror})"
    return ""


def _noexec(path: str) -> str:
    with tempfile.NamedTemporaryFile(dir=path, prefix="outfitter-doctor-") as file:
        os.fchmod(file.fileno(), 0o700)
        allowed = os.access(file.name, os.X_OK)
    flag = getattr(os, "ST_NOEXEC", 0)
    if allowed and not (flag and os.statvfs(path).f_flag & flag):
        return ""
    return "mounted noexec: a projection cannot run scripts of skills and hooks"


def _open_to_all(path: str) -> str:
    mode = os.stat(path).st_mode
    return "any user can remove files in it (no sticky bit)" if mode & 0o002 and not mode & stat.S_ISVTX else ""


def _little_room(path: str) -> str:
    room = os.statvfs(path)
    free = room.f_bavail * room.f_frsize
    return f"only {free >> 20} MiB free" if free < ROOM else ""
