"""Rows of exposure before and after the files they name are looked at. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any

from blake3 import blake3

from outfitter.model.exposure import ExposureKind, ExposureRow
from outfitter.model.value import NamedTuple

# How many words of a command are looked up as files.
MOST_WORDS = 64
SHOWN = 100


class Draft(NamedTuple):
    """A row without its digest.

    `subject` is its name, `content` any JSON-like value that the digest covers.

    `words` may name files whose content it covers, too; relative ones are looked up in `bases`.
    """

    kind: ExposureKind
    layer: str
    path: str
    line: int
    what: str
    subject: str
    content: Any
    root: str
    words: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    asks: bool = True


def candidates(draft: Draft) -> tuple[str, ...]:
    """The absolute paths that the words of a draft may mean."""
    found: dict[str, None] = {}
    for word in _split(draft.words):
        for base in draft.bases:
            found[posixpath.normpath(posixpath.join(base, word))] = None
    return tuple(found)


def finished(draft: Draft, files: Mapping[str, str]) -> ExposureRow:
    """The row; `files` are digests of the files that its words mean, by path."""
    named = sorted(digest for path, digest in files.items())
    place = posixpath.relpath(draft.path, draft.root) if draft.root and draft.path else draft.path
    value = [draft.kind, place, draft.subject, draft.content, named]
    digest = blake3(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()
    return ExposureRow(draft.kind, draft.layer, draft.path, draft.line, draft.what, digest, draft.root, draft.asks)


def canonical(value: Any) -> str:
    """One spelling of a JSON-like value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_plain)


def clipped(text: str, most: int = SHOWN) -> str:
    """Text in one line of bounded length, without what could move a terminal's cursor."""
    from outfitter.render import one_line

    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _split(words: tuple[str, ...]) -> list[str]:
    """The words, and the parts of those that are whole shell commands or options with a value."""
    parts: dict[str, None] = {}
    for word in words:
        for part in (word, *re.split(r"[\s\"'`;|&()<>=,]+", word)):
            if (
                part
                and not part.startswith("-")
                and "\0" not in part
                and len(part) < 4096
                and part not in (".", "..", "/")
            ):
                parts[part.replace("$CLAUDE_PROJECT_DIR/", "").replace("${CLAUDE_PROJECT_DIR}/", "")] = None
    return list(parts)[:MOST_WORDS]
