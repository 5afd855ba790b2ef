"""Layers, settings and compositions for the commands that show a tree and launch nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from attrs import evolve

from outfitter.catalog.assembly import assemble_from, registry_of
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.host import Sources
from outfitter.model.composition import Composition
from outfitter.model.layers import Layers
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome, perform
from stages.load_layers import Reach, load_layers, load_scopes
from stages.merge_settings import merge_settings


def read_settings(context: Context) -> Outcome[Settings]:
    """Read and merge the settings files of this machine."""
    return perform(load_scopes(context.host().sources, Request(context.ambient))).bind(partial(merged, context))


def merged(context: Context, layers: Layers) -> Outcome[Settings]:
    """The settings of what was read; `--verbose` says what that was."""
    if context.console.verbose:
        from outfitter.cli.verbose import explain

        explain(context, layers)
    return merge_settings(layers)


def tree(context: Context, agent: str | None, reach: Reach) -> Outcome[tuple[Layers, Settings]]:
    """Read what a command needs, and merge its settings."""
    request = Request(context.ambient, agent=agent)
    sources: Sources = context.host().sources
    if reach != "agent":
        # Reading thousands of small files is as fast as remembering them, and leaves nothing behind.
        from outfitter.edges.real import RealSources

        sources = RealSources(None, context.ambient.env)
    read = perform(load_layers(sources, request, reach))
    return read.bind(lambda layers: merged(context, layers).map(lambda settings: (layers, settings)))


def composed(layers: Layers, settings: Settings, agent: str | None, env: Mapping[str, str]) -> Outcome[Composition]:
    """Compose an agent to show it, not to launch it: unset credentials are not an error.

    Its notices are those of the settings, too.
    """
    made = composed_from(TreeReader(layers), settings, agent, env)
    return made.map(lambda one: evolve(one, notices=tuple(dict.fromkeys((*settings.notices, *one.notices)))))


def composed_from(
    reader: TreeReader, settings: Settings, agent: str | None, env: Mapping[str, str]
) -> Outcome[Composition]:
    """The same over layers that many compositions share."""
    variables = (provider.get("apiKey") for provider in registry_of(reader).providers.values())
    names = [variable[1:] for variable in variables if isinstance(variable, str) and variable.startswith("$")]
    return assemble_from(
        reader, settings, agent, {**dict.fromkeys(names, "set"), **{k: v for k, v in env.items() if v}}
    )
