"""Published evidence on disk: attempts and quarantine under one directory (spec/70).

Each attempt is created and removed as a whole.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from typing import Any, NamedTuple

from outfitter.evidence.result import RESULT_PATH, TRACE_PATH, digest
from outfitter.fs import create, digest_file, flush, put_json, read_document

QUARANTINE = "quarantine"
MANIFEST = "manifest.json"
REASON = "reason.json"


def file_digest(path: str) -> str:
    """Return the BLAKE3 hex of a file's bytes."""
    return digest_file(path).hex()


def published(directory: str) -> dict[str, dict[str, Any]]:
    """Return attempt → manifest for everything published under `directory`.

    Entries without a manifest of ours are not listed.
    """
    manifests = {}
    for name in sorted(os.listdir(directory)):
        value, problem = read_document(os.path.join(directory, name, MANIFEST))
        if (
            not problem
            and isinstance(value, dict)
            and value.get("attempt") == name
            and isinstance(value.get("published_ns"), int)
        ):
            manifests[name] = value
    return manifests


def publish(root: str, directory: str, manifest: dict[str, Any]) -> str:
    """Copy the pair under `root` to `directory/<attempt>/` with its manifest; return the attempt's path.

    The attempt appears whole. Raises `FileExistsError` if it was published before.
    """
    target = os.path.join(directory, str(manifest["attempt"]))
    if os.path.lexists(target):
        raise FileExistsError(17, "this attempt is already published", target)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    staging = f"{target}.outfitter-{os.urandom(6).hex()}.tmp"
    os.mkdir(staging, 0o700)
    try:
        for relative in (TRACE_PATH, RESULT_PATH):
            os.makedirs(os.path.dirname(os.path.join(staging, relative)), mode=0o700)
            _copy(os.path.join(root, relative), os.path.join(staging, relative))
        put_json(os.path.join(staging, MANIFEST), manifest)
        os.rename(staging, target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return target


def quarantine(root: str, directory: str, name: str, reason: dict[str, Any]) -> str:
    """Move `root` as it is to `directory/quarantine/<name>/`, with the reason; return the new path."""
    parent = os.path.join(directory, QUARANTINE)
    os.makedirs(parent, mode=0o700, exist_ok=True)
    target, count = os.path.join(parent, name), 1
    while os.path.lexists(target):
        count += 1
        target = os.path.join(parent, f"{name}-{count}")
    try:
        os.rename(root, target)
        put_json(os.path.join(target, REASON), reason)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EBUSY):
            raise
        _move_by_copy(root, target, reason)
    return target


def _move_by_copy(root: str, target: str, reason: dict[str, Any]) -> None:
    """Move to another file system, or out of a mount point (which stays).

    The target is complete before anything is removed here.
    """
    staging = f"{target}.outfitter-{os.urandom(6).hex()}.tmp"
    try:
        shutil.copytree(root, staging, symlinks=True)
        put_json(os.path.join(staging, REASON), reason)
        os.rename(staging, target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    for entry in os.scandir(root):
        shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
    with suppress(OSError):
        os.rmdir(root)


def remove_attempt(directory: str, name: str) -> None:
    """Remove a published or quarantined attempt; no reader sees half of it."""
    path = os.path.join(directory, name)
    if not os.path.isdir(path) or os.path.islink(path):
        path = os.path.join(directory, QUARANTINE, name)
    hidden = os.path.join(directory, f".removing-{os.urandom(6).hex()}")
    os.rename(path, hidden)
    shutil.rmtree(hidden)


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as old, create(target) as new:
        shutil.copyfileobj(old, new)
        flush(new)


MANIFEST_VERSION = 1


class Binding(NamedTuple):
    """What the caller knows of an attempt; digests are BLAKE3 hex of the file's bytes, "" if not given."""

    task: str = ""
    input_name: str = ""
    input_digest: str = ""
    config_name: str = ""
    config_digest: str = ""
    supersedes: str = ""


def manifest(trace: dict[str, Any], result: dict[str, Any], binding: Binding, published_ns: int) -> dict[str, Any]:
    """Return the manifest of a verified pair.

    Without digests of both input and configuration it is bounded: it proves the run, not what it ran on.
    """
    return {
        "schema_version": MANIFEST_VERSION,
        "attempt": trace["run"]["id"],
        "task": binding.task,
        "input": {"name": binding.input_name, "digest": binding.input_digest} if binding.input_digest else None,
        "configuration": {"name": binding.config_name, "digest": binding.config_digest}
        if binding.config_digest
        else None,
        "resolved_configuration_digest": digest(
            {name: trace["hashes"][name] for name in ("settings", "strategies", "plan")}
        ),
        "trace_digest": digest(trace),
        "result_digest": digest(result),
        "verdict": result["verdict"],
        "bounded": not (binding.input_digest and binding.config_digest),
        "supersedes": binding.supersedes or None,
        "published_ns": published_ns,
    }


def expired(manifests: dict[str, dict[str, Any]], now_ns: int, older_than_days: float, keep: int) -> list[str]:
    """Return the published attempts older than `older_than_days`, oldest first, without the newest `keep`."""
    oldest_first = sorted(manifests, key=lambda name: (manifests[name]["published_ns"], name))
    spared = set(oldest_first[len(oldest_first) - keep :]) if keep > 0 else set()
    limit = now_ns - int(older_than_days * 86_400_000_000_000)
    return [name for name in oldest_first if name not in spared and manifests[name]["published_ns"] < limit]
