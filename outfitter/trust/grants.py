"""Grants: who may run what, bound to the digests of its rows; and the verdict over a launch. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from outfitter.model.exposure import Exposure, ExposureRow, Grant, Verdict

GRANT_VERSION = 1
# A grant keeps the rows that were granted last; older ones are asked about again.
MOST_ROWS = 2000
VARIABLE = "OUTFITTER_TRUSTED_PATHS"
_NAMES = ("digest", "kind", "what", "granted")
TrustDefault = Literal["prompt", "deny", "without"]


def granted(before: Grant | None, exposure: Exposure, time: str) -> Grant:
    """A grant with the rows of an exposure added."""
    known = before.digests if before else frozenset()
    fresh = {row.digest: (row.digest, row.kind, row.what, time) for row in exposure.asking if row.digest not in known}
    rows = (*(before.rows if before else ()), *fresh.values())[-MOST_ROWS:]
    return Grant(exposure.place, exposure.remote, rows)


def grant_document(grant: Grant) -> dict[str, Any]:
    """A grant as its file holds it."""
    return {
        "grant_version": GRANT_VERSION,
        "path": grant.place,
        "remote": grant.remote,
        "rows": [dict(zip(_NAMES, row, strict=True)) for row in grant.rows],
    }


def grant_of(document: Any) -> Grant | None:
    """The grant that a file holds; None at any doubt."""
    if not isinstance(document, Mapping) or document.get("grant_version") != GRANT_VERSION:
        return None
    rows = document.get("rows")
    if not isinstance(rows, list) or not isinstance(document.get("path"), str):
        return None
    found: list[tuple[str, str, str, str]] = []
    for row in rows:
        if not isinstance(row, Mapping) or not all(isinstance(row.get(name), str) for name in _NAMES):
            return None
        found.append((row["digest"], row["kind"], row["what"], row["granted"]))
    return Grant(document["path"], str(document.get("remote", "")), tuple(found))


def prefixes(value: str) -> tuple[str, ...]:
    """The absolute paths of a variable that lists them with colons; anything else counts for nothing."""
    return tuple(posixpath.normpath(part) for part in value.split(":") if part.startswith("/"))


def is_below(path: str, above: Iterable[str]) -> bool:
    """Whether a physical path is one of the others or lies below it, by whole names."""
    return any(path == top or path.startswith(top.rstrip("/") + "/") for top in above)


def verdict(exposure: Exposure, trusted: tuple[str, ...], grant: Grant | None, given: str) -> Verdict:
    """Who allowed the rows. `trusted` are physical paths, `given` is the digest of `--trust`, "" for none."""
    asking = exposure.asking
    if not asking:
        return Verdict("nothing", exposure)
    foreign = tuple(row for row in asking if not is_below(row.root, trusted))
    if not foreign:
        return Verdict("path", exposure)
    known = grant.digests if grant else frozenset()
    pending = tuple(row for row in foreign if row.digest not in known)
    if not pending:
        return Verdict("granted" if len(foreign) == len(asking) else "path", exposure)
    if given and len(given) >= 12 and exposure.digest.startswith(given):
        return Verdict("digest", exposure)
    return Verdict("pending", exposure, pending)


def sorted_rows(rows: Iterable[ExposureRow]) -> tuple[ExposureRow, ...]:
    """Each row once, what runs by itself first, then by kind and place."""
    return tuple(sorted(dict.fromkeys(rows), key=lambda row: (not row.asks, row.kind, row.path, row.line, row.what)))
