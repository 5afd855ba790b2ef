"""Walking below a directory by descriptors alone: no link is followed, no path can be too long, few descriptors are open."""

from __future__ import annotations

import os

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Levels kept open above the present one; going further up starts again from the root.
WINDOW = 16


class Cursor:
    """Stands in one directory below a root at a time; moving to a near one costs as many opens as levels differ."""

    __slots__ = ("_open", "_parts", "_root")

    def __init__(self, root: int) -> None:
        """`root` is an open directory; it stays the caller's."""
        self._root = root
        self._parts: list[bytes] = []
        self._open: list[tuple[int, int]] = []

    def at(self, path: bytes) -> int:
        """The descriptor of the directory `path` (raw, relative, no dots), valid until the next call. Raises `OSError`."""
        parts = path.split(b"/") if path else []
        common = 0
        for part, mine in zip(parts, self._parts, strict=False):
            if part != mine:
                break
            common += 1
        while self._open and self._open[-1][0] > common:
            os.close(self._open.pop()[1])
        depth, descriptor = self._open[-1] if self._open else (0, self._root)
        del self._parts[depth:]
        for level in range(depth, len(parts)):
            descriptor = os.open(parts[level], DIRECTORY, dir_fd=descriptor)
            self._parts.append(parts[level])
            self._open.append((level + 1, descriptor))
            if len(self._open) > WINDOW:
                os.close(self._open.pop(0)[1])
        return descriptor

    def close(self) -> None:
        """Close what is open but the root."""
        while self._open:
            os.close(self._open.pop()[1])
        self._parts.clear()
