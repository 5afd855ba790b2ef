"""The one constructor of a `Host` that touches the machine.

What only runs after the harness has started (the durable side) is imported on its first call, so that no launch waits for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from outfitter.cli.console import Console
from outfitter.edges import sources
from outfitter.edges.baseline import TREES
from outfitter.edges.documents import documents
from outfitter.edges.process import runner
from outfitter.edges.programs import find_harness, prober
from outfitter.edges.projecting import projecting
from outfitter.edges.runs import runs
from outfitter.edges.signals import SIGNALS
from outfitter.edges.steps import recorder
from outfitter.edges.terminal import RunLog, terminal
from outfitter.edges.tty import fill_closed_streams
from outfitter.host import Durable, Host, Processes, Runs, Sources, Token
from outfitter.model.projection import Record
from outfitter.model.request import Ambient, Notice

SETTINGS_FILES = ("settings.local.yml", "settings.yml")
KEY = b"cache_directory:"
NULLS = (b"", b"~", b"null", b"Null", b"NULL")


def real_host(ambient: Ambient, console: Console, remember: bool = True) -> Host:
    """Real effects for this process: one launch, or one command. Without `remember` no cache is written (a dry run)."""
    fill_closed_streams()
    log = RunLog(ambient.state_root)
    step, steps = recorder(time.time_ns)
    return Host(
        sources=_sources(ambient, remember),
        projecting=projecting(ambient),
        durable=_durable_on_use(ambient.state_root),
        trees=TREES,
        runs=_watched(runs(ambient), log),
        processes=Processes(runner(ambient.env)),
        terminal=terminal(console, ambient, log),
        step=step,
        steps=steps,
    )


def early_cache_directory(home: str) -> str:
    """Where what is parsed and probed is remembered, known before any settings are: a cheap look at the home's two files.

    It agrees with `survey.cache_directory` wherever the key is written plainly, at the start of a line and with a scalar on
    it; any other spelling means the default here. Being wrong costs a second cache, and nothing else.
    """
    tree = os.path.join(home, ".agents")
    for name in SETTINGS_FILES:
        given = _plain_value(sources.read, os.path.join(tree, name))
        if given:
            expanded = home + given[1:] if given == "~" or given.startswith("~/") else given
            return os.path.normpath(os.path.join(tree, expanded))
    return os.path.join(tree, "cache")


def _plain_value(read: Callable[[str], bytes | None], path: str) -> str:
    try:
        text = read(path) or b""
    except OSError:
        return ""
    if KEY not in text:
        return ""
    line = next((line for line in text.splitlines() if line.startswith(KEY)), KEY)
    value = line[len(KEY) :].split(b" #")[0].strip()
    if value in NULLS:
        return ""
    if value[:1] in (b'"', b"'") and value[:1] == value[-1:]:
        value = value[1:-1]
    return os.fsdecode(value) if value and value[:1] not in b"{[|>&*!%@`\"'" and b"\\" not in value else ""


def _sources(ambient: Ambient, remember: bool) -> Sources:
    directory = early_cache_directory(ambient.home)
    return Sources(
        project_root=sources.project_root,
        listing=sources.listing,
        document=documents(directory, remember),
        read=sources.read,
        names=sources.names,
        real=sources.real,
        find_harness=find_harness,
        digest=sources.digest,
        probe=prober(directory, ambient.env, remember),
        newest_head=_newest_head,
    )


def _newest_head(directory: str) -> bytes | None:
    from outfitter.edges.transcripts import newest_head

    return newest_head(directory)


def _watched(plain: Runs, log: RunLog) -> Runs:
    """Runs that tell the log whose words it keeps, and the signals when a run directory is settled."""

    def journal(record: Record) -> tuple[Notice, ...]:
        log.run_id = record.run_id
        return plain.journal(record)

    def close(token: Token) -> None:
        plain.close(token)
        SIGNALS.saved()

    return plain._replace(journal=journal, close=close)


def _durable_on_use(state_root: str) -> Durable:
    @cache
    def real() -> Durable:
        from outfitter.edges.durable import real_durable

        return real_durable(state_root)

    def call(name: str, *given: Any) -> Any:
        return getattr(real(), name)(*given)

    return Durable(*(partial(call, name) for name in Durable._fields))
