"""Copies of the small files of a retained run as they were at launch, for `outfitter diff --content`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from outfitter.host import Projecting
from outfitter.model.outcome import Row, path_text
from outfitter.model.projection import ProjectionPlan, Record

LIMIT = 256 * 1024
DIRECTORY = "originals"
# Files of the harnesses that may hold a credential: never copied a second time.
_SECRET_NAMES = (
    "auth.json",
    "models.json",
    "mcp.json",
    ".mcp.json",
    "mcp-auth.json",
    ".claude.json",
    ".credentials.json",
)
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "HEADERS", "CREDENTIAL")
_SHORTEST_SECRET = 6


def keep_baseline_texts(
    projecting: Projecting, plan: ProjectionPlan, record: Record, rows: Sequence[Row], durable: Sequence[Row]
) -> None:
    """Copy each small file of the baseline to `<run directory>/originals/<path>`, if it can be copied."""
    secret = frozenset(_secret_paths(plan))
    for path in sorted({path_text(row.path) for row in (*rows, *durable) if row.size <= LIMIT}):
        if path not in secret and not secret_name(path):
            place = f"{record.root}/{DIRECTORY}/{path}"
            try:
                projecting.make_directory(posixpath.dirname(place))
                projecting.copy(f"{record.projection}/{path}", place, False)
            except OSError:
                continue


def secret_name(path: str) -> bool:
    """Return whether a projected file is one in which a harness keeps credentials."""
    return posixpath.basename(path) in _SECRET_NAMES


def _secret_paths(plan: ProjectionPlan) -> Iterator[str]:
    """Yield bridged credentials, and generated files that hold a secret of the child's environment."""
    yield from (bridge.path for bridge in plan.bridges if bridge.rule in ("credentials", "member"))
    values = tuple(_secrets(plan.launch.env_set))
    for item in plan.generated:
        if any(value in item.content for value in values):
            yield item.path


def _secrets(env: Mapping[str, str]) -> Iterator[bytes]:
    for name, value in env.items():
        if len(value) >= _SHORTEST_SECRET and any(word in name.upper() for word in _SECRET_WORDS):
            yield value.encode("utf-8", "surrogateescape")
