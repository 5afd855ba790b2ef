"""Write a dump into a directory that is absent, empty, or an unchanged dump of ours (spec/30)."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable

from outfitter.catalog.dump_text import RECORD, DumpFile

# One moment for every file, so that archives of equal dumps are equal.
MOMENT = 315532800
_TEMPORARY = ".outfitter-dump-"


def write_dump(directory: str, files: Iterable[DumpFile]) -> int:
    """Write all files with fixed modes and times, then rename the directory into place.

    Returns the number of files.

    Raises `OSError`: ENOTEMPTY where the directory holds anything that no dump wrote.
    """
    directory = os.path.abspath(directory)
    _check(directory)
    parent = os.path.dirname(directory)
    os.makedirs(parent, exist_ok=True)
    temporary = os.path.join(parent, _TEMPORARY + os.urandom(6).hex())
    os.mkdir(temporary, 0o700)
    try:
        count = _fill(temporary, files)
        _replace(temporary, directory)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return count


def _check(directory: str) -> None:
    """Refuse a directory with foreign content: links, other files, a dump that somebody added to."""
    if os.path.islink(directory) or (os.path.lexists(directory) and not os.path.isdir(directory)):
        raise OSError(errno.ENOTDIR, "is not a directory", directory)
    if not os.path.isdir(directory) or not os.listdir(directory):
        return
    known = _recorded(directory)
    for name in _present(directory):
        if name not in known:
            raise OSError(
                errno.ENOTEMPTY, f"contains {name}, which no dump wrote; choose an empty directory", directory
            )


def _recorded(directory: str) -> set[str]:
    try:
        with open(os.path.join(directory, RECORD), encoding="utf-8") as file:
            record = json.load(file)
        return {*record["files"], RECORD} if record.get("kind") == "dump" else set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _present(directory: str) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(directory):
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        found += [os.path.relpath(os.path.join(folder, name), directory) for name in (*names, *linked)]
    return sorted(found)


def _fill(root: str, files: Iterable[DumpFile]) -> int:
    count = 0
    for file in files:
        path = os.path.join(root, file.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if file.source:
            shutil.copyfile(file.source, path)
        else:
            with open(path, "xb") as written:
                written.write(file.content)
        os.chmod(path, 0o755 if file.executable else 0o644)
        os.utime(path, (MOMENT, MOMENT))
        count += 1
    for folder, _, _ in os.walk(root, topdown=False):
        os.chmod(folder, 0o755)
        os.utime(folder, (MOMENT, MOMENT))
    return count


def _replace(temporary: str, directory: str) -> None:
    if not os.path.isdir(directory):
        os.rename(temporary, directory)
        return
    old = temporary + ".old"
    os.rename(directory, old)
    try:
        os.rename(temporary, directory)
    except OSError:
        os.rename(old, directory)
        raise
    shutil.rmtree(old, ignore_errors=True)
