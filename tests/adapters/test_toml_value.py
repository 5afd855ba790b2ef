"""The inline TOML writer, against the standard library's reader (spec/95 CDX-03, CDX-05)."""

from __future__ import annotations

import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.adapters.codex.overrides import is_bare, toml_key, toml_value

TEXT = st.text(st.characters(codec="utf-8"))
LEAVES = (
    TEXT
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.sampled_from(["1.0", "false", "true", "nan", "1979-05-27", "[]", "{}", '"""', "'", "# x", "\x7f", "\u2028"])
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))


@given(VALUES)
def test_every_value_reads_back_as_itself_on_one_line(value: object) -> None:
    text = toml_value(value)
    assert "\n" not in text
    assert "\r" not in text
    read = tomllib.loads(f"v = {text}")["v"]
    assert read == value
    assert repr(read) == repr(value)


@given(TEXT)
def test_a_key_is_one_key_whatever_it_holds(key: str) -> None:
    assert tomllib.loads(f"v = {{{toml_key(key)} = 1}}")["v"] == {key: 1}
    assert is_bare(key) == (toml_key(key) == key)


def test_what_toml_has_no_value_for_is_refused() -> None:
    for value in (None, 2**63, "\ud800", {1: "x"}, [None], object()):
        with pytest.raises(ValueError):
            toml_value(value)


def test_not_a_number_reads_back() -> None:
    assert math.isnan(tomllib.loads(f"v = {toml_value(math.nan)}")["v"])
