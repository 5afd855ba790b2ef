"""OFTR-006.5 items 1 to 11 and 20 to 23: strategy, flags, prompts, arguments. Each test names its item."""

import json

import pytest
from attrs import evolve

from outfitter.adapters.claude.arguments import LISTS
from outfitter.adapters.claude.plan import ADAPTER, unsupported_elements
from outfitter.adapters.claude.state import knows, mode
from outfitter.model.composition import (
    Command,
    Controls,
    Fragment,
    ModelTarget,
    Part,
    Server,
    Subagent,
    Tools,
    VisibleSkill,
)
from outfitter.model.errors import CompositionFailed, UsageError
from tests.adapters.claude_case import (
    CWD,
    HELP,
    HOME,
    NATIVE,
    PROJECTION,
    body,
    codes,
    composition,
    content,
    facts,
    isolated,
    outcome,
    paths,
    plan,
    request,
    settings,
    skill,
    value,
    warnings,
)

CONTEXT = Fragment("context", "Shared rules.\n", CWD + "/.agents/agents.md", "project")
DOCS = Server("docs", {"type": "stdio", "command": "docs-mcp"}, CWD + "/.agents/mcp.json", "project")


def test_006_5_1_inherit_is_the_default_and_isolated_has_its_own_directory():
    inherited, alone = plan(composition(body())), isolated(composition(body()))
    assert "CLAUDE_CONFIG_DIR" not in inherited.launch.env_set
    assert alone.launch.env_set["CLAUDE_CONFIG_DIR"] == PROJECTION
    from_home = plan(composition(body()), given=settings(isolation="isolated"))
    assert from_home.launch.env_set["CLAUDE_CONFIG_DIR"] == PROJECTION


def test_006_5_1_the_exported_directory_is_the_physical_projection():
    """Also LNK-12: facts hold a physical temporary root."""
    assert isolated(composition()).exported == PROJECTION


def test_006_5_2_the_native_command_is_launched():
    assert ADAPTER.command == "claude"
    assert plan(composition()).launch.executable == "/usr/bin/claude"


def test_006_5_3_environment_of_the_tree_with_the_harness_block_over_it():
    made = composition(
        controls=Controls(environment={"A": "1", "B": "1"}),
        harness_controls={"claude": Controls(environment={"B": "2"}), "pi": Controls(environment={"B": "3"})},
    )
    assert dict(plan(made).launch.env_set) == {"A": "1", "B": "2"}


def test_006_5_4_arguments_of_the_tree_stand_after_ours_and_before_the_pass_through():
    made = composition(body(), controls=Controls(args=("--verbose",)), model=ModelTarget("native", "sonnet"))
    words = plan(made, request("-p", "fix it")).launch.arguments
    assert words[-3:] == ("--verbose", "-p", "fix it")
    assert words.index("--model") < words.index("--verbose")


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("tools", [Tools(), Tools(("read", "bash"), ("bash",)), Tools(None, ("bash",)), Tools(())])
@pytest.mark.parametrize("args", [(), ("--allowedTools", "Read"), ("--add-dir=/x",), ("--verbose",)])
def test_006_5_4_no_list_option_swallows_the_prompt(alone, tools, args):
    made = composition(body(), tools=tools, controls=Controls(args=args), servers=(DOCS,))
    words = plan(made, request("fix it", isolated=alone)).launch.arguments
    assert words[-1] == "fix it"
    last = next(word for word in reversed(words[:-1]) if word.startswith("-"))
    assert last.partition("=")[0] not in LISTS


def test_006_5_5_model_effort_and_plugin_directory_use_the_native_flags():
    made = plan(composition(body(), model=ModelTarget("native", "opus"), thinking="high"))
    assert (value(made, "--model"), value(made, "--effort"), value(made, "--plugin-dir")) == (
        "opus",
        "high",
        PROJECTION,
    )


def test_006_5_5_a_thinking_level_that_the_help_does_not_list_is_left_out_with_a_warning():
    made = plan(composition(thinking="minimal"))
    assert "--effort" not in made.launch.arguments
    assert warnings(made) == ["thinking-unknown"]
    assert "--effort" in plan(composition(thinking="xhigh")).launch.arguments


@pytest.mark.parametrize("word", ["pro", "flash", "Vendor Large 4 (Thinking)"])
def test_006_5_5_a_model_word_of_another_tool_is_left_out_v16(word):
    made = plan(composition(model=ModelTarget("native", word)))
    assert "--model" not in made.launch.arguments
    assert warnings(made) == ["model-omitted"]


def test_006_5_6_prompts_are_files_never_text():
    made = plan(composition(Fragment("system", "Be brief.", "/x/system-prompt.md", "project"), body()))
    assert content(made, value(made, "--system-prompt-file").removeprefix(PROJECTION + "/")) == "Be brief.\n"
    assert content(made, value(made, "--append-system-prompt-file").removeprefix(PROJECTION + "/")) == "You review.\n"
    assert not {"--system-prompt", "--append-system-prompt"} & set(made.launch.arguments)


def test_006_5_6_nothing_composed_means_no_prompt_flag():
    assert not any("prompt" in word for word in plan(composition()).launch.arguments)


def test_006_5_7_one_append_file_in_composition_order():
    fragments = (
        CONTEXT,
        Fragment("append", "\nFirst.\n\n", "/a", "project"),
        body("Last."),
        Fragment("run", "", "/r", ""),
    )
    made = plan(composition(*fragments))
    assert content(made, "append-system-prompt.md") == "Shared rules.\n\nFirst.\n\nLast.\n"


@pytest.mark.parametrize("form", [("--append-system-prompt-file", "more.md"), ("--append-system-prompt-file=more.md",)])
def test_006_5_7_a_pass_through_append_file_is_folded_in(form):
    known = facts(files={CWD + "/more.md": "\ufeffMore.\n".encode()})
    made = plan(composition(body()), request(*form, "-p", "x"), known=known)
    assert content(made, "append-system-prompt.md") == "You review.\n\nMore.\n"
    assert made.launch.arguments[-2:] == ("-p", "x")
    assert sum("append-system-prompt" in word for word in made.launch.arguments) == 2  # the option and its file's name


def test_006_5_7_the_text_form_is_folded_in_too_so_that_none_is_lost():
    made = plan(composition(body()), request("--append-system-prompt", "Say so.", "--", "--append-system-prompt"))
    assert content(made, "append-system-prompt.md") == "You review.\n\nSay so.\n"
    assert made.launch.arguments[-2:] == ("--", "--append-system-prompt")


def test_006_5_7_with_nothing_composed_the_words_pass_as_they_are():
    words = ("--append-system-prompt-file", "gone.md", "hi")
    assert plan(composition(), request(*words)).launch.arguments[-3:] == words


def test_006_5_7_a_missing_pass_through_file_is_one_clear_refusal():
    error = outcome(composition(body()), request("--append-system-prompt-file", "gone.md")).failure()
    assert isinstance(error, UsageError)
    assert "gone.md" in error.message


def test_006_5_7_the_trees_own_arguments_cannot_replace_the_merged_file():
    made = composition(body(), controls=Controls(args=("--append-system-prompt-file", "x.md")))
    error = outcome(made).failure()
    assert isinstance(error, CompositionFailed)
    assert "--append-system-prompt-file" in error.message
    text = composition(body(), controls=Controls(args=("--append-system-prompt", "Too.")))
    assert content(plan(text), "append-system-prompt.md") == "You review.\n\nToo.\n"


def test_a_pass_through_system_prompt_wins_whole_and_is_said():
    made = plan(
        composition(Fragment("system", "Be brief.", "/x", "project")), request("--system-prompt", "Mine.", "-p", "x")
    )
    assert "--system-prompt-file" not in made.launch.arguments
    assert warnings(made) == ["system-prompt-replaced"]


def test_006_5_8_a_session_directory_takes_the_place_of_the_native_projects():
    made = isolated(composition(controls=Controls(session_directory="sessions")))
    row = next(row for row in made.strategies.declared if row.path.key == "projects/")
    assert (row.strategy, row.path.native) == ("symlink", CWD + "/sessions/")
    assert not [bridge for bridge in made.bridges if bridge.rule == "sessions"]
    assert not [seed for seed in made.seeds if seed.path.startswith("projects/")]


@pytest.mark.parametrize(("place", "where"), [("~/s", HOME + "/s/"), ("/s", "/s/")])
def test_006_5_8_the_harness_block_beats_the_generic_control(place, where):
    made = composition(
        controls=Controls(session_directory="/generic"), harness_controls={"claude": Controls(session_directory=place)}
    )
    row = next(row for row in isolated(made).strategies.declared if row.path.key == "projects/")
    assert row.path.native == where


def test_006_5_8_a_strategy_that_throws_sessions_away_is_not_defeated_by_a_tree():
    made = isolated(
        composition(controls=Controls(session_directory="s")),
        given=settings(state_persistence={"projects/": "discard"}),
    )
    assert warnings(made) == ["session-directory-unused"]
    assert not [seed for seed in made.seeds if seed.path.startswith("projects/")]


def test_006_5_9_controls_that_cannot_be_translated_are_warned_about_one_by_one():
    made = composition(
        controls=Controls(session_directory="s", deepwork_jobs=("job",), extra={"theme": "dark"}),
        harness_controls={"claude": Controls(extra={"own": 1}), "pi": Controls(extra={"other": 1})},
    )
    messages = [notice.message for notice in plan(made).notices if notice.code == "control-unsupported"]
    assert [message.rpartition("controls.")[2] for message in messages] == [
        "theme",
        "own",
        "deepwork",
        "session_directory",
    ]
    alone = [notice.message for notice in isolated(made).notices if notice.code == "control-unsupported"]
    assert not any("session_directory" in message for message in alone)


def test_006_5_10_a_prompt_template_is_unsupported_and_passed_nowhere():
    made = composition(prompt_template=Fragment("append", "T", "/t", "project"), plugins=("p",), extensions=("npm:x",))
    assert unsupported_elements(made) == ("plugins", "prompt_template")
    assert not any("template" in word for word in plan(made).launch.arguments)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("servers", [(), (DOCS,)])
def test_006_5_11_the_server_file_is_always_passed_and_strict_when_isolated(alone, servers):
    made = plan(composition(servers=servers), request(isolated=alone))
    assert value(made, "--mcp-config") == PROJECTION + "/mcp.json"
    assert list(json.loads(content(made, "mcp.json"))["mcpServers"]) == [server.id for server in servers]
    assert ("--strict-mcp-config" in made.launch.arguments) is alone


def test_006_5_11_a_servers_own_tool_list_is_a_warning():
    limited = DOCS._replace(definition={**DOCS.definition, "available_tools": ["a"]})
    assert warnings(plan(composition(servers=(limited,)))) == ["server-limit"]


def test_006_5_20_an_inherited_run_is_a_plugin_named_for_the_agent():
    made = plan(composition(body(), agent="team.Code_review"))
    assert json.loads(content(made, ".claude-plugin/plugin.json"))["name"] == "team--ode-review"
    assert value(made, "--plugin-dir") == PROJECTION
    assert ".claude-plugin/plugin.json" not in paths(isolated(composition(body())))


def test_006_5_20_skills_commands_and_subagents_are_parts_of_it():
    helper = Subagent("helper", "Helps", "You help.", Tools(), None, "", (), "/x", "project")
    made = plan(
        composition(
            skills=(skill("one"),), commands=(Command("sub/fix", "Fix.", "/c", "project"),), subagents=(helper,)
        )
    )
    assert {"skills/one/SKILL.md", "commands/sub/fix.md", "agents/helper.md"} <= paths(made)


def test_006_5_20_run_13_the_users_own_directory_variable_is_neither_set_nor_unset():
    own = evolve(request().ambient, env={"HOME": HOME, "CLAUDE_CONFIG_DIR": "/own"})
    made = plan(composition(body()), evolve(request(), ambient=own), known=facts(native="/own"))
    assert "CLAUDE_CONFIG_DIR" not in made.launch.env_set
    assert made.launch.env_unset == ()
    assert (made.seeds, made.bridges) == ((), ())


def test_006_5_21_an_inherited_run_seeds_nothing_copies_nothing_back_and_does_not_look():
    made = plan(composition(body()))
    assert (made.seeds, made.bridges, made.strategies.declared) == ((), (), ())
    assert ".claude.json" not in paths(made)
    wanted = ADAPTER.more_facts(request(), settings(), facts())
    assert not [path for path in wanted.files if path.startswith(HOME)]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (HELP.replace("--plugin-dir", "--plugins"), ("--plugin-dir",)),
        (HELP.replace("--plugin-dir", "--plugin-dir-no-mcp"), ("--plugin-dir",)),
        (HELP.replace("--mcp-config", "--mcp"), ("--mcp-config",)),
        ("", ("--plugin-dir", "--mcp-config")),
    ],
)
def test_006_5_22_without_the_flags_the_run_is_isolated_and_says_what_was_missing(text, missing):
    chosen = mode(request(), settings(), text)
    assert chosen == (True, missing)
    made = plan(composition(body()), known=facts(help=text))
    assert made.launch.env_set["CLAUDE_CONFIG_DIR"] == PROJECTION
    (notice,) = [notice for notice in made.notices if notice.code == "claude-isolated-fallback"]
    assert notice.level == "warning"
    assert all(flag in notice.message for flag in missing)


def test_006_5_22_an_isolated_run_asks_for_none_of_it():
    assert mode(request(isolated=True), settings(), "") == (True, ())


def test_006_5_22_a_flag_is_known_only_whole():
    assert knows(HELP, "--plugin-dir")
    assert not knows(HELP, "--plugin")


def test_006_5_23_isolation_comes_from_the_filtered_settings_alone():
    assert not mode(request(), settings(), HELP).isolated
    assert not mode(request(), settings(isolation="inherit"), HELP).isolated
    assert mode(request(), settings(isolation="isolated"), HELP).isolated


def test_a_continued_session_gets_the_new_prompt_where_the_version_can():
    assert value(plan(composition(body())), "--system-prompt-snapshot") == "off"
    old = plan(composition(body()), known=facts(help=HELP.replace("--system-prompt-snapshot", "--x")))
    assert "--system-prompt-snapshot" not in old.launch.arguments


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        ({"settings.json": "error"}, ["settings.json: error"]),
        ({"claude": {"projects/": "discard"}}, ["projects/: discard"]),
        ({"claude": {"sessions/": "warn"}}, ["sessions/: warn"]),
        ({"unknown": "prompt", "plugins/": "warn"}, ["plugins/: warn", "unknown: prompt"]),
        ({"settings.json": "symlink", "unknown": "discard"}, []),
        ({"todos/": "error"}, ["todos/: error"]),
        ({"sessions/": "discard", "auth.json": "error", "pi": {"settings.json": "error"}}, []),
        ({"settings.json": "error", "claude": {"settings.json": "symlink"}}, []),
    ],
)
def test_inherited_policies_that_cannot_be_held_are_one_warning(entries, named):
    made = plan(composition(), given=settings(state_persistence=entries))
    found = [notice for notice in made.notices if notice.code == "state-not-enforced"]
    assert len(found) == bool(named)
    for notice in found:
        assert notice.level == ("warning" if "error" in notice.message else "notice")
        assert all(name in notice.message for name in named)
        assert "--isolated" in notice.hint
    assert "state-not-enforced" not in codes(isolated(composition(), given=settings(state_persistence=entries)))


@pytest.mark.parametrize("raw", [b"Shared rules.\n", b"\xef\xbb\xbf\r\nShared rules.\r\n"])
def test_v1_the_same_words_at_the_projects_root_are_not_appended_twice(raw):
    known = facts(files={CWD + "/CLAUDE.md": raw})
    made = plan(composition(CONTEXT, body()), known=known)
    assert content(made, "append-system-prompt.md") == "You review.\n"
    assert CWD + "/CLAUDE.md" in made.native_reads
    assert codes(made) == []
    assert codes(plan(composition(CONTEXT, body()), evolve(request(), dry_run=True), known=known)) == ["context-native"]
    assert content(isolated(composition(CONTEXT, body()), known=known), "append-system-prompt.md").startswith("Shared")


@pytest.mark.parametrize(
    ("own", "dropped"),
    [(None, True), (b"Other.\n", False), (b"See @AGENTS.md\n", True)],
    ids=["alone", "other", "named"],
)
def test_v1_agents_md_counts_only_where_the_program_reads_it(own, dropped):
    files = {CWD + "/AGENTS.md": b"Shared rules.\n", CWD + "/CLAUDE.md": own}
    made = plan(composition(CONTEXT, body()), known=facts(files=files))
    assert ("Shared" not in content(made, "append-system-prompt.md")) is dropped


def test_v3_a_skill_that_claude_skills_offers_already_is_not_brought_again():
    linked = {CWD + "/.claude/skills/one": CWD + "/.agents/skills/one"}
    made = plan(composition(skills=(skill("one"), skill("two"))), known=facts(real=linked))
    assert "skills/one/SKILL.md" not in paths(made)
    assert "skills/two/SKILL.md" in paths(made)
    assert CWD + "/.claude/skills/one" in made.native_reads
    assert "skills/one/SKILL.md" in paths(isolated(composition(skills=(skill("one"),)), known=facts(real=linked)))


def test_v3_a_skill_with_files_added_by_the_loadout_is_brought_and_its_native_copy_switched_off():
    linked = {CWD + "/.claude/skills/one": CWD + "/.agents/skills/one"}
    one = skill("one")._replace(extras=(Part("/r.md", "references/r.md"),))
    made = plan(composition(skills=(one,)), known=facts(real=linked))
    assert {"skills/one/SKILL.md", "skills/one/references/r.md"} <= paths(made)
    assert json.loads(content(made, "launch-settings.json")) == {"skillOverrides": {"one": "off"}}
    assert "launch-settings.json" not in paths(isolated(composition(skills=(one,)), known=facts(real=linked)))


def test_v3_another_folder_of_that_name_does_not_count():
    other = {CWD + "/.claude/skills/one": CWD + "/.claude/skills/one"}
    assert "skills/one/SKILL.md" in paths(plan(composition(skills=(skill("one"),)), known=facts(real=other)))


def test_v3_skills_of_the_tree_that_are_not_selected_are_switched_off():
    linked = {
        CWD + "/.claude/skills/stray": CWD + "/.agents/skills/stray",
        NATIVE + "/skills/own": NATIVE + "/skills/own",
    }
    visible = VisibleSkill(
        "stray", CWD + "/.agents/skills/stray/SKILL.md", CWD + "/.agents/skills/stray", "project", False
    )
    made = plan(composition(visible_skills=(visible,)), known=facts(real=linked))
    assert json.loads(content(made, "launch-settings.json")) == {"skillOverrides": {"stray": "off"}}


@pytest.mark.parametrize("alone", [False, True])
def test_v3_servers_of_the_tree_that_the_program_reads_by_itself_are_switched_off_if_not_selected(alone):
    place, tree = CWD + "/.mcp.json", CWD + "/.agents/mcp.json"
    raw = json.dumps({"mcpServers": {"docs": {}, "web": {}}}).encode()
    linked = facts(files={place: raw}, real={place: tree, tree: tree})
    made = plan(composition(servers=(DOCS,)), request(isolated=alone), known=linked)
    assert (place in made.native_reads) is not alone
    if alone:
        assert "launch-settings.json" not in paths(made)
    else:
        assert json.loads(content(made, "launch-settings.json")) == {"disabledMcpjsonServers": ["web"]}
    own = facts(files={place: raw}, real={place: place, tree: tree})
    assert "launch-settings.json" not in paths(plan(composition(servers=(DOCS,)), known=own))


def test_harness_defaults_become_the_generated_settings_under_the_users_own():
    given = settings(harness_defaults={"claude": {"theme": "dark", "permissions": {"deny": ["A"], "ask": ["B"]}}})
    made = plan(composition(), request("--settings", '{"permissions": {"deny": ["C"]}}', "hi"), given)
    merged = json.loads(content(made, "launch-settings.json"))
    assert merged == {"theme": "dark", "permissions": {"deny": ["C"], "ask": ["B"]}}
    assert made.launch.arguments.count("--settings") == 1
    assert value(made, "--settings") == PROJECTION + "/launch-settings.json"


def test_without_settings_of_ours_a_pass_through_one_stays_as_it_is():
    assert plan(composition(), request("--settings", "x.json")).launch.arguments[-2:] == ("--settings", "x.json")


def test_the_keychain_is_named_on_macos_where_no_login_can_be_reached():
    def told(env, names):
        ambient = evolve(request().ambient, platform="darwin", env={"HOME": HOME, **env})
        asked = evolve(request(isolated=True), ambient=ambient)
        return "claude-login-keychain" in codes(plan(composition(), asked, known=facts(listings={NATIVE: names})))

    assert told({}, ())
    assert not told({"ANTHROPIC_API_KEY": "k"}, ())
    assert not told({}, (".credentials.json",))
