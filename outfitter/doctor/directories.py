"""Directories that a launch needs, tried out: can they be made, written, linked in, executed from, locked in (`outfitter doctor`)."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile

from outfitter.doctor.check import Check

ROOM = 64 << 20


def temporary_root(path: str, home: str) -> Check:
    """What run directories ask of the temporary root (TMPDIR)."""
    name = "temporary directory"
    mend = "set TMPDIR to a directory of your own on a local file system"
    try:
        with tempfile.TemporaryDirectory(prefix="outfitter-doctor-", dir=path) as trial:
            failed = _tried(trial)
    except OSError as error:
        return Check(name, "error", f"{path}: {error.strerror}", mend)
    if failed:
        return Check(name, "error", f"{path}: {failed}", mend)
    remarks = [text for text in (_noexec(path), _open_to_all(path), _little_room(path)) if text]
    if os.path.realpath(path) == os.path.realpath(home):
        remarks.append("it is the home directory")
    if remarks:
        return Check(name, "warning", f"{path}: {'; '.join(remarks)}", mend)
    return Check(name, "ok", f"{path}: writable, with links, locks and programs")


def writable(name: str, path: str, without: str) -> Check:
    """A directory of ours that is made when needed; `without` says what a launch lacks where it cannot be."""
    place = path
    while not os.path.lexists(place) and place != "/":
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        return Check(name, "warning", f"{path}: {place} is no directory; {without}", f"move {place} out of the way")
    try:
        with tempfile.TemporaryFile(dir=place):
            made = "" if place == path else " (not made yet)"
            return Check(name, "ok", path + made)
    except OSError as error:
        return Check(name, "warning", f"{path}: {place}: {error.strerror}; {without}", f"make {place} writable")


def misplaced(path: str, directory: bool) -> str:
    """Why a native path cannot be what a harness needs there, "" where it can (spec/50, "Materializing")."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(path))
        if os.path.islink(path) and not os.path.isdir(folder):
            return f"is a link to {os.readlink(path)}, whose folder is missing"
        return ""
    except OSError as error:
        return error.strerror or str(error)
    if directory != stat.S_ISDIR(mode):
        return "is no directory" if directory else "is no regular file"
    return ""


def _tried(trial: str) -> str:
    """What cannot be done in a fresh directory, "" if all can."""
    file = os.path.join(trial, "file")
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return f"files cannot be locked ({error.strerror})"
    finally:
        os.close(descriptor)
    try:
        os.symlink("file", os.path.join(trial, "link"))
    except OSError as error:
        return f"links cannot be made ({error.strerror})"
    return ""


def _noexec(path: str) -> str:
    with tempfile.NamedTemporaryFile(dir=path, prefix="outfitter-doctor-") as file:
        os.fchmod(file.fileno(), 0o700)
        allowed = os.access(file.name, os.X_OK)
    flag = getattr(os, "ST_NOEXEC", 0)
    if allowed and not (flag and os.statvfs(path).f_flag & flag):
        return ""
    return "mounted noexec: scripts of skills and hooks cannot be run from a projection"


def _open_to_all(path: str) -> str:
    mode = os.stat(path).st_mode
    return "anybody may remove what lies in it (no sticky bit)" if mode & 0o002 and not mode & stat.S_ISVTX else ""


def _little_room(path: str) -> str:
    room = os.statvfs(path)
    free = room.f_bavail * room.f_frsize
    return f"only {free >> 20} MiB are free" if free < ROOM else ""
