"""The adapter record, and the table of harnesses: one module and one entry each (spec/40)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from attrs import frozen

from outfitter.model.composition import Composition
from outfitter.model.projection import Facts, ProjectionPlan
from outfitter.model.request import Request
from outfitter.model.settings import Settings, StatePath, Strategies
from outfitter.railway import Outcome


@frozen
class Wants:
    """What an adapter must know before it can plan: native files (absolute), directories to list, help text to read."""

    files: tuple[str, ...] = ()
    listings: tuple[str, ...] = ()
    help: tuple[str, ...] = ()


@frozen
class Adapter:
    """One harness, as data and pure functions. `scratch` of its state paths is what the harness writes unasked (spec/40).

    `wants(request, settings, native directory)` says what to find out; `elements` what it can project.
    `variable` is the environment variable that names its configuration directory, `home` that directory's native place relative to the home (`.pi/agent`).
    `state_paths` and `plan` see a request whose strategy (inherit or isolated) may yet change by what `help` says.
    """

    id: str
    command: str
    variable: str
    home: str
    install: str
    elements: tuple[str, ...]
    state_paths: Callable[[Request, Settings, Facts], tuple[StatePath, ...]]
    wants: Callable[[Request, Settings, str], Wants]
    unsupported_elements: Callable[[Composition], tuple[str, ...]]
    plan: Callable[[Request, Settings, Composition, Strategies, Facts], Outcome[ProjectionPlan]]


NAMES: tuple[str, ...] = ("pi", "claude", "codex")


def adapter(name: str) -> Adapter:
    """The adapter of a harness in `NAMES`; its module is imported on use, so that a launch loads one."""
    return cast(Adapter, import_module(f"outfitter.adapters.{name}").ADAPTER)
