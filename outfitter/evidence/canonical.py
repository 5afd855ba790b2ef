"""One encoding of JSON-like values, and digests over it: the same value has the same bytes everywhere. Pure."""

from __future__ import annotations

import json
from typing import Any

from blake3 import blake3


def canonical(value: Any) -> bytes:
    """JSON with sorted keys, no blanks, ASCII only; lone surrogates stay as their escapes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def digest(value: Any) -> str:
    """BLAKE3 hex of the canonical bytes."""
    return blake3(canonical(value)).hexdigest()
