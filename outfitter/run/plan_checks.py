"""Check that a projection plan stays inside its projection and uses each path once (spec/50). Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from outfitter.model.projection import ProjectionPlan


def inside(path: str) -> bool:
    """Return whether a path, trailing slash aside, is strictly inside the directory it is relative to."""
    bare = path.removesuffix("/")
    return bool(bare) and bare[0] != "/" and posixpath.normpath(bare) == bare and bare.split("/")[0] not in ("..", ".")


def violations(plan: ProjectionPlan) -> tuple[str, ...]:
    """Return why a plan must not be carried out, one line each with the path; () for a sound plan."""
    files = [item.path for item in plan.generated]
    files += [item.path for item in plan.copied]
    files += [seed.path for seed in plan.seeds if not seed.path.endswith("/")]
    strays = tuple(_strays(plan))
    return strays or tuple(dict.fromkeys((*_doubles(files), *_clashes(plan, frozenset(files)))))


def _strays(plan: ProjectionPlan) -> Iterator[str]:
    paths = [item.path for item in plan.generated]
    paths += [item.path for item in plan.copied]
    paths += [seed.path for seed in plan.seeds]
    paths += [bridge.path for bridge in plan.bridges]
    for path in (*paths, *(one.path.key for one in plan.strategies.declared)):
        if not inside(path) or "\0" in path:
            yield f"{path!r} is not a path inside the projection"
        elif any(len(name.encode("utf-8", "surrogateescape")) > 255 for name in path.split("/")):
            yield f"{path!r} has a name of more than 255 bytes"


def _doubles(files: list[str]) -> Iterator[str]:
    seen: set[str] = set()
    for path in files:
        if path in seen:
            yield f"{path!r} would be written twice"
        seen.add(path)


def _clashes(plan: ProjectionPlan, files: frozenset[str]) -> Iterator[str]:
    """Yield files in the place of a directory: with another file below, or declared as a directory."""
    keys = {one.path.key for one in plan.strategies.declared}
    declared_files = {key for key in keys if not key.endswith("/")}
    for path in sorted(files):
        if path + "/" in keys:
            yield f"{path!r} would be a file, but is declared as a directory"
        above = posixpath.dirname(path)
        while above:
            if above in files or above in declared_files:
                yield f"{path!r} would lie below {above!r}, which is a file"
            above = posixpath.dirname(above)
