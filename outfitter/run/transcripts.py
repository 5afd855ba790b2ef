"""Looking into a folder of session transcripts without reading them whole (spec/95 SLG-05)."""

from __future__ import annotations

import os

from outfitter.fs import open_regular

HEAD = 256 * 1024
_SUFFIX = ".jsonl"


def newest_head(directory: str) -> bytes | None:
    """The first 256 KiB of the regular file that was modified last among the `*.jsonl` directly in a directory; None without one.

    Of two of one moment the later name counts. What cannot be read counts as absent.
    """
    newest = max(_transcripts(directory), default=None)
    if newest is None:
        return None
    try:
        descriptor, _ = open_regular(newest[2], follow=True)
    except OSError:
        return None
    with open(descriptor, "rb", buffering=0) as file:
        return file.read(HEAD)


def _transcripts(directory: str) -> list[tuple[int, str, str]]:
    """(mtime in ns, name, path) of each; one that vanishes meanwhile is left out."""
    try:
        with os.scandir(directory) as entries:
            names = [entry for entry in entries if entry.name.endswith(_SUFFIX)]
    except OSError:
        return []
    found: list[tuple[int, str, str]] = []
    for entry in names:
        try:
            if entry.is_file():
                found.append((entry.stat().st_mtime_ns, entry.name, entry.path))
        except OSError:
            continue
    return found
