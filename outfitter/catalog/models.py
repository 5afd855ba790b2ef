"""Model registries: `models.json` over all layers, and what an agent's `model` resolves to.

See spec/10, "Models", spec/15 V15 and V16, and 006.9. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from returns.result import Failure, Success

from outfitter.model.composition import ModelTarget
from outfitter.model.errors import CompositionFailed
from outfitter.model.layers import HOME_KINDS, Document, Layer
from outfitter.model.request import Notice, Position, Problem
from outfitter.model.settings import KeyPath, Settings
from outfitter.model.value import NamedTuple
from outfitter.railway import Outcome

FILE = "models.json"
# Model words that select nothing (spec/15 V16).
UNSET = ("", "inherit", "default")
SHOWN = 12


class HostExposure(NamedTuple):
    """A variable that a project's or a catalog's provider would send to a host, and the file that says so."""

    variable: str
    host: str
    path: str
    provider: str


class Registry(NamedTuple):
    """The effective providers by id, each in the form of `models.json`.

    `apiKey` is `$NAME`, `models` a list; unknown keys are kept.

    `configured`: some layer has a registry, so that `provider/model` must exist in it. `layers` names the winning layer of
    each provider `p` and model `p/m`. `problems` are refusals: a composition with any of them fails. `withheld()` fills
    `withheld` and `hosts`.
    """

    providers: Mapping[str, Mapping[str, Any]]
    configured: bool
    layers: Mapping[str, str]
    exposures: tuple[HostExposure, ...] = ()
    withheld: frozenset[str] = frozenset()
    hosts: Mapping[str, str] = {}
    notices: tuple[Notice, ...] = ()
    problems: tuple[Problem, ...] = ()


class ModelSelection(NamedTuple):
    """What a model word resolved to; None selects nothing."""

    target: ModelTarget | None
    notices: tuple[Notice, ...] = ()


class _Field(NamedTuple):
    """A provider's key or model as its highest layer wrote it; `key` is its path in `document`."""

    value: Any
    document: Document
    key: KeyPath
    layer: Layer


class _Provider(NamedTuple):
    fields: dict[str, _Field]
    models: dict[str, _Field]


def registry(layers: Sequence[Layer]) -> Registry:
    """Merge the `models.json` of all layers, highest first: by provider id, key and model id."""
    found: dict[str, _Provider] = {}
    notices: list[Notice] = []
    problems: list[Problem] = []
    configured = False
    for layer in layers:
        document = layer.documents.get(FILE)
        if document is None:
            continue
        problems += document.problems
        rows = _rows(document)
        if rows is None:
            text = f"{document.path}: has no `providers`; not used for models"
            notices += [] if document.problems else [Notice("warning", "models-shape", text)]
            continue
        configured = True
        for name, raw, key in rows:
            problems += _gathered(found.setdefault(name, _Provider({}, {})), raw, _Field(None, document, key, layer))
    for provider in found.values():
        problems += _refusals(provider)
    return Registry(
        {name: _effective(provider) for name, provider in found.items()},
        configured,
        {name: label for owner, provider in found.items() for name, label in _owners(owner, provider)},
        tuple(dict.fromkeys(one for name, provider in found.items() for one in _exposures(name, provider))),
        notices=tuple(notices),
        problems=tuple(dict.fromkeys(problems)),
    )


def select(word: str | None, registry: Registry, env: Mapping[str, str], agent: str = "") -> Outcome[ModelSelection]:
    """Resolve `model: word` (006.9.1).

    It is nothing, a native name, a target of the registry, or `provider/model` split.

    `env` is the environment the child will have; `agent` is named in errors. A model of a withheld provider selects nothing,
    with a warning. Errors: `CompositionFailed` for a provider or model that the registry
    lacks, one without `api` or `baseUrl`, and a credential variable that is unset or empty.
    """
    name = (word or "").strip()
    provider, slash, model = name.partition("/")
    if name.lower() in UNSET:
        return Success(ModelSelection(None))
    known = any(one["id"] == model for one in registry.providers.get(provider, {}).get("models", ()))
    if not slash or (" " in name and not known):
        return Success(ModelSelection(ModelTarget("native", name)))
    if not provider or not model:
        return Failure(CompositionFailed(f"agent {agent}: model {name!r} is not of the form provider/model"))
    if provider in registry.withheld:
        text = f"agent {agent}: model {name!r} is left out with its provider; the harness uses its own default"
        return Success(ModelSelection(None, (Notice("warning", "model-withheld", text),)))
    if not registry.configured:
        return Success(ModelSelection(ModelTarget("split", model, provider)))
    return _target(registry, provider, model, env, f"agent {agent}: model {name!r}").map(ModelSelection)


def _target(registry: Registry, provider: str, model: str, env: Mapping[str, str], who: str) -> Outcome[ModelTarget]:
    from outfitter.catalog.model_rules import credential

    entry = registry.providers.get(provider)
    if entry is None:
        hint = f"providers: {_some(registry.providers)}; one built into the harness needs an entry there too"
        return Failure(CompositionFailed(f"{who}: no {FILE} has the provider {provider!r}", hint))
    found = next((one for one in entry["models"] if one["id"] == model), None)
    if found is None:
        known = [one["id"] for one in entry["models"]]
        return Failure(CompositionFailed(f"{who}: provider {provider!r} has no model {model!r}", _near(model, known)))
    for key in ("api", "baseUrl"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            return Failure(CompositionFailed(f"{who}: provider {provider!r} has no text {key!r} in its {FILE}"))
    merged = {**entry, **{key: found[key] for key in ("api", "baseUrl", "apiKey") if isinstance(found.get(key), str)}}
    variable = credential(merged)
    if variable and not env.get(variable):
        text = f"{who} needs the environment variable {variable}, which is unset or empty"
        return Failure(CompositionFailed(text, f"export {variable}=… before the launch"))
    return Success(
        ModelTarget(
            kind="registry",
            model=model,
            provider=provider,
            api=merged["api"],
            base_url=merged["baseUrl"],
            variable=variable,
            headers={**_mapping(entry.get("headers")), **_mapping(found.get("headers"))},
            definition=found,
            layer=registry.layers.get(f"{provider}/{model}", ""),
        )
    )


def _mapping(value: Any) -> Mapping[str, str]:
    return value if isinstance(value, Mapping) else {}


def _rows(document: Document) -> list[tuple[str, Any, KeyPath]] | None:
    """The providers of a file as (id, definition, key path); None if it is not a registry (V15)."""
    root = document.value if isinstance(document.value, Mapping) else {}
    block = root.get("providers")
    if isinstance(block, Mapping):
        return [(name, raw, ("providers", name)) for name, raw in block.items()]
    if isinstance(block, list) and all(isinstance(raw, Mapping) and isinstance(raw.get("id"), str) for raw in block):
        plain = [(raw["id"], {key: value for key, value in raw.items() if key != "id"}) for raw in block]
        return [(name, raw, ("providers", str(number))) for number, (name, raw) in enumerate(plain)]
    return None


def _gathered(provider: _Provider, raw: Any, at: _Field) -> list[Problem]:
    """Add what a lower layer says of a provider where no higher one has spoken."""
    if not isinstance(raw, Mapping):
        return [_problem(at, (), "must be a mapping")]
    for key, value in raw.items():
        if key != "models" and value is not None:
            provider.fields.setdefault(key, at._replace(value=value, key=(*at.key, key)))
    models = raw.get("models")
    if isinstance(models, Mapping):
        rows = [
            (name, {"id": name, **value} if isinstance(value, Mapping) else value) for name, value in models.items()
        ]
    elif models is None or isinstance(models, list):
        rows = [(str(n), {"id": one} if isinstance(one, str) else one) for n, one in enumerate(models or ())]
    else:
        return [_problem(at, ("models",), "must be a list of models")]
    problems: list[Problem] = []
    for key, value in rows:
        if isinstance(value, Mapping) and isinstance(value.get("id"), str):
            provider.models.setdefault(value["id"], at._replace(value=value, key=(*at.key, "models", key)))
        else:
            problems.append(_problem(at, ("models", key), "must be a mapping with a text `id`"))
    return problems


def _refusals(provider: _Provider) -> Iterator[Problem]:
    """What 006.9.7 refuses, where it is effective."""
    from outfitter.catalog.model_rules import faults

    for key, why, hint in faults({key: field.value for key, field in provider.fields.items()}):
        yield _problem(provider.fields[key[0]], key[1:], why, hint)
    for field in provider.models.values():
        for key, why, hint in faults(field.value):
            yield _problem(field, key, why, hint)


def _effective(provider: _Provider) -> dict[str, Any]:
    from outfitter.catalog.model_rules import normal

    fields = normal({key: field.value for key, field in provider.fields.items()})
    return {**fields, "models": [normal(field.value) for field in provider.models.values()]}


def _owners(name: str, provider: _Provider) -> Iterator[tuple[str, str]]:
    fields = [*provider.fields.values(), *provider.models.values()]
    if fields:
        yield name, fields[0].layer.label
    for model, field in provider.models.items():
        yield f"{name}/{model}", field.layer.label


def _exposures(name: str, provider: _Provider) -> Iterator[HostExposure]:
    """Yield each variable with each host that it would go to (spec/10).

    Only where a layer other than the home's has a say in either. A host that would get no variable is there once, with the variable "": a harness may have a login of that name.
    """
    from outfitter.catalog.model_rules import addresses, decides, host, is_loopback, variables

    fields = {key: field.value for key, field in provider.fields.items()}
    deciding = [field for key, field in provider.fields.items() if decides(key, field.value)]
    for definition, own in ((fields, None), *((field.value, field) for field in provider.models.values())):
        says = [*deciding, *([own] if own and any(decides(key, value) for key, value in own.value.items()) else [])]
        foreign = next((field for field in says if field.layer.kind not in HOME_KINDS), None)
        if foreign is None:
            continue
        sent = tuple(dict.fromkeys((*variables(fields), *variables(definition)))) or ("",)
        for place in dict.fromkeys(map(host, (*addresses(definition), *addresses(fields)))):
            if not is_loopback(place):
                yield from (HostExposure(variable, place, foreign.document.path, name) for variable in sent)


def withheld(registry: Registry, layers: Sequence[Layer], settings: Settings) -> Registry:
    """Leave out each provider that would send a variable to a host that the home does not trust (006.9.7).

    Where the home's own files define such a provider, that definition counts instead. `hosts` names the host of each provider
    that stays and sends no variable to it: it must not get a login that a harness has stored under its name.
    """
    listed = settings.values.get("trusted_hosts")
    trusted = {str(one).strip().lower() for one in listed} if isinstance(listed, list) else set()
    foreign = [one for one in registry.exposures if one.host not in trusted]
    if not foreign:
        return registry
    names = {one.provider for one in foreign if one.variable}
    own = registry_of_home(layers) if names else {}
    kept = {
        name: own.get(name, entry) for name, entry in registry.providers.items() if name not in names or name in own
    }
    return registry._replace(
        providers=kept,
        withheld=frozenset(names - set(own)),
        hosts={one.provider: one.host for one in foreign if one.provider not in names},
        notices=(*registry.notices, *(_withheld_notice(one, one.provider in own) for one in foreign if one.variable)),
    )


def registry_of_home(layers: Sequence[Layer]) -> Mapping[str, Mapping[str, Any]]:
    """The providers that the home's own files define."""
    return registry([layer for layer in layers if layer.kind in HOME_KINDS]).providers


def _withheld_notice(one: HostExposure, own: bool) -> Notice:
    instead = "the home's own definition is used instead" if own else "the provider is left out"
    return Notice(
        "warning",
        "model-host",
        f"{one.path}: provider {one.provider!r} would send ${one.variable} to {one.host}; {instead}",
        f"if {one.host} may have it, add it to trusted_hosts in ~/.agents/settings.yml",
    )


def _problem(field: _Field, below: KeyPath, why: str, hint: str = "") -> Problem:
    key = (*field.key, *below)
    place = key
    while place and place not in field.document.positions:
        place = place[:-1]
    at = field.document.positions.get(place, Position())
    return Problem(field.document.path, why, ".".join(key), at, hint)


def _near(model: str, known: list[str]) -> str:
    from outfitter.model.wording import did_you_mean

    return did_you_mean(model, known, f"its models: {_some(known)}", 1)


def _some(names: Mapping[str, Any] | list[str]) -> str:
    from outfitter.model.wording import listed

    return listed(names, SHOWN) or "none"
