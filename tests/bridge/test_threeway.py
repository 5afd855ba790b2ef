"""The one table behind every copy back, row by row, and what holds for all of it (spec/50)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.adapters.native_json import member_digest
from outfitter.bridge.threeway import Sides, as_at_launch, credential_refusal, decide, live_tokens
from outfitter.model.outcome import GRANULARITY_NS, Identity

S, P, D = b"s", b"p", b"d"


@pytest.mark.parametrize(
    ("sides", "action"),
    [
        # p absent, any d
        (Sides(S, S, None, S), "leave"),
        (Sides(S, S, None, D), "leave"),
        (Sides(S, S, None, None), "leave"),
        (Sides(None, None, None, None), "leave"),
        # p = s, any d
        (Sides(S, S, S, S), "leave"),
        (Sides(S, S, S, D), "leave"),
        (Sides(S, S, S, None), "leave"),
        # p is a seeded log that came back cut, d = s
        (Sides(S, S, P, S, truncated=True), "keep-longer"),
        # p ≠ s, d = s
        (Sides(S, S, P, S), "copy"),
        (Sides(None, None, P, None), "create"),
        # p ≠ s, d = p
        (Sides(S, S, P, P), "leave"),
        (Sides(S, S, P, P, truncated=True), "leave"),
        (Sides(None, None, P, P), "leave"),
        # p ≠ s, d ≠ s, d ≠ p
        (Sides(S, S, P, D), "conflict"),
        (Sides(S, S, P, D, truncated=True), "conflict"),
        (Sides(S, S, P, None), "conflict"),
        (Sides(None, None, P, D), "conflict"),
        # credentials that are none
        (Sides(S, S, P, S, refusal="empty"), "refuse"),
        (Sides(S, S, P, D, refusal="empty"), "refuse"),
        (Sides(S, S, S, D, refusal="empty"), "leave"),
        # a watched file that started from something else than the durable one
        (Sides(S, None, P, None), "create"),
        (Sides(S, None, S, None), "leave"),
        (Sides(S, None, P, D), "conflict"),
        (Sides(S, D, P, D), "copy"),
    ],
)
def test_every_row(sides, action):
    decision = decide(sides)
    assert decision.action == action
    assert bool(decision.reason) == (action not in ("copy", "create"))


DIGESTS = st.sampled_from([None, S, P, D])


@given(DIGESTS, DIGESTS, DIGESTS, DIGESTS, st.booleans(), st.sampled_from(["", "why"]))
def test_nothing_is_written_but_over_exactly_what_was_there(seed, before, projected, durable, cut, refusal):
    decision = decide(Sides(seed, before, projected, durable, cut, refusal))
    if decision.action in ("copy", "create"):
        assert durable == before
        assert projected not in (None, seed, durable)
        assert (decision.action == "create") == (durable is None)
        assert not cut
        assert not refusal
    if decision.action == "leave":
        assert projected in (None, seed, durable)


@given(DIGESTS, DIGESTS, DIGESTS)
def test_deciding_again_after_carrying_it_out_is_nothing_to_do(seed, projected, durable):
    decision = decide(Sides(seed, seed, projected, durable))
    after = projected if decision.action in ("copy", "create") else durable
    again = decide(Sides(seed, seed, projected, after))
    assert again.action == ("leave" if decision.action in ("copy", "create") else decision.action)


@pytest.mark.parametrize(
    ("mtime", "ctime", "old"),
    [
        (1, 1, True),
        (1, 10**9, False),
        (10**9, 1, False),
        (10**9 - GRANULARITY_NS, 1, False),
        (10**9 - GRANULARITY_NS - 1, 1, True),
    ],
)
def test_older_than_the_launch_by_both_times(mtime, ctime, old):
    assert as_at_launch(Identity(0, 0, mtime, ctime), 10**9) == old


def test_a_member_s_digest_does_not_depend_on_spelling():
    one = json.loads('{"k": {"a": 1, "b": "\\u00e9"}, "x": 1}')
    other = json.loads('{"x": 2, "k": {"b": "é", "a": 1}}')
    assert member_digest(one, "k") == member_digest(other, "k") != ""
    assert member_digest(one, "x") != member_digest(other, "x")
    nothing: list[object] = [{}, [], None, "k", 1]
    assert [member_digest(value, "k") for value in nothing] == [""] * 5


LIVE = {"claudeAiOauth": {"accessToken": "a", "refreshToken": "r"}}
DEAD = {"claudeAiOauth": {"accessToken": "", "refreshToken": "", "expiresAt": 0}}


@pytest.mark.parametrize(
    ("durable", "projected", "refused"),
    [
        (None, LIVE, False),
        (LIVE, LIVE, False),
        (DEAD, LIVE, False),
        (LIVE, DEAD, True),
        (LIVE, {**DEAD, "mcpOAuth": {"s": {"accessToken": "live"}}}, True),
        (LIVE, {"mcpOAuth": {"s": {"accessToken": "live"}}}, True),
        ({**LIVE, "mcpOAuth": {"s": {"accessToken": "live"}}}, LIVE, False),
        (DEAD, DEAD, False),
        (None, DEAD, False),
        (LIVE, {}, True),
        (LIVE, [], True),
        (LIVE, None, True),
        (None, {}, True),
        ({"t": 1}, {"t": 2}, False),
    ],
)
def test_no_login_is_ended(durable, projected, refused):
    assert bool(credential_refusal(durable, projected)) == refused


def test_tokens_are_found_however_deep():
    assert set(live_tokens({"a": [{"idToken": "x"}], "token": "y", "tokens": "n", "b": {"refresh_token": " "}})) == {
        ("a", "0", "idToken"),
        ("token",),
    }
