"""The one constructor of a `Host` that touches the machine.

What only runs after the harness has started (the durable side) is imported on its first call, so that no launch waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from outfitter.edges import sources
from outfitter.edges.cache_place import early_cache_directory
from outfitter.edges.console import Console
from outfitter.edges.documents import documents
from outfitter.edges.process import runner
from outfitter.edges.programs import find_harness, prober
from outfitter.edges.signals import SIGNALS
from outfitter.edges.stage_runner import recorder
from outfitter.edges.terminal import RunLog, terminal
from outfitter.edges.tty import fill_closed_streams
from outfitter.fingerprint.scan import TREES
from outfitter.host import Durable, Host, Processes, Runs, Sources, Token
from outfitter.model.projection import Record
from outfitter.model.request import Ambient, Notice
from outfitter.run.projecting import projecting, there
from outfitter.run.runs import runs


def real_host(ambient: Ambient, console: Console, remember: bool = True) -> Host:
    """Real effects for this process: one launch, or one command. Without `remember` no cache is written (a dry run)."""
    fill_closed_streams()
    log = RunLog(ambient.state_root, ambient.home)
    step, steps = recorder(time.time_ns)
    return Host(
        sources=_sources(ambient, remember),
        projecting=projecting(ambient)._replace(seed_tree=_seeding(ambient, remember)),
        durable=_durable_on_use(ambient.state_root),
        trees=TREES,
        runs=_watched(runs(ambient), log),
        processes=Processes(runner(ambient.env)),
        terminal=terminal(console, ambient, log),
        step=step,
        steps=steps,
    )


def _seeding(ambient: Ambient, remember: bool) -> Callable[..., Any]:
    """Seeding that remembers digests, where that saves a reading (spec/60)."""

    def seed(source: str, path: str, progress: Callable[[int, int], None] | None) -> Any:
        if not there(source):
            return (), (), ()
        from outfitter.run.seeding import seed_tree

        return seed_tree(source, path, progress, early_cache_directory(ambient.home) if remember else "")

    return seed


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
    from outfitter.run.transcripts import newest_head

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
        from outfitter.bridge.durable import real_durable

        return real_durable(state_root)

    def call(name: str, *given: Any) -> Any:
        return getattr(real(), name)(*given)

    return Durable(*(partial(call, name) for name in Durable._fields))
