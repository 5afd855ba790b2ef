"""Grants on disk: one file a project, 0600, believed only where it is the user's own."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from outfitter.fs import make_directories, read_document, replace_json
from outfitter.model.exposure import Grant
from outfitter.model.request import Ambient
from outfitter.trust.grants import grant_document, grant_of


class GrantFiles:
    """The grants of this user. What cannot be read, or others may write, grants nothing."""

    def __init__(self, ambient: Ambient) -> None:
        """`ambient` names the state directory."""
        self._directory = os.path.join(ambient.state_root, "trust")
        self._home = ambient.home

    def grant(self, key: str) -> Grant | None:
        """Return a project's grant, None if there is none that counts."""
        path = self._path(key)
        if not (_is_own(self._directory, stat.S_ISDIR) and _is_own(path, stat.S_ISREG)):
            return None
        return grant_of(read_document(path)[0])

    def keep(self, key: str, grant: Grant) -> None:
        """Write a grant in the place of the one before. Raises `OSError`."""
        make_directories(self._directory, self._home)
        replace_json(self._path(key), grant_document(grant))

    def revoke(self, key: str) -> bool:
        """Remove a grant; return whether there was one. Raises `OSError`."""
        try:
            os.unlink(self._path(key))
        except FileNotFoundError:
            return False
        return True

    def every(self) -> tuple[tuple[str, Grant], ...]:
        """Return all grants with their keys."""
        try:
            names = sorted(os.listdir(self._directory))
        except OSError:
            return ()
        keys = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        return tuple((key, found) for key in keys if (found := self.grant(key)) is not None)

    def _path(self, key: str) -> str:
        return os.path.join(self._directory, f"{key}.json")


def _is_own(path: str, kind: Callable[[int], bool]) -> bool:
    """Return whether a path is of that kind and this user's own, and nobody else may write it."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return kind(status.st_mode) and status.st_uid in (os.geteuid(), 0) and not status.st_mode & 0o022
