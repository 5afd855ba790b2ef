"""Folding pass-through options loses no word and moves none (spec/40)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from returns.result import Success

from outfitter.adapters.claude.arguments import (
    APPEND_FILE,
    APPEND_TEXT,
    LISTS,
    SETTINGS,
    SYSTEM,
    fold,
    guarded,
    prompts,
)
from outfitter.model.composition import Fragment

FOLDED = (APPEND_FILE, APPEND_TEXT, SETTINGS)
WORDS = st.sampled_from(
    (*FOLDED, *SYSTEM, "--", "-p", "text", "--model", "{}", "--append-system-prompt=a", "--settings={}", "")
)


def read(option, value):
    return Success("{}" if option == SETTINGS else f"<{value}>")


@given(st.lists(WORDS, max_size=12).map(tuple), st.sets(st.sampled_from(FOLDED)))
def test_what_is_not_folded_stays_in_order_and_what_is_folded_is_gone(words, taken):
    folded = fold(words, frozenset(taken), read).value_or(None)
    if folded is None:
        return
    left = iter(words)
    assert all(word in left for word in folded.rest), "the order changed"
    options = words[: words.index("--")] if "--" in words else words
    given_out = len(words) - len(folded.rest)
    assert given_out <= 2 * (len(folded.appended) + len(folded.settings))
    if "--" in words:
        assert folded.rest[len(folded.rest) - (len(words) - len(options)) :] == words[len(options) :]
    again = fold(folded.rest, frozenset(taken), read).value_or(None)
    assert again is not None


@given(st.lists(WORDS, max_size=8).map(tuple))
def test_with_nothing_taken_nothing_changes(words):
    assert fold(words, frozenset(), read).map(lambda folded: folded.rest).value_or(None) == words


@given(st.lists(st.sampled_from((*sorted(LISTS), "--model", "x", "--tools=Read", "-")), max_size=6).map(tuple))
def test_after_the_guard_no_list_is_open(words):
    closed = guarded(words, ("--strict-mcp-config",))
    assert closed[: len(words)] == words
    last = next((word for word in reversed(closed) if word.startswith("-") and word != "-"), "")
    assert last.partition("=")[0] not in LISTS


@given(st.lists(st.text(max_size=20), max_size=6), st.integers(0, 6))
def test_the_merged_prompt_holds_every_fragment_once_in_order(texts, cut):
    kinds: list[Any] = ["system"] * min(cut, 1) + ["append"] * len(texts)
    fragments = tuple(Fragment(kind, text, "/p", "project") for kind, text in zip(kinds, texts, strict=False))
    made = prompts(fragments, ())
    at = 0
    for fragment in fragments:
        text = fragment.content.strip("\n")
        whole = made.system if fragment.kind == "system" else made.appended
        if not text.strip():
            continue
        found = whole.find(text, at if fragment.kind != "system" else 0)
        assert found >= 0
        at = found + len(text) if fragment.kind != "system" else at
