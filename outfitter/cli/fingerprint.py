"""`outfitter fingerprint [PATH]`: one digest of a directory's names, kinds and bytes (spec/60)."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.fingerprint.scan import scan
from outfitter.fingerprint.tree import STAT, pack
from outfitter.model.outcome import Row, Tree
from outfitter.model.request import Notice
from outfitter.model.wording import counted
from outfitter.railway import effect_error

SUMMARY = "Print one digest of a directory: of the names, kinds and bytes in it, and of nothing else."
EXAMPLES = (
    "outfitter fingerprint ~/.claude/projects",
    "outfitter fingerprint --list dist | (cd dist && b3sum --check)",
    "outfitter fingerprint --json --no-cache .",
)
KINDS = {"f": "file", "x": "executable", "l": "link", "d": "directory", "o": "other", "u": "unreadable"}
REPLACEMENT = "\ufffd"


def arguments(made: argparse.ArgumentParser) -> None:
    """PATH and the three options."""
    made.add_argument("path", nargs="?", default=".", metavar="PATH", help="a directory (default: this one)")
    made.add_argument("--list", action="store_true", help="one line a regular file, as b3sum prints it")
    made.add_argument("--no-cache", action="store_true", help="read every file, whatever is remembered of it")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print the fingerprint; 1 where PATH is no directory, or not everything in it could be read."""
    options = parser("fingerprint", SUMMARY, arguments, EXAMPLES).parse_args(words)
    started = time.monotonic()
    try:
        tree = _taken(os.path.join(context.ambient.cwd, options.path), context.ambient.home, options.no_cache)
    except OSError as error:
        failed = effect_error("fingerprint", error)
        return context.fail(failed._replace(path=options.path), options.json)
    seconds = time.monotonic() - started
    cached = "no cache asked" if options.no_cache else f"{tree.files_cached} known from the cache"
    context.console.detail(
        f"{options.path}: {counted(tree.files_read, 'file')} read, {cached}, {seconds * 1000:.1f} ms"
    )
    noted = [] if tree.complete and not tree.files_read else remarked(tree)
    if options.json:
        context.console.document(_document(options.path, tree, noted, seconds, options.list))
    elif options.list:
        _list(context, tree)
    else:
        context.console.data(sum_line(tree.digest, os.fsencode(options.path)))
    for row in noted:
        _tell(context, row)
    return 0 if tree.complete else 1


def _taken(path: str, home: str, no_cache: bool) -> Tree:
    if no_cache:
        return scan(path, (), 0, trusted=False, cross_mounts=True)
    from outfitter.edges.real import early_cache_directory
    from outfitter.fingerprint import stat_cache

    cache, real = early_cache_directory(home), os.path.realpath(path)
    known = stat_cache.recall(cache, real)
    if known is None:
        tree = scan(path, (), 0, trusted=False, cross_mounts=True)
    else:
        tree = scan(path, known.tree.rows, known.tree.taken_ns, trusted=False, cross_mounts=True)
    if known is None or tree.files_read or tree.digest != known.tree.digest:
        stat_cache.keep(cache, real, tree, known)
    return tree


def sum_line(digest: bytes, path: bytes) -> str:
    """A line in b3sum's own format: a name that holds a backslash or a newline is escaped, and the line begins with a backslash."""
    text = path.decode("utf-8", "replace")
    if "\\" in text or "\n" in text:
        return f"\\{digest.hex()}  " + text.replace("\\", "\\\\").replace("\n", "\\n")
    return f"{digest.hex()}  {text}"


def _list(context: Context, tree: Tree) -> None:
    lines = []
    for row in tree.rows:
        if row.tag in "fx":
            lines.append(sum_line(row.digest, row.path))
            if REPLACEMENT in lines[-1]:
                shown = os.fsdecode(row.path)
                context.console.say(Notice("warning", "not-utf8", f"{shown}: b3sum --check refuses this name"))
    if lines:
        context.console.data("\n".join(lines))


def _tell(context: Context, row: Row) -> None:
    path = os.fsdecode(row.path)
    if row.tag == "u":
        context.console.say(
            Notice("warning", "unreadable", f"{path}: not read ({row.note}); the fingerprint is incomplete")
        )
    else:
        context.console.say(Notice("warning", "unstable", f"{path}: it changed while it was read"))


def counts(tree: Tree) -> tuple[dict[str, int], int]:
    """(entries by tag, bytes in regular files) of a tree."""
    tags: dict[str, int] = {}
    size = 0
    for folder in pack(tree.rows).folders.values():
        for code in set(folder.tags):
            tags[chr(code)] = tags.get(chr(code), 0) + folder.tags.count(code)
        sizes = [STAT.unpack_from(folder.stats, at)[2] for at in range(0, len(folder.stats), STAT.size)]
        size += sum([bytes_ for bytes_, code in zip(sizes, folder.tags, strict=True) if code in b"fx"])
    return tags, size


def remarked(tree: Tree) -> list[Row]:
    """The rows that carry a note: what could not be read, and what changed while it was."""
    rows = [
        folder.row(extra.child, folder.children()[extra.child])
        for folder in pack(tree.rows).folders.values()
        for extra in folder.extras
        if extra.note
    ]
    return sorted(rows)


def _document(path: str, tree: Tree, noted: list[Row], seconds: float, listed: bool) -> dict[str, Any]:
    tags, size = counts(tree)
    document: dict[str, Any] = {
        "path": path,
        "fingerprint": tree.digest.hex(),
        "complete": tree.complete,
        "counts": {kind: tags.get(tag, 0) for tag, kind in KINDS.items()},
        "bytes": size,
        "files_read": tree.files_read,
        "files_cached": tree.files_cached,
        "seconds": round(seconds, 6),
        "unreadable": [{"path": os.fsdecode(row.path), "errno": row.note} for row in noted if row.tag == "u"],
        "unstable": [os.fsdecode(row.path) for row in noted if row.tag != "u"],
    }
    if listed:
        rows = [row for row in tree.rows if row.tag in "fx"]
        document["files"] = [{"path": os.fsdecode(row.path), "digest": row.digest.hex()} for row in rows]
    return document
