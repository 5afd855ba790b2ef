"""Codex's `-c key=value` overrides as rows, each with the element it carries (OFTR-006.6). Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from outfitter.adapters.models import selection
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
    """Return a target as Codex takes it.

    A target with a dialect or provider id that it cannot keep is skipped whole (006.9.6).
    """
    found = selection(target, agent, "codex", DIALECTS, provider="openai")
    if found.target is None:
        return Chosen(notices=found.notices)
    if found.target.kind != "registry":
        return Chosen(found.target.model)
    return _registered(found.target, agent)


def effort(thinking: str, agent: str) -> tuple[str, tuple[Notice, ...]]:
    """Return `model_reasoning_effort` for a thinking level; an unknown level gives "" and a warning."""
    level = thinking.strip().lower()
    word = _EFFORT_WORDS.get(level, level)
    if not word or word in EFFORTS:
        return word, ()
    message = f"agent {agent}: codex has no thinking level {thinking!r}; skipped"
    return "", (Notice("warning", "thinking-unknown", message),)


def _registered(target: ModelTarget, agent: str) -> Chosen:
    references, literals, lost = _headers(target.headers, target.variable)
    why = "codex keeps that provider id for itself" if target.provider in RESERVED else ""
    why = why or ("" if is_bare(target.provider) else "codex key paths cannot express the provider's id")
    why = why or (f"codex cannot make the header {lost!r} of a variable and other text" if lost else "")
    if why:
        message = f"agent {agent}: model {target.provider}/{target.model}: {why}; skipped"
        return Chosen(notices=(Notice("warning", "model-omitted", message),))
    fields: dict[str, object] = {"name": target.provider, "base_url": target.base_url, "wire_api": "responses"}
    fields |= {"env_key": target.variable} if target.variable else {}
    fields |= {"http_headers": literals} if literals else {}
    fields |= {"env_http_headers": references} if references else {}
    label = f"model provider {target.provider}"
    rows = tuple(Override(label, f"model_providers.{target.provider}.{key}", value) for key, value in fields.items())
    return Chosen(target.model, target.provider, rows)


def window(target: ModelTarget | None) -> tuple[Override, ...]:
    """Return the model's context window from the registry; Codex guesses it for an unknown model."""
    size = target.definition.get("contextWindow") if target is not None else None
    known = isinstance(size, int) and not isinstance(size, bool) and size > 0
    return (Override("model", "model_context_window", size),) if known else ()


def _headers(headers: Mapping[str, str], variable: str) -> tuple[dict[str, str], dict[str, str], str]:
    """Return the headers that are a variable, those that are text, and the name of a mixed one ("").

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


# One argument may hold this many bytes at most: the kernel counts a closing zero into its 128 KiB.
LONGEST = 128 * 1024 - 1


class Override(NamedTuple):
    """One `-c`: a dotted path of bare parts and any TOML value.

    `element` says to people what it is for.
    """

    element: str
    key: str
    value: object

    @property
    def argument(self) -> str:
        """The word after `-c`. Raises `ValueError` for a value that TOML cannot hold."""
        return f"{self.key}={toml_value(self.value)}"


class Overrides(NamedTuple):
    """Overrides in order, and what to say about what could not be one."""

    rows: tuple[Override, ...] = ()
    notices: tuple[Notice, ...] = ()


def joined(parts: Iterable[Overrides]) -> Overrides:
    """Several parts as one, in order."""
    kept = tuple(parts)
    return Overrides(
        tuple(row for part in kept for row in part.rows), tuple(notice for part in kept for notice in part.notices)
    )


def written(overrides: Overrides) -> Overrides:
    """Return the overrides that can be written, each once, and a warning for each other one."""
    rows: dict[str, Override] = {}
    notices = list(overrides.notices)
    for row in overrides.rows:
        why = unwritable(row)
        if why:
            notices.append(
                Notice("warning", "codex-unwritable", f"{row.element}: codex cannot be given it: {why}; skipped")
            )
        else:
            rows.setdefault(row.argument, row)
    return Overrides(tuple(rows.values()), tuple(notices))


def unwritable(row: Override) -> str:
    """Why an override cannot be written, "" if it can."""
    bad = [part for part in row.key.split(".") if not is_bare(part)]
    if bad:
        return f"{bad[0]!r} cannot stand in the path of an override"
    try:
        return "" if row.argument else "nothing"
    except ValueError as error:
        return str(error)


def arguments(overrides: Overrides) -> tuple[str, ...]:
    """The words of the command line."""
    return tuple(word for row in overrides.rows for word in ("-c", row.argument))


def too_long(overrides: Overrides) -> Override | None:
    """The first override that no argument can hold."""
    return next((row for row in overrides.rows if size(row) > LONGEST), None)


def size(row: Override) -> int:
    """An override's bytes as an argument."""
    return len(row.argument.encode("utf-8"))


_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_LARGEST = 2**63


def toml_value(value: object) -> str:
    """Return strings, booleans, numbers, sequences and mappings as one TOML value.

    A string stays a string, whatever it looks like.

    Raises `ValueError` for what TOML has no value for: None, integers beyond 64 bits, lone surrogates, keys that are no strings.
    """
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(key)} = {toml_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_value(inner) for inner in value) + "]"
    raise ValueError(f"TOML has no {type(value).__name__}")


def toml_key(key: object) -> str:
    """A key, quoted where it is not bare: a dot in it never makes a nested table."""
    if not isinstance(key, str):
        raise ValueError("TOML keys are strings")
    return key if _BARE.match(key) else _string(key)


def is_bare(key: str) -> bool:
    """Whether a key may stand unquoted, as every part of an override's path must."""
    return bool(_BARE.match(key))


def is_text(text: str) -> bool:
    """Whether a string is Unicode text, without lone surrogates, which is all that TOML can hold."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _string(text: str) -> str:
    if not is_text(text):
        raise ValueError("not Unicode text")
    return '"' + "".join(_SHORT.get(sign) or _escaped(sign) for sign in text) + '"'


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04X}" if sign < " " or sign == "\x7f" else sign


def _integer(number: int) -> str:
    if not -_LARGEST <= number < _LARGEST:
        raise ValueError("an integer beyond 64 bits")
    return str(number)


def _float(number: float) -> str:
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    text = repr(number)
    return text if "." in text or "e" in text else text + ".0"
