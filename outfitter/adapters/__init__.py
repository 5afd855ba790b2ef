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
from outfitter.model.value import Value
from outfitter.railway import Outcome


@frozen(eq=False, repr=False)
class FactsRequest(Value):
    """What an adapter must know before it can plan, all paths absolute.

    Native files to read, directories to list, arguments that print help, paths to resolve to physical ones (`real`),
    and directories whose newest `*.jsonl` file to read the beginning of (`heads`).

    Native files to read, directories to list, help text to ask for, paths whose physical place is wanted (`real`), and
    directories whose newest `*.jsonl` is wanted by its beginning (`heads`).
    """

    files: tuple[str, ...] = ()
    listings: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


NOTHING = FactsRequest()


def nothing_more(_request: Request, _settings: Settings, _facts: Facts) -> FactsRequest:
    """Ask for no more facts: the default of an adapter."""
    return NOTHING


@frozen(eq=False, repr=False)
class Adapter(Value):
    """One harness, as data and pure functions.

    `first_facts(request, settings, native directory)` names the facts that the adapter needs first, `more_facts`
    those that it needs once these are known. `more_facts` is called again until it names nothing new; what it names
    may be unreadable (`Facts.unreadable`).

    `elements` are the loadout elements it can project. `declared` is every path that it may declare under any
    strategy, for settings that name one which this run does not declare (spec/20). `scratch` of its state paths marks
    what the harness writes unasked (spec/40).

    `variable` is the environment variable that names its configuration directory, `home` that directory's native path
    relative to the home (`.pi/agent`). `state_paths` and `plan` get a request whose strategy (inherit or isolated)
    may still change by what `help` says.

    `first_facts(request, settings, native directory)` says what to find out, `more_facts` what else once that is known: it is asked
    again until it wants nothing new, and what it wants may be unreadable (`Facts.unreadable`). `elements` is what it can project.
    `declared` is every path it may declare under any strategy, for settings that name one this run does not declare (spec/20).
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
    first_facts: Callable[[Request, Settings, str], FactsRequest]
    unsupported_elements: Callable[[Composition], tuple[str, ...]]
    plan: Callable[[Request, Settings, Composition, Strategies, Facts], Outcome[ProjectionPlan]]
    more_facts: Callable[[Request, Settings, Facts], FactsRequest] = nothing_more
    declared: tuple[StatePath, ...] = ()


NAMES: tuple[str, ...] = ("pi", "claude", "codex")


def adapter(name: str) -> Adapter:
    """The adapter of a harness in `NAMES`; its module is imported on use, so that a launch loads one."""
    return cast(Adapter, import_module(f"outfitter.adapters.{name}.plan").ADAPTER)
