"""Tool limits, and the files of skills, commands and subagents (spec/40, spec/10, "Tools")."""

import json

import pytest
import yaml

from outfitter.model.composition import Command, Part, Server, Subagent, Tools
from tests.adapters.claude_case import PROJECTION, composition, content, isolated, paths, plan, skill, value, warnings

DOCS = Server("docs", {"type": "stdio", "command": "d"}, "/m", "project")
WEB = Server("my web", {"type": "http", "url": "http://x"}, "/m", "project")


def flags(tools, *servers, **more):
    made = plan(composition(tools=tools, servers=servers, **more))
    words = made.launch.arguments
    shown = tuple(words[words.index(name) + 1] if name in words else None for name in ("--tools", "--disallowedTools"))
    assert "--allowedTools" not in words
    return (*shown, warnings(made))


def test_no_limits_no_flags():
    assert flags(Tools()) == (None, None, [])


def test_deny_is_passed_in_native_spelling():
    assert flags(Tools(None, ("bash", "mcp__docs__write"))) == (None, "Bash,mcp__docs__write", [])


def test_who_may_not_edit_may_not_edit_notebooks_either():
    assert flags(Tools(None, ("edit", "write")))[1] == "Edit,Write,NotebookEdit"
    fields, _ = front(plan(composition(subagents=(subagent(tools=Tools(None, ("edit",))),))))
    assert fields["disallowedTools"] == ["Edit", "NotebookEdit"]


def test_an_allow_list_emptied_by_deny_is_no_tools_at_all():
    assert flags(Tools(("bash",), ("Bash",)))[0] == ""
    assert flags(Tools(()))[0] == ""


def test_names_that_the_table_lacks_are_passed_on_as_written_with_one_warning():
    made = Tools(("Read", "NewTool", "OtherTool"), ("OldTool",))
    assert flags(made) == ("Read,NewTool,OtherTool", "OldTool,mcp__*", ["tool-unknown"])


def test_an_allowed_word_with_a_pattern_is_left_out_and_named():
    assert flags(Tools(("Read", "Bash(git log:*)"))) == ("Read", "mcp__*", ["tool-pattern"])


def test_an_allow_list_shuts_out_what_it_does_not_name_of_servers():
    assert flags(Tools(("read",))) == ("Read", "mcp__*", [])
    assert flags(Tools(("read",)), DOCS) == ("Read", "mcp__*", ["tools-exclude-server"])
    assert flags(Tools(("read", "mcp__docs")), DOCS, WEB) == ("Read", "mcp__my_web", ["tools-exclude-server"])


def test_mcp_in_an_allow_list_is_every_selected_server():
    assert flags(Tools(("read", "mcp")), DOCS, WEB) == ("Read", None, [])


def test_the_users_own_servers_are_named_where_an_inherited_run_cannot_shut_them_out():
    made = composition(tools=Tools(("read", "mcp")), servers=(DOCS,))
    assert "tools-own-servers" in [notice.code for notice in plan(made).notices]
    assert "tools-own-servers" not in [notice.code for notice in isolated(made).notices]


def test_a_single_tool_of_a_server_cannot_be_allowed_alone_and_is_never_widened():
    assert flags(Tools(("read", "mcp__docs__find")), DOCS) == ("Read", "mcp__docs", ["tools-single-mcp"])


def test_skills_and_subagents_stay_reachable_under_an_allow_list():
    helper = Subagent("h", "", "", Tools(), None, "", (), "/x", "project")
    assert flags(Tools(("read",)), skills=(skill("one"),))[0] == "Read,Skill"
    assert flags(Tools(("read",)), subagents=(helper,))[0] == "Read,Agent"
    assert flags(Tools(("read",), ("Skill",)), skills=(skill("one"),))[0] == "Read"
    assert flags(Tools(()), skills=(skill("one"),))[0] == ""


def test_argument_patterns_are_denied_as_patterns():
    assert flags(Tools(None, ("bash(rm:*)",)))[1] == "Bash(rm:*)"


def front(made, name="h"):
    text = content(made, f"agents/{name}.md")
    return yaml.safe_load(text.split("---\n")[1]), text.split("---\n", 2)[2]


def subagent(**more):
    plain = Subagent("h", 'Helps: with "colons"\nand lines', "You help.\n", Tools(), None, "", (), "/x", "project")
    return plain._replace(**more)


def test_a_subagent_has_name_description_and_body():
    fields, text = front(plan(composition(subagents=(subagent(),))))
    assert fields == {"name": "h", "description": 'Helps: with "colons" and lines'}
    assert text.strip() == "You help."


def test_a_subagent_without_a_description_gets_one_for_the_program_wants_it():
    assert front(plan(composition(subagents=(subagent(description=""),))))[0]["description"]


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (Tools(("read", "bash"), ("bash",)), {"tools": ["Read"], "disallowedTools": ["Bash"]}),
        (Tools(("bash",), ("bash",)), {"tools": [], "disallowedTools": ["Bash"]}),
        (Tools(()), {"tools": []}),
        (Tools(None, ("bash",)), {"disallowedTools": ["Bash"]}),
        (Tools(("read", "mcp__docs__find")), {"tools": ["Read", "mcp__docs__find"]}),
    ],
)
def test_a_subagents_limits_are_never_wider_than_written(tools, expected):
    fields, _ = front(plan(composition(subagents=(subagent(tools=tools),), servers=(DOCS,))))
    assert {key: fields[key] for key in ("tools", "disallowedTools") if key in fields} == expected


def test_a_subagents_denied_pattern_denies_the_whole_tool():
    made = plan(composition(subagents=(subagent(tools=Tools(("bash", "read"), ("bash(rm:*)",))),)))
    assert front(made)[0]["tools"] == ["Read"]
    assert front(made)[0]["disallowedTools"] == ["Bash"]
    assert warnings(made) == ["tool-pattern"]


def test_a_subagents_thinking_and_skills_are_kept():
    fields, _ = front(isolated(composition(subagents=(subagent(thinking="high", skills=("one", "group/two")),))))
    assert (fields["effort"], fields["skills"]) == ("high", ["one", "group-two"])


def test_a_skill_that_only_a_subagent_has_is_put_before_it_and_not_offered_to_its_leader():
    own = skill("craft")._replace(files=(Part("/s/run.sh", "run.sh", True),))
    made = plan(composition(subagents=(subagent(skills=("one", "craft"), resolved=(own,)),), skills=(skill("one"),)))
    fields, text = front(made)
    assert fields["skills"] == ["one"]
    assert "Skill: craft" in text
    assert f"{PROJECTION}/subagent-skills/craft" in text
    assert text.endswith("body\n")
    assert {"skills/one/SKILL.md", "subagent-skills/craft/SKILL.md", "subagent-skills/craft/run.sh"} <= paths(made)
    assert "skills/craft/SKILL.md" not in paths(made)


def test_a_skills_files_are_copied_with_their_execute_bits():
    one = skill("one")._replace(
        files=(Part("/s/run.sh", "scripts/run.sh", True),), extras=(Part("/r.md", "references/r.md"),)
    )
    made = plan(composition(skills=(one,)))
    assert {(item.source, item.path, item.executable) for item in made.copied} == {
        ("/s/run.sh", "skills/one/scripts/run.sh", True),
        ("/r.md", "skills/one/references/r.md", False),
    }


def test_parts_lie_in_the_configuration_directory_when_isolated():
    made = isolated(composition(skills=(skill("one"),), commands=(Command("fix", "Fix.", "/c", "project"),)))
    assert {"skills/one/SKILL.md", "commands/fix.md"} <= paths(made)


def test_the_plugin_manifest_is_json_whatever_the_description():
    text = content(plan(composition(description='a "b"\n\u2028')), ".claude-plugin/plugin.json")
    assert json.loads(text)["description"] == 'a "b"\n\u2028'


def test_a_servers_working_directory_goes_into_its_command():
    there = DOCS._replace(
        definition={"type": "stdio", "command": "d", "args": ["-x", "${A}"], "cwd": "/s", "env": {"E": "1"}}
    )
    (entry,) = json.loads(content(plan(composition(servers=(there,))), "mcp.json"))["mcpServers"].values()
    assert (entry["command"], entry["args"][-5:]) == ("/bin/sh", ["sh", "/s", "d", "-x", "${A}"])
    assert entry["env"] == {"E": "1"}
    assert "cwd" not in entry


def test_the_server_file_holds_the_normal_form_as_it_is():
    made = plan(composition(servers=(DOCS, WEB)))
    assert json.loads(content(made, "mcp.json")) == {"mcpServers": {"docs": DOCS.definition, "my web": WEB.definition}}
    assert value(made, "--mcp-config").endswith("/mcp.json")
