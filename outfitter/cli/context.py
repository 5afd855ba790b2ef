"""What every command is given: the machine as it stands, how to speak, and how to reach further."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from outfitter.edges.console import Console
from outfitter.edges.environment import ambient
from outfitter.model.errors import LaunchError, UsageError
from outfitter.model.request import Ambient
from outfitter.model.value import Value

if TYPE_CHECKING:
    from outfitter.host import Host


class HostMaker(Protocol):
    """Builds the real effects; without `remember` they write no cache."""

    def __call__(self, remember: bool = True) -> Host:
        """A host for one launch or command."""
        ...


@frozen(eq=False, repr=False)
class Context(Value):
    """A command's surroundings. `host` builds the real effects on use, so that help and pure commands stay fast."""

    ambient: Ambient
    console: Console
    host: HostMaker

    def fail(self, error: LaunchError, as_json: bool = False) -> int:
        """Say an error and give the exit code of a command other than `run`: 2 for usage, else 1 (spec/80)."""
        code = 2 if isinstance(error, UsageError) else 1
        self.console.error(error, as_json, code)
        return code


def context(console: Console, anywhere: bool = False) -> Context:
    """The surroundings of one command in this process; `anywhere`, it does without a working directory. Raises `OSError` where there is none."""
    here = ambient(os.environ, anywhere)

    def host(remember: bool = True) -> Host:
        from outfitter.edges.real import real_host

        return real_host(here, console, remember)

    return Context(here, console, host)
