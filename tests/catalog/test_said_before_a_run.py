"""`validate` and `list` say what a run would: unknown tool words, model words, files that are passed over."""

from __future__ import annotations

import json
from typing import Any

import pytest


def findings(machine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(machine.run("validate", "--json").out)["findings"]
    return found


@pytest.mark.parametrize(
    "line", ["tools: [Reed]", "tools: {deny: [Reed]}", "disallowedTools: Reed", "allowedTools: Reed"]
)
def test_tool_words_of_no_program_are_found_with_file_and_line(machine, line):
    machine.put(".agents/agents/a/agent.md", f"---\nname: a\n{line}\n---\nA.\n")
    found = [one for one in findings(machine) if one["code"] == "tool-unknown"]
    assert [(one["level"], one["line"]) for one in found] == [("warning", 3)]
    assert all(word in found[0]["message"] for word in ("Reed", "pi", "claude"))
    assert found[0]["path"].endswith("agents/a/agent.md")


def test_a_model_word_of_one_program_is_a_note_for_the_others(machine):
    machine.put(".agents/agents/a/agent.md", "---\nname: a\nmodel: opus[1m]\n---\nA.\n")
    found = [one for one in findings(machine) if one["code"] == "model-omitted"]
    assert len(found) == 1
    assert found[0]["message"].startswith("pi, codex: ")
    assert (found[0]["line"], found[0]["key"]) == (3, "model")


def test_a_flat_agent_that_cannot_be_read_is_an_error_and_a_row(machine):
    machine.put(
        ".agents/agents/loose.md", "---\nname: loose\ndescription: Use when: x\n\n<example>\nuser: y\n---\nBody.\n"
    )
    assert [one["level"] for one in findings(machine) if one["path"].endswith("loose.md")] == ["error"]
    rows = json.loads(machine.run("list", "agents", "--json").out)["agents"]
    assert [(row["id"], row["flags"]) for row in rows] == [("loose", ["broken"])]


def test_a_flat_file_without_name_and_description_is_named(machine):
    machine.put(".agents/agents/notes.md", "Some notes.\n")
    machine.put(".agents/agents/README.md", "About these.\n")
    found = [one for one in findings(machine) if one["code"] == "agent-unnamed"]
    assert [(one["level"], one["path"].rpartition("/")[2]) for one in found] == [("note", "notes.md")]


def test_a_category_folder_of_agents_is_named_by_validate_and_list(machine):
    for name in ("one", "two"):
        machine.put(f".agents/agents/team/{name}.md", f"---\nname: {name}\ndescription: d\n---\nBody.\n")
    machine.agent("a")
    for command in ("validate", "list"):
        ended = machine.run(command)
        assert "agents/team has no agent.md; its 2 Markdown files" in ended.out + ended.err


def test_skills_below_a_hidden_folder_are_found(machine):
    machine.put(".agents/skills/.curated/x/SKILL.md", "---\nname: x\ndescription: d\n---\nDo.\n")
    machine.put(".agents/agents/a/agent.md", "---\nname: a\nskills: [x]\n---\nA.\n")
    assert not [one for one in findings(machine) if one["code"] == "skill-missing"]
    rows = json.loads(machine.run("list", "skills", "--json").out)["skills"]
    assert [row["id"] for row in rows] == [".curated/x"]
