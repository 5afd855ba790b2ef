"""Model, provider and effort as Codex takes them (OFTR-006.6.2, 006.9.5, 006.9.6). Pure."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from outfitter.adapters.codex_overrides import Override
from outfitter.adapters.models import selection
from outfitter.adapters.toml_value import is_bare
from outfitter.model.composition import ModelTarget
from outfitter.model.request import Notice

DIALECTS = ("openai-responses",)
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_EFFORT_WORDS = {"off": "none"}
# Providers built into Codex, which refuses another definition of them (measured).
RESERVED = ("openai", "ollama", "lmstudio", "amazon-bedrock")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?\Z")


class Chosen(NamedTuple):
    """A model as Codex takes it: its name ("" for none), the provider's overrides, and what to say."""

    model: str = ""
    provider: str = ""
    rows: tuple[Override, ...] = ()
    notices: tuple[Notice, ...] = ()


def chosen_model(target: ModelTarget | None, agent: str) -> Chosen:
    """What Codex is given for a target; one whose dialect or provider id it cannot keep is left out whole (006.9.6)."""
    found = selection(target, agent, "codex", DIALECTS, provider="openai")
    if found.target is None:
        return Chosen(notices=found.notices)
    if found.target.kind != "registry":
        return Chosen(found.target.model)
    return _registered(found.target, agent)


def effort(thinking: str, agent: str) -> tuple[str, tuple[Notice, ...]]:
    """`model_reasoning_effort` for a thinking level; a level that Codex does not know is a warning and "" ."""
    level = thinking.strip().lower()
    word = _EFFORT_WORDS.get(level, level)
    if not word or word in EFFORTS:
        return word, ()
    message = f"agent {agent}: codex has no thinking level {thinking!r}; it is left out"
    return "", (Notice("warning", "thinking-unknown", message),)


def _registered(target: ModelTarget, agent: str) -> Chosen:
    references, literals, lost = _headers(target.headers, target.variable)
    why = "codex keeps that provider id for itself" if target.provider in RESERVED else ""
    why = why or ("" if is_bare(target.provider) else "codex key paths cannot express the provider's id")
    why = why or (f"codex cannot make the header {lost!r} of a variable and other text" if lost else "")
    if why:
        message = f"agent {agent}: model {target.provider}/{target.model}: {why}; it is left out"
        return Chosen(notices=(Notice("warning", "model-omitted", message),))
    fields: dict[str, object] = {"name": target.provider, "base_url": target.base_url, "wire_api": "responses"}
    fields |= {"env_key": target.variable} if target.variable else {}
    fields |= {"http_headers": literals} if literals else {}
    fields |= {"env_http_headers": references} if references else {}
    label = f"model provider {target.provider}"
    rows = tuple(Override(label, f"model_providers.{target.provider}.{key}", value) for key, value in fields.items())
    return Chosen(target.model, target.provider, rows)


def window(target: ModelTarget | None) -> tuple[Override, ...]:
    """The context window that the registry gives for the model; Codex guesses one for a model it does not know."""
    size = target.definition.get("contextWindow") if target is not None else None
    known = isinstance(size, int) and not isinstance(size, bool) and size > 0
    return (Override("model", "model_context_window", size),) if known else ()


def _headers(headers: Mapping[str, str], variable: str) -> tuple[dict[str, str], dict[str, str], str]:
    """Headers that are a variable, headers that are text, and the name of one that is a mixture ("" for none).

    `Authorization: Bearer $X` of the credential's own variable is what `env_key` sends already.
    """
    references: dict[str, str] = {}
    literals: dict[str, str] = {}
    for name, value in headers.items():
        scheme, _, rest = value.strip().partition(" ")
        bearer = (
            _VARIABLE.match(rest.strip()) if name.lower() == "authorization" and scheme.lower() == "bearer" else None
        )
        if bearer and bearer[1] == variable:
            continue
        found = _VARIABLE.match(value)
        if found:
            references[name] = found[1]
        elif "$" in value:
            return {}, {}, name
        else:
            literals[name] = value
    return references, literals, ""
