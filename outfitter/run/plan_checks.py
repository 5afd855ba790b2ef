"""What a projection plan may not do: leave its projection, write one path twice, or make one path two kinds of thing. Pure (spec/50)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from outfitter.model.projection import ProjectionPlan


def inside(path: str) -> bool:
    """Whether a path (a trailing slash aside) names something strictly inside the directory it is relative to."""
    bare = path.removesuffix("/")
    return bool(bare) and bare[0] != "/" and posixpath.normpath(bare) == bare and bare.split("/")[0] not in ("..", ".")


def faults(plan: ProjectionPlan) -> tuple[str, ...]:
    """Why a plan may not be carried out, one line each, naming the path; () for a sound plan."""
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
    """A file where a directory must be: one planned below another, or declared as a directory."""
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
