"""Walk below a directory by descriptors alone: follow no symlink, and keep few descriptors open.

Paths may be longer than the system's limit.
"""

from __future__ import annotations

import os

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Levels kept open above the current one; going further up starts again from the root.
WINDOW = 16


class Cursor:
    """One open directory below a root; moving to a near one opens only the levels that differ."""

    __slots__ = ("_open", "_parts", "_root")

    def __init__(self, root: int) -> None:
        """`root` is an open directory, which the caller closes."""
        self._root = root
        self._parts: list[bytes] = []
        self._open: list[tuple[int, int]] = []

    def at(self, path: bytes) -> int:
        """Return the descriptor of the directory `path`, valid until the next call.

        `path` is raw, relative and without dots. Raises `OSError`.
        """
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
        """Close every descriptor except the root."""
        while self._open:
            os.close(self._open.pop()[1])
        self._parts.clear()
