"""The one constructor of a `Host` that touches the machine."""

from __future__ import annotations

from outfitter.cli.console import Console
from outfitter.host import Host
from outfitter.model.request import Ambient


def real_host(ambient: Ambient, console: Console) -> Host:
    """Real effects for this process."""
    raise NotImplementedError
