"""Plain YAML scalars by the core schema of YAML 1.2: `no`, `on` and `y` are text (spec/95 YML-04)."""

from __future__ import annotations

import re

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_INTEGER = re.compile(r"[-+]?[0-9]+")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NOT_A_NUMBER = frozenset((".nan", ".NaN", ".NAN"))
# Far below what Python refuses to turn into decimal digits again.
LONGEST_NUMBER = 1000

Scalar = str | int | float | bool | None


def plain(text: str) -> Scalar:
    """The value of an unquoted scalar; raises `ValueError` where a number is too long to be meant."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if text[0] not in "+-.0123456789":
        return text
    if len(text) > LONGEST_NUMBER and (_FLOAT.fullmatch(text) or _RADIX.fullmatch(text)):
        raise ValueError(f"a number of {len(text)} digits")
    return _number(text)


def _number(text: str) -> Scalar:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _RADIX.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return float("nan") if text in _NOT_A_NUMBER else text
