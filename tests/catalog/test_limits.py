"""Limits in the spellings that people write them in: applied, refused or named, never wider than written."""

from __future__ import annotations

from typing import Any

import pytest

from outfitter.catalog.fields import Fields, KeyOrigin
from outfitter.catalog.limits import effective, limits, split
from outfitter.model.composition import Tools

WRITING = ("edit", "write", "bash")
HOME = KeyOrigin(0, "/t/agent.md", {})


def read(**values: Any) -> tuple[Tools, list[str], list[str]]:
    fields = Fields({key.replace("__", "-"): value for key, value in values.items()}, {}, HOME)
    tools = limits(fields).tools
    return tools, [one.message for one in fields.problems], [one.message for one in fields.notices]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Read Grep Glob", ("Read", "Grep", "Glob")),
        ("Read, Grep,Glob", ("Read", "Grep", "Glob")),
        ("Read\tGrep\nGlob\r\n", ("Read", "Grep", "Glob")),
        ("Read, Bash(git log:*, git diff:*), Grep", ("Read", "Bash(git log:*, git diff:*)", "Grep")),
        ("Bash(rm -rf *) Write", ("Bash(rm -rf *)", "Write")),
        ("Bash(echo (a b)) Read", ("Bash(echo (a b))", "Read")),
        ("Read) Write", ("Read)", "Write")),
        ("", ()),
    ],
)
def test_a_list_is_words_between_commas_and_blanks(text: str, words: tuple[str, ...]) -> None:
    assert split(text) == words


@pytest.mark.parametrize(
    "key", ["tools", "allowedTools", "allowed_tools", "allowed__tools", "AllowedTools", "tools_include"]
)
@pytest.mark.parametrize(
    "value", ["Read Grep", "Read, Grep", ["Read", "Grep"], ["Read Grep"], "[Read, Grep]", "'Read', \"Grep\""]
)
def test_every_spelling_of_an_allow_list_is_one(key: str, value: Any) -> None:
    assert read(**{key: value}) == (Tools(("Read", "Grep")), [], [])


@pytest.mark.parametrize(
    "key",
    [
        "disallowedTools",
        "disallowed__tools",
        "disallowed_tools",
        "deniedTools",
        "excludeTools",
        "tools_exclude",
        "denyTools",
    ],
)
@pytest.mark.parametrize("value", ["Write Edit", "Write,Edit", ["Write", "Edit"], {"Write": True, "Edit": "deny"}])
def test_every_spelling_of_a_deny_list_is_one(key: str, value: Any) -> None:
    tools, problems, notices = read(**{key: value})
    assert (tools, problems, notices) == (Tools(None, ("Write", "Edit")), [], [])


@pytest.mark.parametrize(
    ("values", "tools"),
    [
        (
            {"tools": {"write": False, "edit": False, "bash": False, "read": True}},
            Tools(None, ("write", "edit", "bash")),
        ),
        ({"tools": {"*": False, "read": True}}, Tools(("read",))),
        ({"tools": {"*": True, "bash": False}}, Tools(None, ("bash",))),
        ({"tools": {"allow": "Read Grep", "deny": "Bash(rm:*, mv:*)"}}, Tools(("Read", "Grep"), ("Bash(rm:*, mv:*)",))),
        ({"tools": {"allow": ["Read"], "write": False}}, Tools(("Read",), ("write",))),
        ({"permission": {"edit": "deny"}}, Tools(None, WRITING)),
        ({"permission": {"webfetch": "deny", "bash": "allow"}}, Tools(None, ("webfetch",))),
        ({"permission": {"bash": {"rm *": "deny", "git *": "allow"}}}, Tools(None, ("bash(rm *)",))),
        ({"permission": {"bash": {"*": "deny", "git *": "allow"}}}, Tools(None, ("bash",))),
        ({"permission": {"*": "deny", "read": "allow"}}, Tools(("read",))),
        ({"permission": "deny"}, Tools(None, ("*",))),
        ({"permissions": {"deny": ["Bash(curl:*)", "Write"]}}, Tools(None, ("Bash(curl:*)", "Write"))),
        ({"disallowedTools": {"Write": True, "Read": False}}, Tools(None, ("Write",))),
        ({"readOnly": True}, Tools(None, WRITING)),
        ({"sandbox_mode": "read-only"}, Tools(None, WRITING)),
        ({"tools": "Read, Bash, Grep", "allowedTools": ["Bash(git:*)", "Read"]}, Tools(("Read", "Bash(git:*)"))),
        ({"tools": "*", "allowedTools": "Read"}, Tools(("Read",))),
        ({"tools": ""}, Tools(())),
        ({"tools": []}, Tools(())),
    ],
)
def test_maps_and_several_keys_mean_what_their_programs_read(values: dict[str, Any], tools: Tools) -> None:
    assert read(**values)[:2] == (tools, [])


@pytest.mark.parametrize("value", ["*", ["*"], {"allow": ["*"]}, ["Read", "*"]])
def test_a_star_is_every_tool(value: Any) -> None:
    assert effective(read(tools=value)[0]) == Tools()


@pytest.mark.parametrize(
    "values", [{"disallowedTools": "*"}, {"tools": {"deny": ["*"]}}, {"tools": "Read", "deniedTools": ["*"]}]
)
def test_a_denied_star_leaves_no_tool(values: dict[str, Any]) -> None:
    assert effective(read(**values)[0]) == Tools(())


@pytest.mark.parametrize(
    "value", [{"alow": ["read"]}, {"allow": ["Read"], "denny": ["Bash"]}, {"read": None}, {"bash": "sometimes"}, True]
)
def test_a_misspelt_limit_is_an_error(value: Any) -> None:
    assert read(tools=value)[1]


@pytest.mark.parametrize("value", ["Write; Edit", "-rf", "search/codebase"])
def test_a_denied_word_that_cannot_be_a_tool_is_an_error_and_an_allowed_one_is_left_out(value: str) -> None:
    assert read(disallowedTools=value)[1]
    tools, problems, notices = read(tools=value)
    assert not problems
    assert len(notices) == 1
    assert set(tools.allow or ()) <= {"Edit"}


def test_a_pattern_without_its_end_denies_the_whole_tool() -> None:
    tools, problems, notices = read(disallowedTools="Bash(rm -rf")
    assert (tools.deny, problems, len(notices)) == (("Bash",), [], 1)


def test_guards_that_are_not_applied_are_named_in_one_warning() -> None:
    _, problems, notices = read(
        hooks={"PreToolUse": []}, isolation="worktree", maxTurns=3, permissionMode="plan", color="red"
    )
    assert not problems
    assert len(notices) == 1
    assert all(word in notices[0] for word in ("hooks", "isolation", "maxTurns", "permissionMode"))
    assert "color" not in notices[0]


@pytest.mark.parametrize("values", [{"hooks": {}}, {"background": False}, {"isolation": "none"}, {"color": "red"}])
def test_what_restricts_nothing_is_not_named(values: dict[str, Any]) -> None:
    assert read(**values) == (Tools(), [], [])
