"""Inheritance, provenance, `config.json`, defaults and controls (spec/10, "Front matter")."""

import pytest

from tests.catalog.world import summary


def test_a_diamond_contributes_once_parents_first_left_to_right(world):
    world.agent("top", "extensions: [t]", "Top.")
    world.agent("left", "inherits: top\nextensions: [l, t]\nmodel: left-model", "Left.")
    world.agent("right", "inherits: [top]\nextensions: [r]\nmodel: right-model\nthinking: low", "Right.")
    world.agent("a", "inherits: [left, right]\nextensions: [a]", "Own.")
    made = world.compose("a")
    assert made.chain == ("top", "left", "right", "a")
    assert [f.content for f in made.fragments] == ["Top.\n", "Left.\n", "Right.\n", "Own.\n"]
    assert made.extensions == ("t", "l", "r", "a")
    assert (made.model.model, made.thinking) == ("right-model", "low")


def test_a_cycle_is_an_error_that_shows_its_chain(world):
    world.agent("a", "inherits: b")
    world.agent("b", "inherits: [c]")
    world.agent("c", "name: c\ninherits:\n  - a")
    error = world.compose("a")
    (problem,) = error.problems
    assert "circular (a → b → c → a)" in problem.message
    assert (problem.path, problem.key, problem.at.line) == (
        str(world.project / ".agents/agents/c/agent.md"),
        "inherits.0",
        4,
    )


def test_an_agent_that_inherits_itself(world):
    world.agent("a", "inherits: a")
    assert "(a → a)" in world.compose("a").problems[0].message


def test_a_missing_parent_shows_the_chain_and_the_nearest_name(world):
    world.agent("a", "inherits: middle")
    world.agent("middle", "inherits: reviewr")
    world.agent("reviewer")
    (problem,) = world.compose("a").problems
    assert "parent 'reviewr' does not exist (a → middle → reviewr)" in problem.message
    assert "reviewer" in problem.hint
    assert problem.path.endswith("agents/middle/agent.md")


def test_a_parent_that_is_switched_off(world):
    world.agent("a", "inherits: base")
    world.agent("base", "enabled: false")
    assert "switched off" in world.compose("a").problems[0].message


def test_a_parents_slug_resolves_in_the_parents_namespace(world):
    world.agent("base", "skills: [x]\nmcp: [db]")
    world.agent("a", "inherits: base\nskills: [x, y]")
    world.skill("x", "description: of base", under=".agents/agents/base/skills")
    world.skill("y", "description: hidden", under=".agents/agents/base/skills")
    world.skill("x", "description: of a", under=".agents/agents/a/skills")
    world.skill("x", "description: shared")
    world.put(".agents/mcp.json", '{"mcpServers": {"db": {"command": "tree"}}}')
    world.put(".agents/agents/base/mcp.json", '{"mcpServers": {"db": {"command": "base"}}}')
    world.put(".agents/agents/a/mcp.json", '{"mcpServers": {"db": {"command": "own"}}}')
    made = world.compose("a")
    assert [(skill.id, skill.description, skill.agent) for skill in made.skills] == [
        ("base-x", "of base", "base"),
        ("x", "of a", "a"),
    ]
    assert made.servers[0].definition["command"] == "base"
    assert [n.code for n in made.notices] == ["skill-missing"]
    assert "'y'" in made.notices[0].message


def test_the_nearest_agent_that_selects_a_server_decides_it(world):
    world.agent("base", "mcp: [db]")
    world.agent("a", "inherits: base\nmcp: [db]")
    world.put(".agents/agents/base/mcp.json", '{"mcpServers": {"db": {"command": "base"}}}')
    world.put(".agents/agents/a/mcp.json", '{"mcpServers": {"db": {"command": "own"}}}')
    assert world.compose("a").servers[0].definition["command"] == "own"


def test_private_skills_of_lower_layers_come_before_shared_ones(world):
    world.agent("a", "skills: [x]")
    world.skill("x", "description: shared")
    world.skill("x", "description: private", under="../home/.agents/agents/a/skills")
    assert world.compose("a").skills[0].description == "private"


def test_the_winning_definition_replaces_the_lower_ones_whole(world):
    world.agent("a", "thinking: high", "Project.")
    world.agent("a", "model: home-model", "Home.", under="../home/.agents")
    made = world.compose("a")
    assert (made.model, made.thinking, made.fragments[0].content) == (None, "high", "Project.\n")


def test_config_json_merges_by_key_and_never_over_what_stands_above_it(world):
    world.agent("a", "thinking: high\ncontrols: {environment: {X: front, Y: front}}", "Project.")
    world.put(
        ".agents/agents/a/config.json",
        '{"controls": {"environment": {"X": "config"}}, "model": null, "unknown": {"k": 1}}',
    )
    world.put("../home/.agents/agents/a/config.json", '{"thinking": "low", "model": "home-model"}')
    made = world.compose("a")
    assert (made.thinking, made.model.model) == ("high", "home-model")
    assert made.controls.environment == {"X": "config", "Y": "front"}


def test_a_higher_layers_config_json_decides_over_a_lower_definition(world):
    world.agent("a", "thinking: high", "Home.", under="../home/.agents")
    world.put(".agents/agents/a/config.json", '{"thinking": "low"}')
    assert world.compose("a").thinking == "low"


def test_agent_defaults_stand_before_every_agents_own(world):
    world.put(".agents/settings.yml", "agent_defaults:\n  skills: [base]\n  extensions: [e0]\n  mcp: [tool]\n")
    world.put(".agents/mcp.json", '{"mcpServers": {"tool": {"command": "t"}}}')
    world.agent("a", "skills: [own]\nextensions: [e1]\nsubagents: [sub]")
    world.agent("sub", "skills: [own]")
    world.skill("base")
    world.skill("own")
    world.skill("base", "description: private", under=".agents/agents/a/skills")
    made = world.compose("a")
    assert [(skill.id, skill.description) for skill in made.skills] == [("base", "d"), ("own", "d")]
    assert made.extensions == ("e0", "e1")
    assert [server.id for server in made.servers] == ["tool"]
    assert made.subagents[0].skills == ("base", "own")


def test_controls_merge_by_block(world):
    world.agent(
        "base",
        "controls:\n  environment: {A: base, B: base}\n  args: [--one]\n  session_directory: low\n"
        "  pi: {environment: {P: base}, allow_external_deepwork_jobs: true}",
    )
    world.agent(
        "a",
        "inherits: base\ncontrols:\n  environment: {B: own, C: 1, D: true, E: null}\n  args: [--two]\n"
        "  pi: {args: [-x]}\n  claude: {session_directory: there}",
    )
    made = world.compose("a")
    assert made.controls.environment == {"A": "base", "B": "own", "C": "1", "D": "true"}
    assert made.controls.args == ("--one", "--two")
    assert made.controls.session_directory == "low"
    assert made.harness_controls["pi"].environment == {"P": "base"}
    assert made.harness_controls["pi"].args == ("-x",)
    assert made.harness_controls["pi"].extra == {"allow_external_deepwork_jobs": True}
    assert made.harness_controls["claude"].session_directory == "there"


@pytest.mark.parametrize("name", ["PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HOME"])
@pytest.mark.parametrize("block", ["environment", "claude: {environment"])
def test_variables_that_decide_where_state_is_are_refused(world, name, block):
    world.agent("a", f"controls: {{{block}: {{{name}: /tmp}}{'}' if ':' in block else ''}}}")
    (problem,) = world.compose("a").problems
    assert name in problem.key
    assert problem.at.line == 2


@pytest.mark.parametrize(
    ("front", "key"),
    [
        ("skills: {x: 1}", "skills"),
        ("skills: [[a]]", "skills.0"),
        ("inherits: {a: 1}", "inherits"),
        ("label: [a]", "label"),
        ("system_prompt: text.md", "system_prompt"),
        ("system_prompt: {file: a, repo_file: b}", "system_prompt"),
        ("append_system_prompt: [{file: 1}]", "append_system_prompt.0"),
        ("controls: [a]", "controls"),
        ("controls: {args: [{a: 1}]}", "controls.args.0"),
        ("controls: {environment: {A=B: x}}", "controls.environment.A=B"),
        ("extensions: [1]", "extensions.0"),
        ("tools: {deny: [-x]}", "tools.deny"),
    ],
)
def test_a_value_of_the_wrong_shape_names_its_place(world, front, key):
    world.agent("a", front)
    problems = world.compose("a").problems
    assert key in [problem.key for problem in problems]
    assert all(problem.path.endswith("agents/a/agent.md") and problem.at.line == 2 for problem in problems)


def test_tools_unite_and_deny_wins_later(world):
    world.agent("base", "tools: {allow: [read, edit], deny: [bash]}")
    world.agent("a", "inherits: base\ntools: {allow: [grep, read], deny: [edit]}")
    got = summary(world.compose("a"))
    assert (got["allow"], got["deny"]) == (["read", "edit", "grep"], ["bash", "edit"])


def test_subagents_are_small_identities_of_their_own(world):
    world.put(".agents/agents.md", "Shared.")
    world.agent("a", "subagents: [sub, gone, off]\nskills: [mine, both]")
    world.agent("base", "skills: [both]\ntools: [read]", "Base body.")
    world.agent("sub", "inherits: base\ndescription: helps\nskills: [theirs]\nmodel: small\nthinking: low", "Sub body.")
    world.agent("off", "enabled: no")
    for name in ("mine", "both", "theirs"):
        world.skill(name)
    made = world.compose("a")
    (sub,) = made.subagents
    assert (sub.id, sub.description, sub.thinking, sub.model.model) == ("sub", "helps", "low", "small")
    assert sub.body == "Base body.\n\nSub body.\n"
    assert sub.skills == ("both", "theirs")
    assert [skill.id for skill in sub.resolved] == ["theirs"]
    assert sub.tools.allow == ("read",)
    assert [skill.id for skill in made.skills] == ["mine", "both"]
    assert sorted(n.code for n in made.notices) == ["subagent-missing", "subagent-off"]


def test_no_agent_named(world):
    world.agent("one")
    world.agent("two")
    error = world.compose(None)
    assert "no default_agent" in error.message
    assert "one, two" in error.hint


def test_the_default_agent(world):
    world.agent("one")
    world.put(".agents/settings.yml", "default_agent: one\n")
    assert world.compose(None).agent == "one"
    world.put(".agents/settings.yml", "default_agent: oen\n")
    error = world.compose(None)
    assert "settings.yml:1" in error.message
    assert "one" in error.hint


def test_a_home_without_any_tree(world):
    error = world.compose(None)
    assert "outfitter setup" in error.hint
    assert "outfitter setup" in world.compose("x").hint


def test_switched_off_agents_are_not_run(world):
    world.agent("a", "enabled: 'off'")
    assert "switched off" in world.compose("a").message


def test_an_agent_of_the_home_is_found_from_anywhere(world):
    world.agent("a", under="../home/.agents")
    assert world.compose("a").fragments[0].layer == "home"


def test_an_unsynchronized_source_is_a_warning_until_something_is_missed(world):
    world.put(".agents/settings.yml", "sources: [{github: acme/agents}]\n")
    world.agent("a")
    made = world.compose("a")
    assert [(n.code, n.hint) for n in made.notices] == [("source-unsynced", "outfitter sync")]
    world.agent("b", "skills: [far]")
    error = world.compose("b")
    assert "outfitter sync" in error.hint
    assert "far" in error.message
    assert "outfitter sync" in world.compose("nowhere").hint


def test_many_unsynchronized_sources_are_one_short_line(world):
    """A few are named and the rest counted, with the command; a near agent is suggested all the same."""
    entries = ", ".join(f"{{github: acme/catalog-{number}, path: deep/in/it}}" for number in range(60))
    world.put(".agents/settings.yml", f"sources: [{entries}]\n")
    world.agent("reviewer")
    (notice,) = world.compose("reviewer").notices
    assert notice.message.startswith("60 sources were never fetched and are left out: acme/catalog-0#deep/in/it, ")
    assert notice.message.endswith("and 56 more")
    error = world.compose("revewer")
    assert error.hint.startswith("did you mean reviewer? else outfitter sync (60 sources were never fetched")
    for hint in (error.hint, world.compose("zzz").hint):
        assert len(hint) < 250
        assert hint.endswith("and 56 more)")


def test_an_unsynchronized_remote_setting_is_an_error(world):
    world.put(".agents/settings.yml", "remote_settings: [{github: acme/policy, path: settings.yml}]\n")
    world.agent("a")
    (problem,) = world.compose("a").problems
    assert problem.hint == "outfitter sync"
    assert "acme/policy" in problem.message


def test_cached_sources_and_remote_settings_are_read(world):
    from outfitter.sync.sources import source_name

    cache = "../home/.agents/cache/sources"
    policy = source_name("acme/policy", path="team/settings.yml")
    world.put(
        f"{cache}/{policy}/checkout/team/settings.yml",
        "sources: [{uri: 'https://u:p@host.example/x.git', ref: v1, path: sub}]\n",
    )
    catalog = source_name("https://host.example/x.git", "v1", "sub")
    world.put(f"{cache}/{catalog}/checkout/sub/agents/far/agent.md", "Far away.")
    world.put(f"{cache}/{catalog}/checkout/sub/settings.yml", "default_agent: evil\n")
    world.put(".agents/settings.yml", "remote_settings: [{github: acme/policy, path: team/settings.yml}]\n")
    world.agent("a")
    made = world.compose("far")
    assert made.fragments[0].content == "Far away.\n"
    assert made.fragments[0].layer == "https://host.example/x.git@v1#sub"
    assert "no agent was named" in world.compose(None).message


def test_local_sources_in_order_relative_to_their_settings_file(world):
    world.put("../one/agents/x/agent.md", "One.")
    world.put("../two/agents/x/agent.md", "Two.")
    world.put("../two/agents/y/agent.md", "Y.")
    world.put("../home/.agents/settings.yml", "sources: [{path: ../../one}, {path: ~/../two}, {path: gone}]\n")
    assert world.compose("x").fragments[0].content == "One.\n"
    assert world.compose("y").fragments[0].content == "Y.\n"


def test_source_names_show_no_credentials_and_tell_refs_apart():
    from outfitter.sync.sources import source_name

    secret = source_name("https://user:s3cret@host.example/team/x.git")
    assert "s3cret" not in secret
    assert secret == source_name("https://host.example/team/x.git")
    assert secret.startswith("host.example-team-x-")
    assert source_name("acme/agents") == source_name("https://github.com/acme/agents.git")
    assert len({source_name("a/b"), source_name("a/b", "v1"), source_name("git@h:a/b")}) == 3
    assert (
        len({source_name("a/b"), source_name("a/b", None, "x"), source_name("a/b", "x"), source_name("a/b", "x", "x")})
        == 4
    )
    assert source_name("a/b", "v1", "x") == source_name("a/b", "v1", "./x/")
    assert source_name("a/b") == source_name("a/b", path=".") == source_name("a/b", path="")
    assert "/" not in source_name("../../../etc") + source_name("file:///tmp/x", "../..")


def test_an_extension_may_be_a_file_of_its_layer(world):
    world.put(".agents/ext/x.ts", "code")
    world.agent("a", "extensions: [{file: ext/x.ts}, 'npm:x@1']")
    made = world.compose("a")
    assert made.extensions == (str(world.project / ".agents/ext/x.ts"), "npm:x@1")
    world.put(".agents/ext/x.ts", "other code")
    assert world.compose("a").digest != made.digest
    world.agent("a", "extensions: [{file: ext/none.ts}]")
    assert "does not exist" in world.compose("a").problems[0].message
