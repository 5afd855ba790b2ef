"""Registries that name a projection, rewritten to name the durable directory: only whole paths at a string's start change."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.bridge.registry import rewritten

PLACES = {"/run/p/plugins": "/home/é/plugins"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": "/run/p/plugins"}', '{"a": "/home/\\u00e9/plugins"}'),
        ('{"/run/p/plugins/x": 1}', '{"/home/\\u00e9/plugins/x": 1}'),
        ('["\\/run\\/p\\/plugins\\/x"]', '["\\/home\\/\\u00e9\\/plugins\\/x"]'),
        ('["/run/p/plugins2", "see /run/p/plugins"]', '["/run/p/plugins2", "see /run/p/plugins"]'),
        ('["he said \\"/run/p/plugins\\""]', '["he said \\"/run/p/plugins\\""]'),
        ('["\\\\", "/run/p/plugins/a"]', '["\\\\", "/home/\\u00e9/plugins/a"]'),
        ('{"a": "/run/p/plugins"', '{"a": "/run/p/plugins"'),
        ('\ufeff{"a":  "/run/p/plugins"} ', '\ufeff{"a":  "/home/\\u00e9/plugins"} '),
    ],
)
def test_only_the_path_at_the_start_of_a_string_changes(before, after):
    assert rewritten(before.encode(), PLACES).decode() == after


@given(st.lists(st.text() | st.just("/run/p/plugins/") | st.just('"/run/p/plugins'), max_size=5), st.booleans())
def test_the_values_are_rewritten_and_nothing_else(values, ascii_only):
    text = json.dumps(values, ensure_ascii=ascii_only)
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return
    old, new = next(iter(PLACES.items()))
    expected = [new + v[len(old) :] if v == old or v.startswith(old + "/") else v for v in values]
    assert json.loads(rewritten(content, PLACES)) == expected


def test_bytes_that_are_not_text_are_left_alone():
    assert rewritten(b'\xff"/run/p/plugins"', PLACES) == b'\xff"/run/p/plugins"'
