"""Files of our own that hold what is nobody else's business: made exclusively, 0600, and flushed before they count."""

from __future__ import annotations

import json
import os
from typing import IO, Any


def create(path: str) -> IO[bytes]:
    """A new file, open for writing. Raises `FileExistsError` where there is anything at the path."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def flush(file: IO[bytes]) -> None:
    """Everything written so far reaches the disk."""
    file.flush()
    os.fsync(file.fileno())


def put_json(path: str, value: dict[str, Any], sort_keys: bool = True) -> None:
    """A new file that holds one JSON document."""
    with create(path) as file:
        file.write(json.dumps(value, indent=1, sort_keys=sort_keys).encode() + b"\n")
        flush(file)


def replace_json(path: str, value: dict[str, Any]) -> None:
    """The document at a path, replaced at once; keys stay in the order given."""
    temporary = f"{path}.{os.urandom(6).hex()}.tmp"
    put_json(temporary, value, sort_keys=False)
    os.rename(temporary, path)
