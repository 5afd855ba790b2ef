"""Setting one key in YAML text: the value is as asked, and every other byte survives (spec/50, "The prompt")."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from outfitter.bridge.prompt import override_text
from outfitter.settings.yaml_edit import splice, with_value
from outfitter.syntax.yaml_core import load

CASES = [
    ("", "state_persistence:\n  cache/: symlink\n"),
    ("# mine\n", "# mine\nstate_persistence:\n  cache/: symlink\n"),
    ("# mine", "# mine\nstate_persistence:\n  cache/: symlink\n"),
    ("---\n", "---\nstate_persistence:\n  cache/: symlink\n"),
    ("default_agent: a # x", "default_agent: a # x\nstate_persistence:\n  cache/: symlink\n"),
    ("default_agent: a\r\n", "default_agent: a\r\nstate_persistence:\r\n  cache/: symlink\r\n"),
    ("default_agent: a\n...\n", "default_agent: a\nstate_persistence:\n  cache/: symlink\n...\n"),
    (
        "state_persistence:\n  cache/: prompt # why\n  b/: warn\n",
        "state_persistence:\n  cache/: symlink # why\n  b/: warn\n",
    ),
    ("state_persistence: {cache/: prompt, b: warn}\n", "state_persistence: {cache/: symlink, b: warn}\n"),
    ('"state_persistence": {"cache/": "prompt"}', '"state_persistence": {"cache/": symlink}'),
    ("{}\n", "{state_persistence: {cache/: symlink}}\n"),
    ("state_persistence: {}\n", "state_persistence: {cache/: symlink}\n"),
    ("state_persistence: {b: warn, } # x\n", "state_persistence: {b: warn, cache/: symlink, } # x\n"),
    ("state_persistence: {\n  b: warn\n}\n", "state_persistence: {\n  b: warn, cache/: symlink\n}\n"),
    ("state_persistence:\nb: 1\n", "state_persistence:\n  cache/: symlink\nb: 1\n"),
    ("state_persistence: # x\n  # y\nb: 1\n", "state_persistence: # x\n  cache/: symlink\n  # y\nb: 1\n"),
    ("state_persistence: ~ # x\n", "state_persistence: {cache/: symlink} # x\n"),
    ("state_persistence:\n  cache/:\n  b: warn\n", "state_persistence:\n  cache/: symlink\n  b: warn\n"),
    ("state_persistence:\n    b: warn\n\n# end\n", "state_persistence:\n    b: warn\n    cache/: symlink\n\n# end\n"),
    (
        "state_persistence:\n  b: warn\ncustom_settings:\n  t: |\n    x\n\n",
        "state_persistence:\n  b: warn\n  cache/: symlink\ncustom_settings:\n  t: |\n    x\n\n",
    ),
    (
        "custom_settings:\n  t: |+\n    x\n\n",
        "custom_settings:\n  t: |+\n    x\n\nstate_persistence:\n  cache/: symlink\n",
    ),
    ("sources:\n- {path: a}\n- path: b\n", "sources:\n- {path: a}\n- path: b\nstate_persistence:\n  cache/: symlink\n"),
    ("  a: 1\n", "  a: 1\n  state_persistence:\n    cache/: symlink\n"),
    ("a: &x {b: 1}\nc: *x\n", "a: &x {b: 1}\nc: *x\nstate_persistence:\n  cache/: symlink\n"),
    ("state_persistence:\n  cache/: >-\n    prompt\n  b: 1\n", "state_persistence:\n  cache/: symlink\n  b: 1\n"),
    ("über: ä # ö\nstate_persistence: {b: ü}\n", "über: ä # ö\nstate_persistence: {b: ü, cache/: symlink}\n"),
    (
        "state_persistence:\n  claude:\n    projects/: warn\na: 1\n",
        "state_persistence:\n  claude:\n    projects/: warn\n  cache/: symlink\na: 1\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), CASES)
def test_a_plain_override(before, after):
    assert override_text(before.encode(), "cache/", "plain", "pi") == Success(after.encode())
    marked = override_text(b"\xef\xbb\xbf" + before.encode(), "cache/", "plain", "pi")
    assert marked == Success(b"\xef\xbb\xbf" + after.encode())


@pytest.mark.parametrize(("before", "after"), CASES)
def test_doing_it_again_changes_nothing(before, after):
    assert override_text(after.encode(), "cache/", "default", "pi") == Success(after.encode())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"state_persistence:\n  claude:\n    skills/: symlink\n"),
        (
            b"state_persistence:\n  claude: {skills/: prompt}\n  skills/: warn\n",
            b"state_persistence:\n  claude: {skills/: symlink}\n  skills/: warn\n",
        ),
        (b"state_persistence: {claude: }\n", b"state_persistence: {claude: {skills/: symlink}}\n"),
        (b"state_persistence: {claude}\n", b"state_persistence: {claude: {skills/: symlink}}\n"),
        (b"state_persistence:\n  claude:\n", b"state_persistence:\n  claude:\n    skills/: symlink\n"),
    ],
)
def test_an_override_in_the_harness_block(before, after):
    assert override_text(before, "skills/", "harness", "claude") == Success(after)


@pytest.mark.parametrize(
    "content",
    [
        b"x: &a {b: 1}\nstate_persistence: *a\n",
        b"x: &a warn\nstate_persistence: {cache/: *a}\n",
        b"state_persistence: &a {cache/: &b prompt}\nx: *b\n",
        b"state_persistence: [a]\n",
        b"state_persistence: words\n",
        b"state_persistence: {cache/: [a]}\n",
        b"- a\n",
        b"words\n",
        b"a: [\n",
        b"a: 1\na: 2\n",
        b"a: 1\n---\nb: 1\n",
        b"a: \xff\n",
        "a: 1\n".encode("utf-16"),
        b"a: 1\0\n",
    ],
)
def test_what_cannot_be_proved_is_refused_with_a_reason(content):
    outcome = override_text(content, "cache/", "plain", "pi")
    assert isinstance(outcome, Failure)
    assert outcome.failure()


KEYS = st.sampled_from(["a", "b", "cache/", "claude", "settings.json", "no", "é", "x y", "1"])
WORDS = st.sampled_from(["warn", "symlink", "no", "1", "a: b", "# c", "", "é", "it's", '"q"', "- x", "true", "~"])
TREES = st.recursive(
    WORDS | st.none() | st.integers(0, 5) | st.lists(WORDS, max_size=2),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def yaml_texts(draw):  # noqa: C901 - one renderer, many ways to write
    """A mapping as a person might write it: block or flow, comments and blank lines anywhere, any quoting, any line end."""
    tree = draw(st.dictionaries(KEYS, TREES, max_size=4))
    comment = st.sampled_from(["", "", " # why", "  # é: {"])

    def scalar(value):
        if value is None:
            return draw(st.sampled_from(["~", "null"]))
        if isinstance(value, int):
            return str(value)
        plain = value.isalpha() and value not in ("true", "no") and value.isascii()
        single = "'" + value.replace("'", "''") + "'"
        return draw(st.sampled_from([json.dumps(value, ensure_ascii=False), single, *([value] if plain else [])]))

    def flow(value):
        if isinstance(value, dict):
            space, comma = draw(st.sampled_from(["", " "])), draw(st.sampled_from(["", ","])) if value else ""
            return "{" + space + ", ".join(f"{scalar(k)}: {flow(v)}" for k, v in value.items()) + comma + space + "}"
        return "[" + ", ".join(map(scalar, value)) + "]" if isinstance(value, list) else scalar(value)

    def block(value, indent):
        lines = []
        for key, inner in value.items():
            lines += draw(st.lists(st.sampled_from(["", " " * indent + "# note", "# {odd: [note"]), max_size=1))
            head = " " * indent + scalar(key) + ":"
            if isinstance(inner, dict) and inner and draw(st.booleans()):
                lines += [head + draw(comment), *block(inner, indent + draw(st.sampled_from([1, 2, 4])))]
            elif isinstance(inner, list) and inner and draw(st.booleans()):
                lines += [head + draw(comment), *(" " * indent + "- " + scalar(one) + draw(comment) for one in inner)]
            elif isinstance(inner, str) and inner == "warn" and draw(st.booleans()):
                lines += [head + " |-", " " * (indent + 3) + inner]
            elif inner is None and draw(st.booleans()):
                lines += [head + draw(comment)]
            else:
                lines += [f"{head} {flow(inner)}{draw(comment)}"]
        return lines

    lines = [flow(tree)] if draw(st.integers(0, 9)) == 0 else block(tree, draw(st.sampled_from([0, 0, 0, 2])))
    text = draw(st.sampled_from(["\n", "\r\n"])).join(["# top", *lines])
    return text + draw(st.sampled_from(["", "\n", "\n\n", "\n# end\n"]))


@given(yaml_texts(), st.lists(KEYS, min_size=1, max_size=3), WORDS)
def test_the_value_is_set_and_every_other_byte_survives(text, path, value):
    before = load(text).value
    here = before
    for name in path[:-1]:
        here = here.get(name) if isinstance(here, dict) else here
    possible = _settable(before, path)
    outcome = splice(text, tuple(path), value)
    if not possible:
        assert isinstance(outcome, Failure)
        return
    after = outcome.unwrap()
    assert load(after).value == with_value(before, path, value)
    start = next((n for n, (a, b) in enumerate(zip(text, after, strict=False)) if a != b), min(len(text), len(after)))
    end = 0
    while end < min(len(text), len(after)) - start and text[-1 - end] == after[-1 - end]:
        end += 1
    gone = text[start : len(text) - end]
    assert "#" not in gone or gone.strip("\"'") in "# c"
    assert "\n" not in gone or "|-" in text
    assert len(gone) <= 30


def _settable(tree, path):
    for name in path:
        if tree is not None and not isinstance(tree, dict):
            return False
        tree = (tree or {}).get(name)
    return not isinstance(tree, (dict, list))


@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=3), st.text(max_size=10))
def test_no_text_makes_it_raise_or_lie(text, path, value):
    outcome = splice(text, tuple(path), value)
    if isinstance(outcome, Success):
        assert load(outcome.unwrap()).value == with_value(load(text).value, path, value)
