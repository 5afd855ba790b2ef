"""The baseline file of a run directory: a packed tree, written once and exclusively (spec/50)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from errno import EBADMSG
from functools import partial

from outfitter.edges.directories import write_whole
from outfitter.edges.scan import look_again, scan
from outfitter.host import Trees
from outfitter.model.outcome import Row, Tree
from outfitter.tree import Rows
from outfitter.treefile import dump, load

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def save_baseline(path: str, tree: Tree, durable: Sequence[Row]) -> None:
    """Write `path` (0600), which must not exist; nothing is left of it where that fails."""
    data = dump(tree, durable)
    descriptor = os.open(path, _NEW, 0o600)
    try:
        write_whole(descriptor, data)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)


def load_baseline(path: str) -> tuple[Tree, Rows]:
    """The tree and the durable rows that were saved; raises `OSError` where the file is missing or damaged."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return load(data)
    except ValueError:
        raise OSError(EBADMSG, "damaged baseline", path) from None


# What a harness may have put in its projection's place, a link to anywhere, is not the projection.
TREES = Trees(partial(scan, follow=False), save_baseline, load_baseline, look_again)
