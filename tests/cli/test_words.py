"""spec/80: whose word is whose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from outfitter.cli.argv import FLAGS, VALUED, split_global, split_run


def split(*words):
    return split_run(words).unwrap()


@pytest.mark.parametrize(
    ("words", "agent", "passthrough"),
    [
        (("-p", "fix the bug"), None, ("-p", "fix the bug")),
        (("a", "--", "--some-flag", "x y"), "a", ("--some-flag", "x y")),
        (("--", "exec", "hi"), None, ("exec", "hi")),
        (("a", "--", "--strict", "--", "x"), "a", ("--strict", "--", "x")),
        (("--foreign", "a"), None, ("--foreign", "a")),
        (("a", "b"), "a", ("b",)),
        (("--resume",), None, ("--resume",)),
        (("--harness", "pi", "a", "-c"), "a", ("-c",)),
        (("--json", "a"), None, ("--json", "a")),
        (("--stric", "a"), None, ("--stric", "a")),
    ],
)
def test_the_words_of_a_run(words, agent, passthrough):
    got = split(*words)
    assert (got.agent, got.passthrough) == (agent, passthrough)


def test_own_options_count_wherever_they_stand_before_the_dashes():
    got = split("a", "-p", "--strict", "hi", "--out=x", "--", "--isolated")
    assert got.flags == ("--strict",)
    assert got.values == (("--out", "x"),)
    assert got.passthrough == ("-p", "hi", "--isolated")


def test_json_belongs_to_a_dry_run_only():
    assert split("a", "--dry-run", "--json").flags == ("--dry-run", "--json")
    assert split("a", "--json", "--", "--dry-run").passthrough == ("--json", "--dry-run")


def test_an_option_without_its_value_is_usage():
    assert isinstance(split_run(("a", "--harness")), Failure)
    assert isinstance(split_run(("a", "--out", "--", "x")), Failure)


WORDS = st.sampled_from(["a", "b", "-p", "--x", "--x=1", "--", "", "-", *FLAGS, *VALUED, "--out=o"])


@pytest.mark.parametrize("words", [("--out", ""), ("--out=",), ("a", "--harness="), ("--append-prompt", "")])
def test_an_empty_value_is_usage_and_never_as_if_unasked(words):
    assert "value is empty" in split_run(words).failure().message


@given(st.lists(WORDS, max_size=12))
def test_no_word_is_lost_or_made_up(words):
    result = split_run(tuple(words))
    if isinstance(result, Success):
        got = result.unwrap()
        kept = len(got.flags) + sum(1 if f"{name}={value}" in words else 2 for name, value in got.values)
        kept += (got.agent is not None) + len(got.passthrough) + ("--" in words)
        assert kept == len(words)
        if "--" in words:
            tail = words[words.index("--") + 1 :]
            assert list(got.passthrough[len(got.passthrough) - len(tail) :]) == tail


def test_global_options_stand_only_before_the_command():
    got = split_global(("--quiet", "--color", "never", "run", "--verbose")).unwrap()
    assert (got.flags, got.colour, got.rest) == (("--quiet",), "never", ("run", "--verbose"))
    assert isinstance(split_global(("--color", "pink")), Failure)
    assert isinstance(split_global(("--color",)), Failure)
