"""Load layers.

Reads: the four settings files, cached remote settings, and every `.agents` tree in order of precedence.
Adds: `Layers`.
Effects: reads only.
"""

from __future__ import annotations

from typing import Literal

from outfitter.host import Sources
from outfitter.model.layers import Layers
from outfitter.model.request import Request
from outfitter.railway import Effect

Reach = Literal["agent", "all"]


def load_layers(sources: Sources, request: Request, reach: Reach = "agent") -> Effect[Layers]:
    """Every layer the request stands on; `agent` reads only what that agent's closure needs, `all` everything (list, validate, dump)."""
    raise NotImplementedError
