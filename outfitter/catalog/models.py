"""Model registries: `models.json` over all layers, and what an agent's `model` resolves to (spec/10 Models, spec/15 V15 and V16, 006.9). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from outfitter.model.composition import ModelTarget
from outfitter.model.layers import Layer
from outfitter.model.request import Notice, Problem
from outfitter.model.settings import Settings
from outfitter.railway import Outcome


class Registry(NamedTuple):
    """The effective providers by id, each as `models.json` spells one: `apiKey` is `$NAME`, `models` a list, unknown keys kept.

    `configured`: some layer has a registry, so that `provider/model` must exist in it. `layers` names the winning layer of
    each provider `p` and model `p/m`. `problems` are refusals: a composition with any of them fails.
    `exposures` are (variable, host, file) that a project's or a catalog's provider would send.
    """

    providers: Mapping[str, Mapping[str, Any]]
    configured: bool
    layers: Mapping[str, str]
    exposures: tuple[tuple[str, str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    problems: tuple[Problem, ...] = ()


class Selection(NamedTuple):
    """What a model word resolved to; None selects nothing."""

    target: ModelTarget | None
    notices: tuple[Notice, ...] = ()


def registry(layers: Sequence[Layer]) -> Registry:
    """Merge the `models.json` of all layers, highest first: by provider id, key by key, and inside it by model id."""
    raise NotImplementedError


def select(
    word: str | None, registry: Registry, settings: Settings, env: Mapping[str, str], agent: str = ""
) -> Outcome[Selection]:
    """What `model: word` means (006.9.1): nothing, a native name, a target of the registry, or `provider/model` split.

    `env` is the environment the child will have; `agent` is named in errors. Errors: `CompositionFailed` for a provider or
    model that the registry lacks, one without `api` or `baseUrl`, and a credential variable that is unset or empty.
    """
    raise NotImplementedError
