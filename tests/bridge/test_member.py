"""Editing one key of a JSON file in place: every other byte stays, or nothing is done."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.bridge.json_edit import edited, member_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.text(), JSON, max_size=5)


@given(DOCUMENTS, st.text(), JSON, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_the_member_is_set_and_nothing_else(document, member, value, indent, ascii_only):
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return
    spelled = json.dumps(value)
    made = edited(content, member, spelled)
    assert made is not None
    assert json.loads(made) == {**document, member: value}
    assert list(json.loads(made)) == list({**document, member: value})
    assert member_text(made, member) == spelled
    again = edited(made, member, spelled)
    assert again == made
    if member in document:
        old = member_text(content, member)
        assert old is not None
        assert edited(made, member, old) == content


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"{}", b'{"k": 1}'),
        (b"{ \n}\n", b'{"k": 1}\n'),
        (b'{"a":1}', b'{"a":1,"k":1}'),
        (b'{"a": 1, "b": 2}', b'{"a": 1, "b": 2, "k": 1}'),
        (b'{\n  "a": 1\n}\n', b'{\n  "a": 1,\n  "k": 1\n}\n'),
        (b'{\r\n\t"a": 1\r\n}', b'{\r\n\t"a": 1,\r\n\t"k": 1\r\n}'),
        (b'{"a": "x\\u00e9:\\/", "k":  [1]  , "c": 1e400}', b'{"a": "x\\u00e9:\\/", "k":  1  , "c": 1e400}'),
        (b'{"k": 0, "k": 2}', b'{"k": 0, "k": 1}'),
        (b'\xef\xbb\xbf{"k":2}', b'\xef\xbb\xbf{"k":1}'),
        (
            b'{"n": 1.0, "b": 123456789012345678901234567890, "k": 2}',
            b'{"n": 1.0, "b": 123456789012345678901234567890, "k": 1}',
        ),
    ],
)
def test_spelling_and_spacing(before, after):
    assert edited(before, "k", "1") == after


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"a":1,}',
        b"{} {}",
        b"\xff{}",
        b'{"a":1 "b":2}',
        b"{'a':1}",
        b'{"a":NaN}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_object_is_refused(content):
    assert edited(content, "k", "1") is None


@given(st.binary(max_size=60))
def test_any_bytes_are_survived(content):
    made = edited(content, "k", "1")
    if made is not None:
        assert json.loads(made.decode().removeprefix("\ufeff"))["k"] == 1
