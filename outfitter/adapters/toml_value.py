"""Values as inline TOML on one line, for command-line overrides (TOML 1.0). Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_LARGEST = 2**63


def toml_value(value: object) -> str:
    """Strings, booleans, numbers, sequences and mappings as one TOML value; strings stay strings whatever they look like.

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
