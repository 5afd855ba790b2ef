"""Reading trees on the machine: the project root, listings with links resolved, file bytes (spec/10, spec/15 V5)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator

from outfitter.fs import digest_file, read_regular
from outfitter.model.layers import Entry
from outfitter.model.request import Notice

# More names than this in one listing is no tree but somebody's data; a launch must not take minutes over it.
ENTRY_LIMIT = 200_000
# How often one folder is walked through links. Aliases of a skill stay usable, and loops cannot multiply.
ALIAS_LIMIT = 8
# Nothing at the path, or something else than a regular file (a socket cannot even be opened).
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ENXIO)


def project_root(cwd: str, home: str) -> tuple[str, str, tuple[Notice, ...]]:
    """(working directory, home) → project root, boundary of its links, notices.

    The root is the nearest directory at or above `cwd` whose `.agents` is a usable directory, up to the git top level; the
    home's own `.agents` is never a project's. Without one it is the git top level, or `cwd` where that would be the home.
    """
    here, home = os.path.realpath(cwd), os.path.realpath(home)
    top = _git_top(here)
    boundary = top or here
    notices: list[Notice] = []
    for directory in _upwards(here, boundary):
        if directory == home:
            continue
        usable, remark = _tree_at(directory, boundary, home)
        notices += remark
        if usable:
            return directory, top or directory, tuple(notices)
    inside_home = (home + "/").startswith(boundary.rstrip("/") + "/")
    return (here if inside_home else boundary), boundary, tuple(notices)


def listing(root: str, boundary: str, depth: int) -> dict[str, Entry]:
    """Names below `root`, `depth` levels deep, by path relative to it, in a stable order; {} where there is no such folder.

    Links are resolved: what leads outside `boundary` ("" for none) or nowhere is an entry of that kind and not entered.
    Raises `OSError`: EFBIG beyond `ENTRY_LIMIT` names, and for a folder that cannot be looked at.
    """
    start = os.path.realpath(root)
    limit = os.path.realpath(boundary) if boundary else ""
    if not _is_directory(start) or _outside(start, limit):
        return {}
    return dict(_Walk(limit, root).walk(start, "", depth, (start,)))


def _is_directory(path: str) -> bool:
    """Return whether there is a directory. One that cannot be looked at is not an absent one: `OSError`."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        if error.errno in (*_NO_FILE, errno.ELOOP, errno.ENAMETOOLONG):
            return False
        raise


def read(path: str) -> bytes | None:
    """Return the bytes of a regular file, links followed; None if there is none. Raises EFBIG beyond 10 MB."""
    return _of_file(read_regular, path)


def digest(path: str) -> str:
    """Return the BLAKE3 (hex) of a regular file of any size, links followed; "" if there is none."""
    found = _of_file(digest_file, path)
    return found.hex() if found else ""


def _of_file(read: Callable[[str], bytes], path: str) -> bytes | None:
    try:
        return read(path)
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise


def names(path: str) -> tuple[str, ...]:
    """The sorted names in a directory, () where there is none."""
    try:
        return tuple(sorted(os.listdir(path)))
    except (FileNotFoundError, NotADirectoryError):
        return ()


def real(path: str) -> str:
    """The physical path, links resolved as far as they exist."""
    return os.path.realpath(path)


class _Walk:
    """One listing under way: how often each linked folder was entered, and how many names were seen."""

    def __init__(self, limit: str, root: str) -> None:
        self.limit = limit
        self.root = root
        self.aliases: dict[tuple[int, int], int] = {}
        self.count = 0

    def walk(self, physical: str, prefix: str, depth: int, trail: tuple[str, ...]) -> Iterator[tuple[str, Entry]]:
        """Entries below one physical folder. `trail` holds the physical folders on the way here: entering one again is a loop."""
        with os.scandir(physical) as scan:
            found = sorted(scan, key=lambda item: item.name)
        for item in found:
            self.count += 1
            if self.count > ENTRY_LIMIT:
                raise OSError(errno.EFBIG, f"more than {ENTRY_LIMIT} files in one tree", self.root)
            entry = self.entry(
                item, prefix + item.name, f"{physical}/{item.name}" if physical != "/" else "/" + item.name
            )
            if entry.kind == "directory" and depth > 1 and self.enters(item, entry, trail):
                below = self.below(entry, depth - 1, (*trail, entry.target))
                if below is None:
                    entry = entry._replace(kind="unreadable")
                yield entry.path, entry
                yield from below or ()
            else:
                yield entry.path, entry

    def below(self, entry: Entry, depth: int, trail: tuple[str, ...]) -> list[tuple[str, Entry]] | None:
        """A folder's own entries, or None where its names cannot be read."""
        try:
            return list(self.walk(entry.target, entry.path + "/", depth, trail))
        except PermissionError:
            return None
        except (FileNotFoundError, NotADirectoryError):
            return []

    def enters(self, item: os.DirEntry[str], entry: Entry, trail: tuple[str, ...]) -> bool:
        """Whether a folder is walked: real ones but git's own are, linked ones unless they lead back or were taken often enough."""
        if item.name == ".git":
            return False
        if not item.is_symlink():
            return True
        if entry.target in trail:
            return False
        self.aliases[entry.inode] = self.aliases.get(entry.inode, 0) + 1
        return self.aliases[entry.inode] <= ALIAS_LIMIT

    def entry(self, item: os.DirEntry[str], path: str, physical: str) -> Entry:
        """One name, after links. Regular files are looked at for their execute bit, folders only through links."""
        if item.is_symlink():
            return self.linked(item.path, path)
        if item.is_dir(follow_symlinks=False):
            return Entry(path, "directory", physical)
        if not item.is_file(follow_symlinks=False):
            return Entry(path, "special", physical)
        try:
            executable = bool(item.stat(follow_symlinks=False).st_mode & 0o111)
        except OSError:
            executable = False
        return Entry(path, "file", physical, executable)

    def linked(self, link: str, path: str) -> Entry:
        """A link, as what it leads to."""
        target = os.path.realpath(link)
        try:
            seen = os.stat(target)
        except OSError:
            return Entry(path, "dangling", _link_text(link), link=True)
        if _outside(target, self.limit):
            return Entry(path, "outside", _link_text(link), link=True)
        inode = (seen.st_dev, seen.st_ino)
        if stat.S_ISDIR(seen.st_mode):
            return Entry(path, "directory", target, False, inode, True)
        if stat.S_ISREG(seen.st_mode):
            return Entry(path, "file", target, bool(seen.st_mode & 0o111), inode, True)
        return Entry(path, "special", target, False, inode, True)


def _tree_at(directory: str, boundary: str, home: str) -> tuple[bool, tuple[Notice, ...]]:
    """Whether a directory's `.agents` makes it a project root, and what to say where something unusable stands there."""
    place = os.path.join(directory, ".agents")
    if not os.path.lexists(place):
        return False, ()
    target = os.path.realpath(place)
    if target == os.path.join(home, ".agents"):
        return False, ()
    if not os.path.exists(place):
        why = f"is a dangling symlink ({_link_text(place)})"
    elif not os.path.isdir(place):
        why = "is a file, not a directory" + _looks_like_a_link(place)
    elif _outside(target, boundary):
        why = f"points outside the repository ({_link_text(place)})"
    else:
        return True, ()
    return False, (Notice("warning", "tree-unusable", f"{place} {why}; it is not used"),)


def _looks_like_a_link(place: str) -> str:
    text = read(place) or b""
    single = text.strip()
    looks = 0 < len(single) < 512 and b"\n" not in single and single.startswith((b".", b"/")) and b"/" in single
    return "; this looks like a link that git could not create (core.symlinks)" if looks else ""


def _git_top(here: str) -> str:
    """The nearest directory at or above that holds `.git`, file or folder; "" outside a work tree."""
    return next((d for d in _upwards(here, "/") if os.path.lexists(os.path.join(d, ".git"))), "")


def _upwards(here: str, top: str) -> Iterator[str]:
    """A directory and its parents, up to and with `top`."""
    while True:
        yield here
        if here in (top, "/"):
            return
        here = os.path.dirname(here)


def _outside(target: str, limit: str) -> bool:
    return bool(limit) and limit != "/" and target != limit and not target.startswith(limit + "/")


def _link_text(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return link
