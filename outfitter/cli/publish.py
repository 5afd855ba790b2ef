"""The two actions of `outfitter evidence` that write: publish and prune (spec/70)."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from blake3 import blake3

from outfitter.cli.context import Context
from outfitter.edges import publication
from outfitter.edges.evidence_check import read_pair
from outfitter.errors import EffectFailed, UsageError
from outfitter.evidence.manifest import Binding, expired, manifest
from outfitter.evidence.result import RESULT_PATH, TRACE_PATH
from outfitter.model.wording import counted


def publish(options: argparse.Namespace, context: Context) -> int:
    """Publish each pair; a failing one is quarantined whole. 1 where any was."""
    here = context.ambient.cwd
    directory = os.path.join(here, options.to)
    rows: list[dict[str, Any]] = []
    failure = None
    try:
        if options.supersedes and options.supersedes not in _known(directory):
            return context.fail(
                UsageError(f"--supersedes {options.supersedes}: no such attempt in {directory}"), options.json
            )
        binding = _binding(options, here)
        roots = [os.path.realpath(os.path.join(here, root)) for root in options.roots]
        for root in roots:
            context.console.detail(f"pair: {root}, to be kept in {directory}")
        for root in roots:
            _refuse_other(root)
        for root in roots:
            rows.append(_publish_one(root, directory, binding))
    except OSError as error:
        failure = EffectFailed("publish", str(error.filename or directory), error.strerror or str(error))
    if failure and not rows:
        return context.fail(failure, options.json)
    if options.json:
        context.console.document({"attempts": rows})
    else:
        context.console.data("\n".join(_line(row) for row in rows))
    if failure:
        return context.fail(failure, options.json)
    return 1 if any(row["quarantined"] for row in rows) else 0


def prune(options: argparse.Namespace, context: Context) -> int:
    """Remove published attempts by age, or the named ones; says what it removed."""
    directory = os.path.join(context.ambient.cwd, options.directory)
    try:
        found, aside = publication.published(directory), _quarantined(directory)
    except OSError as error:
        return context.fail(EffectFailed("read", directory, error.strerror or str(error)), options.json)
    if not options.attempts and options.older_than is None:
        return context.fail(UsageError("prune needs --older-than DAYS, or the names of attempts"), options.json)
    context.console.detail(f"{directory}: {counted(len(found), 'attempt')} published, {len(aside)} quarantined")
    missing = [name for name in options.attempts if name not in {*found, *aside}]
    if missing:
        return context.fail(UsageError(f"no such attempt in {directory}: {', '.join(missing)}"), options.json)
    chosen = list(options.attempts) or expired(found, time.time_ns(), options.older_than, options.keep)
    removed = []
    for name in chosen:
        if not options.dry_run:
            try:
                publication.remove_attempt(directory, name)
            except OSError as error:
                return context.fail(
                    EffectFailed("remove", os.path.join(directory, name), error.strerror or str(error)), options.json
                )
        removed.append(name)
    if options.json:
        context.console.document({"directory": directory, "dry_run": options.dry_run, "removed": removed})
    else:
        verb = "would remove" if options.dry_run else "removed"
        context.console.data("\n".join(f"{verb} {name}" for name in removed) or "nothing to remove")
    return 0


def _binding(options: argparse.Namespace, here: str) -> Binding:
    def bound(name: str | None) -> tuple[str, str]:
        return (os.path.basename(name), publication.file_digest(os.path.join(here, name))) if name else ("", "")

    return Binding(options.task, *bound(options.input), *bound(options.config), options.supersedes)


def _publish_one(root: str, directory: str, binding: Binding) -> dict[str, Any]:
    pair = read_pair(root)
    if pair.mismatches:
        return _set_aside(root, directory, [row._asdict() for row in pair.mismatches])
    bound = manifest(pair.trace, pair.result, binding, time.time_ns())
    place = publication.publish(root, directory, bound)
    return {
        "root": root,
        "attempt": bound["attempt"],
        "path": place,
        "bounded": bound["bounded"],
        "quarantined": False,
        "mismatches": [],
    }


def _refuse_other(root: str) -> None:
    """Only what holds a file of a pair is moved to quarantine: never somebody's folder that was named by mistake."""
    if not os.path.isdir(root):
        raise FileNotFoundError(2, "no such directory", root)
    if not any(os.path.lexists(os.path.join(root, name)) for name in (TRACE_PATH, RESULT_PATH)):
        raise FileNotFoundError(2, "holds no evidence of a run", root)


def _set_aside(root: str, directory: str, mismatches: list[dict[str, Any]]) -> dict[str, Any]:
    name = f"{os.path.basename(root)[:40]}-{blake3(os.fsencode(root)).hexdigest()[:8]}"
    place = publication.quarantine(root, directory, name, {"schema_version": 1, "from": root, "mismatches": mismatches})
    return {
        "root": root,
        "attempt": os.path.basename(place),
        "path": place,
        "bounded": True,
        "quarantined": True,
        "mismatches": mismatches,
    }


def _line(row: dict[str, Any]) -> str:
    if row["quarantined"]:
        kinds = ", ".join(dict.fromkeys(found["kind"] for found in row["mismatches"]))
        return f"quarantined  {row['path']} ({kinds})"
    return f"published    {row['path']}" + (" (bounded: no input and configuration given)" if row["bounded"] else "")


def _known(directory: str) -> set[str]:
    return {*publication.published(directory), *_quarantined(directory)} if os.path.isdir(directory) else set()


def _quarantined(directory: str) -> list[str]:
    shelf = os.path.join(directory, publication.QUARANTINE)
    return sorted(os.listdir(shelf)) if os.path.isdir(shelf) else []
