"""The merged settings for commands that need nothing else of the tree; absent checkouts do not stop them."""

from __future__ import annotations

from functools import partial

from outfitter.cli.context import Context
from outfitter.model.layers import Layers
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome, perform
from stages.load_layers import load_scopes
from stages.merge_settings import merge_settings


def settled(context: Context) -> Outcome[Settings]:
    """Read and merge the settings files that stand on this machine."""
    return perform(load_scopes(context.host().sources, Request(context.ambient))).bind(partial(merged, context))


def merged(context: Context, layers: Layers) -> Outcome[Settings]:
    """The settings of what was read; `--verbose` says what that was."""
    if context.console.verbose:
        from outfitter.cli.details import explain

        explain(context, layers)
    return merge_settings(layers)
