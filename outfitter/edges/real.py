"""Build the one `Host` that touches the machine.

What runs only after the harness has started (the durable side) is imported on first use, so that no launch waits for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from outfitter.edges import sources
from outfitter.edges.console import Console
from outfitter.edges.documents import documents
from outfitter.edges.environment import home_directory
from outfitter.edges.process import Harnesses
from outfitter.edges.programs import find_harness, prober
from outfitter.edges.signals import SIGNALS
from outfitter.edges.stage_runner import StageRunner
from outfitter.edges.terminal import RunLog, UserTerminal
from outfitter.edges.tty import fill_closed_streams
from outfitter.fingerprint.scan import TREES
from outfitter.host import Durable, Grants, Host, Token
from outfitter.model.layers import Document, DocumentForm
from outfitter.model.projection import Record
from outfitter.model.request import Ambient, Notice, resolved
from outfitter.railway import Outcome
from outfitter.run.projecting import projecting
from outfitter.run.runs import RunDirectories

_A = TypeVar("_A")
_SETTINGS_FILES = ("settings.local.yml", "settings.yml")
_CACHE_KEY = b"cache_directory:"
_YAML_NULLS = (b"", b"~", b"null", b"Null", b"NULL")


def real_host(ambient: Ambient, console: Console, remember: bool = True) -> Host:
    """Return the real effects of one launch or one command. Without `remember`, no cache is written."""
    fill_closed_streams()
    log = RunLog(ambient.state_root, ambient.home)
    user = UserTerminal(console, ambient, log)
    stages = StageRunner(time.time_ns, user.say)
    return Host(
        sources=RealSources(early_cache_directory(ambient.home), ambient.env, remember),
        projecting=projecting(ambient, early_cache_directory(ambient.home) if remember else ""),
        durable=lazy(lambda: _durable(ambient.state_root)),
        trees=TREES,
        runs=_WatchedRuns(ambient, log),
        processes=Harnesses(ambient.env, ambient.umask),
        terminal=user,
        step=stages,
        steps=stages.notes,
        grants=lazy(lambda: _grants(ambient)),
    )


class RealSources:
    """`Sources` of this machine."""

    project_root = staticmethod(sources.project_root)
    listing = staticmethod(sources.listing)
    read = staticmethod(sources.read)
    names = staticmethod(sources.names)
    real = staticmethod(sources.real)
    digest = staticmethod(sources.digest)

    def __init__(self, cache: str | None, env: Mapping[str, str], remember: bool = True) -> None:
        """`cache` holds parsed files and probes (None: no cache); without `remember` it is only read."""
        self._home = home_directory(env)
        self._document = documents(cache, remember)
        self._probe = prober(cache or "", env, remember)

    def find_harness(self, command: str, path: str) -> Outcome[str]:
        """Find a program on `path`; one that is installed elsewhere in the home is named."""
        return find_harness(command, path, self._home)

    def document(self, path: str, form: DocumentForm) -> Document | None:
        """Parse a file, or take its parse from the cache."""
        return self._document(path, form)

    def probe(self, executable: str, arguments: tuple[str, ...], path: str) -> str:
        """Ask a program, or take its answer from the cache."""
        return self._probe(executable, arguments, path)

    def newest_head(self, directory: str) -> bytes | None:
        """Read the beginning of the newest transcript in a directory."""
        from outfitter.run.transcripts import newest_head

        return newest_head(directory)


class _WatchedRuns(RunDirectories):
    """Run directories that tell the log which run it belongs to, and the signals when a run is settled."""

    def __init__(self, ambient: Ambient, log: RunLog) -> None:
        super().__init__(ambient)
        self._log = log

    def journal(self, record: Record) -> tuple[Notice, ...]:
        self._log.run_id = record.run_id
        return super().journal(record)

    def close(self, token: Token) -> None:
        super().close(token)
        SIGNALS.saved()


class _OnUse(Generic[_A]):
    """Stands for an object that is made when one of its attributes is first asked for."""

    def __init__(self, make: Callable[[], _A]) -> None:
        self._make = make
        self._made: _A | None = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)


def lazy(make: Callable[[], _A]) -> _A:
    """Return an object that behaves as `make()`, which is called on first use."""
    return cast(_A, _OnUse(make))


def _grants(ambient: Ambient) -> Grants:
    from outfitter.trust.store import GrantFiles

    return GrantFiles(ambient)


def _durable(state_root: str) -> Durable:
    from outfitter.bridge.durable import real_durable

    return real_durable(state_root)


def early_cache_directory(home: str) -> str:
    """Return where parsed files and probes are cached, before any settings are parsed.

    A glance at the home's two settings files. It agrees with `settings.scopes.cache_directory` if the key starts a line and has a plain scalar; any other spelling means
    the default here. Being wrong costs a second cache, and nothing else.
    """
    tree = os.path.join(home, ".agents")
    for name in _SETTINGS_FILES:
        given = _plain_value(sources.read, os.path.join(tree, name))
        if given:
            return resolved(given, home, tree)
    return os.path.join(tree, "cache")


def _plain_value(read: Callable[[str], bytes | None], path: str) -> str:
    try:
        text = read(path) or b""
    except OSError:
        return ""
    if _CACHE_KEY not in text:
        return ""
    line = next((line for line in text.splitlines() if line.startswith(_CACHE_KEY)), _CACHE_KEY)
    value = line[len(_CACHE_KEY) :].split(b" #")[0].strip()
    if value in _YAML_NULLS:
        return ""
    if value[:1] in (b'"', b"'") and value[:1] == value[-1:]:
        value = value[1:-1]
    return os.fsdecode(value) if value and value[:1] not in b"{[|>&*!%@`\"'" and b"\\" not in value else ""
