"""Read the beginning of the newest session transcript in a directory (spec/95 SLG-05)."""

from __future__ import annotations

import os

from outfitter.fs import open_regular

HEAD = 256 * 1024
_SUFFIX = ".jsonl"


def newest_head(directory: str) -> bytes | None:
    """Return the first 256 KiB of the newest `*.jsonl` directly in a directory, None if there is none.

    Of two with the same mtime the later name counts. A file that cannot be read counts as absent.
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
    """Return (mtime in ns, name, path) of each transcript that can be looked at."""
    try:
        with os.scandir(directory) as entries:
            names = [entry for entry in entries if entry.name.endswith(_SUFFIX)]
    except OSError:
        return []
    transcripts: list[tuple[int, str, str]] = []
    for entry in names:
        try:
            if entry.is_file():
                transcripts.append((entry.stat().st_mtime_ns, entry.name, entry.path))
        except OSError:
            continue
    return transcripts
