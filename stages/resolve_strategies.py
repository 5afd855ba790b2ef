"""Resolve strategies.

Reads: an adapter's declared state paths, `Settings`, `Facts`.
Adds: `Strategies`.
Effects: none.
"""

from __future__ import annotations

from outfitter.adapters import Adapter
from outfitter.model.projection import Facts
from outfitter.model.request import Request
from outfitter.model.settings import Settings, Strategies
from outfitter.railway import Outcome


def resolve_strategies(adapter: Adapter, settings: Settings, facts: Facts, request: Request) -> Outcome[Strategies]:
    """Each declared path's strategy: the settings' override, else the adapter's default, inside what the path allows (spec/50)."""
    raise NotImplementedError
