"""Layers, settings and compositions for the commands that show a tree and launch nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from attrs import evolve

from outfitter.catalog.assembly import assemble, registry_of
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.host import Sources
from outfitter.model.composition import Composition
from outfitter.model.request import Request
from outfitter.model.settings import Settings, SettingsFiles
from outfitter.railway import Outcome, perform
from stages.load_layers import Reach, load_layers
from stages.merge_settings import merge_settings
from stages.read_settings import read_settings as read_settings_files


def read_settings(context: Context) -> Outcome[Settings]:
    """Read and merge the settings files; remote settings that were never fetched are left out."""
    files = perform(read_settings_files(context.host().sources, Request(context.ambient), absent_is_fine=True))
    return files.bind(partial(_merged, context))


def tree(context: Context, agent: str | None, reach: Reach) -> Outcome[tuple[TreeReader, Settings]]:
    """Read what a command needs of the trees; the settings carry the notices of both."""
    request = Request(context.ambient, agent=agent)
    sources: Sources = context.host().sources
    if reach != "agent":
        # Reading thousands of small files is as fast as remembering them, and leaves nothing behind.
        from outfitter.edges.real import RealSources

        sources = RealSources(None, context.ambient.env)

    def loaded(files: SettingsFiles, settings: Settings) -> Outcome[tuple[TreeReader, Settings]]:
        return perform(load_layers(sources, files, settings, request, reach)).map(partial(_both, context, settings))

    files = perform(read_settings_files(sources, request))
    return files.bind(lambda found: _merged(context, found).bind(partial(loaded, found)))


def _merged(context: Context, files: SettingsFiles) -> Outcome[Settings]:
    """Merge the settings; `--verbose` says which files were read."""
    if context.console.verbose:
        from outfitter.cli.verbose import explain, settings_details

        explain(context, settings_details(files, context.ambient.home))
    return merge_settings(files)


def _both(context: Context, settings: Settings, reader: TreeReader) -> tuple[TreeReader, Settings]:
    layers = reader.layers
    if context.console.verbose:
        from outfitter.cli.verbose import explain, tree_details

        explain(context, tree_details(layers))
    return reader, evolve(settings, notices=tuple(dict.fromkeys((*settings.notices, *layers.notices))))


def composed(reader: TreeReader, settings: Settings, agent: str | None, env: Mapping[str, str]) -> Outcome[Composition]:
    """Compose an agent to show it, not to launch it: unset credentials are not an error.

    Its notices include those of the settings.
    """
    made = composed_from(reader, settings, agent, env)
    return made.map(lambda one: evolve(one, notices=tuple(dict.fromkeys((*settings.notices, *one.notices)))))


def composed_from(
    reader: TreeReader, settings: Settings, agent: str | None, env: Mapping[str, str]
) -> Outcome[Composition]:
    """The same over layers that many compositions share."""
    variables = (provider.get("apiKey") for provider in registry_of(reader).providers.values())
    names = [variable[1:] for variable in variables if isinstance(variable, str) and variable.startswith("$")]
    return assemble(reader, settings, agent, {**dict.fromkeys(names, "set"), **{k: v for k, v in env.items() if v}})
