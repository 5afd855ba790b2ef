"""The evidence pair on disk: both files or neither, 0600 in 0700 (spec/70)."""

from __future__ import annotations

import fcntl
import json
import os
import time
from typing import Any, Literal, NamedTuple

from outfitter.evidence.result import RESULT_PATH, TRACE_PATH
from outfitter.evidence.verify import Mismatch, compare, upgraded
from outfitter.fs import flush_directory, put_json, read_document, replace_json
from outfitter.model.errors import os_error_text

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_STAGING = ".outfitter-"
# A staging directory this old without a lock is stale: a live launcher locks its own within microseconds.
_STALE_SECONDS = 1.0


def check_root(root: str) -> str:
    """Return "" if a pair may be written to `root`, else the reason.

    `root` must be absent or an empty directory, and its parent writable.
    """
    parent = os.path.dirname(root) or "/"
    if os.path.islink(root) or (os.path.exists(root) and not os.path.isdir(root)):
        return "is not a directory"
    if os.path.isdir(root):
        return _not_usable(root)
    if not os.path.isdir(parent):
        return "its parent directory does not exist"
    return _writable(parent)


def write_pair(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    """Write the pair, or the result alone if there is no trace; a reader sees all of it or nothing.

    A sibling temporary directory is filled, flushed and renamed over `root`. If a rename cannot replace `root` (a mount point,
    a parent without write permission), the files are written inside: the trace, a flush, then the result by rename. Raises
    `OSError`.
    """
    try:
        _write_by_rename(root, trace, result)
    except OSError:
        if not os.path.isdir(root) or os.listdir(root):
            raise
        _write_inside(root, trace, result)


def _writable(directory: str) -> str:
    return "" if os.access(directory, os.W_OK | os.X_OK) else f"cannot write in {directory}"


def _not_usable(root: str) -> str:
    """Return why an existing directory cannot take a pair and become private, or ""."""
    try:
        if os.listdir(root):
            return "is not empty"
    except OSError as error:
        return os_error_text(error)
    if os.geteuid() not in (0, os.stat(root).st_uid):
        return "belongs to another user"
    return _writable(root)


def _write_by_rename(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    _remove_stale(root)
    staging = f"{root}{_STAGING}{os.urandom(6).hex()}.tmp"
    os.mkdir(staging, 0o700)
    descriptor = os.open(staging, _DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _fill(staging, trace, result)
        os.rename(staging, root)
        flush_directory(os.path.dirname(root))
    finally:
        os.close(descriptor)
        _discard(staging)


def _remove_stale(root: str) -> None:
    """Remove staging directories that killed launchers left for this root; a live launcher locks its own."""
    parent, name = os.path.split(root)
    try:
        siblings = os.listdir(parent)
    except OSError:
        return
    for sibling in siblings:
        if sibling.startswith(name + _STAGING) and sibling.endswith(".tmp"):
            staging = os.path.join(parent, sibling)
            try:
                descriptor = os.open(staging, _DIRECTORY)
                try:
                    if time.time() - os.fstat(descriptor).st_ctime > _STALE_SECONDS:
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        _discard(staging)
                finally:
                    os.close(descriptor)
            except OSError:
                continue


def _fill(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    if trace is not None:
        _put(root, TRACE_PATH, trace)
    _put(root, RESULT_PATH, result)
    flush_directory(root)


def _write_inside(root: str, trace: dict[str, Any] | None, result: dict[str, Any]) -> None:
    os.chmod(root, 0o700)
    path = os.path.join(root, RESULT_PATH)
    try:
        if trace is not None:
            _put(root, TRACE_PATH, trace)
            flush_directory(root)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        replace_json(path, result, sort_keys=True)
    except OSError:
        _discard(root, (TRACE_PATH, "trace", "result"))
        raise
    flush_directory(os.path.dirname(path))
    flush_directory(root)


def _put(root: str, relative: str, value: dict[str, Any]) -> None:
    path = os.path.join(root, relative)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    put_json(path, value)
    flush_directory(os.path.dirname(path))


def _discard(root: str, names: tuple[str, ...] = (TRACE_PATH, RESULT_PATH, "trace", "result", "")) -> None:
    """Remove what is left of a staging directory, or of a root that could not be filled: our names only."""
    for relative in names:
        path = os.path.join(root, relative)
        try:
            os.rmdir(path) if relative in ("trace", "result", "") else os.unlink(path)
        except OSError:
            continue


SCHEMAS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas")


class Pair(NamedTuple):
    """A pair as read: both documents at the current schema version (or None), and every mismatch."""

    trace: Any
    result: Any
    mismatches: tuple[Mismatch, ...]

    @property
    def is_lone_veto(self) -> bool:
        """Whether there is no trace, and a valid result says that none exists: the harness was not started."""
        valid = isinstance(self.result, dict) and not any(row.file == "result" for row in self.mismatches)
        return self.trace is None and valid and self.result["trace_path"] is None


def read_pair(root: str) -> Pair:
    """Read and judge the pair under `root`; the documents are compared if both are valid."""
    trace, trace_faults = _read(root, "trace", TRACE_PATH)
    result, result_faults = _read(root, "result", RESULT_PATH)
    faults = (*trace_faults, *result_faults)
    if not faults:
        faults = compare(trace, result)
    return Pair(trace, result, faults)


def schema_faults(value: Any, file: Literal["trace", "result"]) -> tuple[Mismatch, ...]:
    """Return every place where a document does not fit the schema that ships with the package."""
    import jsonschema_rs

    schema, _ = read_document(os.path.join(SCHEMAS, f"{file}.json"))
    validator = jsonschema_rs.validator_for(schema)
    # The library cannot quote the lone surrogates of names that are not UTF-8; no schema constrains them.
    quotable = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return tuple(
        Mismatch("schema", file, ".".join(map(str, fault.instance_path)) or "(root)", _first_line(fault.message))
        for fault in validator.iter_errors(quotable)
    )


def _read(root: str, file: Literal["trace", "result"], relative: str) -> tuple[Any, tuple[Mismatch, ...]]:
    value, problem = read_document(os.path.join(root, relative))
    if problem:
        kind: Literal["missing", "malformed"] = "missing" if problem == "missing" else "malformed"
        return None, (Mismatch(kind, file, relative, "not found" if kind == "missing" else problem),)
    value, refusal = upgraded(value, file)
    return value, (refusal,) if refusal else schema_faults(value, file)


def _first_line(message: str) -> str:
    """Return the first line of a message, shortened: the schema library quotes whole values."""
    line = message.splitlines()[0] if message else ""
    return line if len(line) <= 200 else line[:197] + "..."
