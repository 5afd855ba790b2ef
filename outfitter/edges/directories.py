"""Making directories of our own kind: private, one component at a time, and never a whole missing home."""

from __future__ import annotations

import errno
import os


def make_directories(path: str, home: str) -> None:
    """Make `path` and its missing parents, 0700 each; what exists is left as it is.

    A `home` that does not exist is not made (an unmounted or mistyped one must not fill up): `FileNotFoundError` names it.
    """
    missing: list[str] = []
    while not os.path.isdir(path):
        if path == home:
            raise FileNotFoundError(errno.ENOENT, "the home directory does not exist", path)
        missing.append(path)
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    for part in reversed(missing):
        try:
            os.mkdir(part, 0o700)
        except FileExistsError:
            if not os.path.isdir(part):
                raise NotADirectoryError(errno.ENOTDIR, "not a directory", part) from None


def make_cache(path: str, cache: str) -> None:
    """Make `path`, which lies in the cache directory `cache`; no more is made above it than the one directory that holds it."""
    make_directories(path, os.path.dirname(os.path.dirname(cache)))


def write_whole(descriptor: int, data: bytes) -> None:
    """Every byte, however many writes that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
