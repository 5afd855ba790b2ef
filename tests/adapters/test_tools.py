"""Tool names in each harness's spelling (spec/10, "Tools", spec/15 V12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.adapters.tools import NATIVE, OTHERS, PORTABLE, ToolLimits, limits, native_name, unknown_notices
from outfitter.model.composition import Tools

ANTIGRAVITY = (
    ("view_file", "read"),
    ("run_command", "bash"),
    ("write_to_file", "write"),
    ("replace_file_content", "edit"),
    ("multi_replace_file_content", "edit"),
    ("grep_search", "grep"),
    ("find_by_name", "find"),
    ("list_dir", "ls"),
    ("read_url_content", "web_fetch"),
    ("search_web", "web_search"),
)


@pytest.mark.parametrize("name", PORTABLE)
def test_every_portable_name_is_a_tool_of_claude(name: str) -> None:
    assert native_name("claude", name)


@pytest.mark.parametrize(("foreign", "portable"), ANTIGRAVITY)
@pytest.mark.parametrize("harness", ["pi", "claude"])
def test_foreign_names_mean_what_the_portable_ones_do(harness: str, foreign: str, portable: str) -> None:
    assert native_name(harness, foreign) == native_name(harness, portable)


@pytest.mark.parametrize("word", ["WebFetch", "webfetch", "WEB_FETCH", "web-fetch"])
def test_case_and_separators_do_not_count(word: str) -> None:
    assert native_name("claude", word) == "WebFetch"
    assert native_name("pi", word) == ""


def test_native_names_are_accepted_and_keep_their_spelling() -> None:
    assert native_name("claude", "notebookedit") == "NotebookEdit"
    assert native_name("pi", "NotebookEdit") == ""
    assert native_name("claude", "mcp__db__Query_All") == "mcp__db__Query_All"


def test_deny_wins_whatever_the_spelling() -> None:
    assert limits(Tools(("read", "bash"), ("Bash",)), "pi") == ToolLimits(("read",), ("bash",))
    assert limits(Tools(("run_command",), ("shell",)), "claude").allow == ()


def test_nothing_left_is_no_tools_and_never_all() -> None:
    """V12: unknown words are passed on as written; an empty list is no tools; no list at all is no limit."""
    assert limits(Tools(("send_message",)), "pi") == ToolLimits(("send_message",), (), ("send_message",))
    assert limits(Tools(("Bash(git:*)",)), "claude") == ToolLimits((), (), (), (), ("Bash(git:*)",))
    assert limits(Tools(()), "pi").allow == ()
    assert limits(Tools(None), "pi").allow is None


def test_unknown_words_are_warned_by_agent_word_and_harness() -> None:
    notices = unknown_notices(limits(Tools(("send_message",), ("web_fetch",)), "pi"), "a", "pi")
    assert [n.level for n in notices] == ["warning"]
    assert all(word in notices[0].message for word in ("send_message", "web_fetch", "agent a", "pi", "as written"))


def test_mcp_is_every_selected_server() -> None:
    assert limits(Tools(("mcp", "read")), "pi", ("db", "docs")).allow == ("mcp__db", "mcp__docs", "read")


def test_a_pattern_for_every_server_is_the_same_word() -> None:
    assert limits(Tools(("mcp__*",)), "pi", ("db",)).allow == ("mcp__db",)


def test_a_denied_server_takes_its_tools_along() -> None:
    assert limits(Tools(("mcp__db__get", "mcp__dbx__get"), ("mcp__db",)), "pi").allow == ("mcp__dbx__get",)


def test_an_argument_pattern_is_kept_apart() -> None:
    assert limits(Tools(None, ("Bash(rm:*)",)), "claude") == ToolLimits(None, (), (), ("Bash(rm:*)",))


def test_a_denied_pattern_of_names_is_every_tool_of_that_name() -> None:
    assert limits(Tools(None, ("Web*",)), "claude").deny == ("WebFetch", "WebSearch")
    assert limits(Tools(None, ("db_*",)), "pi", ("db",)).deny == ("mcp__db",)
    assert limits(Tools(None, ("other_*",)), "pi", ("db",)) == ToolLimits(None, ("other_*",), ("other_*",))


WORDS = st.sampled_from([*PORTABLE, *(w for w, _ in ANTIGRAVITY), "Bash", "nosuch", "mcp", "mcp__s__t", "Task"])


@given(st.sampled_from(["pi", "claude"]), st.lists(WORDS), st.lists(WORDS))
def test_limits_never_widen(harness: str, allow: list[str], deny: list[str]) -> None:
    found = limits(Tools(tuple(allow), tuple(deny)), harness, ("s",))
    assert found.allow is not None
    assert not set(found.allow) & set(found.deny)
    assert set(found.allow) <= {native_name(harness, word) or word for word in allow} | {"mcp__s"}
    assert len(set(found.allow)) == len(found.allow)
    known = {*NATIVE[harness].values(), *OTHERS[harness]}
    assert all(
        name in known or name.startswith("mcp__") or name in found.unknown for name in (*found.allow, *found.deny)
    )
