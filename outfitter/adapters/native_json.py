"""Native JSON files as objects: read only what is unambiguous, write what programs read. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from blake3 import blake3

Json: TypeAlias = dict[str, Any]


def json_object(raw: bytes | None) -> Json | None:
    """Return a file's root object; None if it is not one strict JSON object in UTF-8.

    A repeated key makes it None, too. A byte-order mark is accepted.
    """
    if raw is None:
        return None
    try:
        value = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """An object as indented UTF-8 with a final newline."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def member_digest(document: Any, member: str) -> str:
    """Return the BLAKE3 hex of the canonical JSON of a top-level member, "" if there is none."""
    if not isinstance(document, Mapping) or member not in document:
        return ""
    text = json.dumps(document[member], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return blake3(text.encode()).hexdigest()


def refuse_constant(word: str) -> Any:
    """Reject NaN and the infinities, which Python reads and JSON does not have. Raises `ValueError`."""
    raise ValueError(word)


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated key")
    return members
