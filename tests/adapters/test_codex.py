"""OFTR-006.6 and 006.9.5, item by item, and what Codex takes beyond them (spec/40 "Codex CLI", spec/95 CDX)."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.adapters.codex.plan import ADAPTER
from outfitter.model.composition import Controls, ModelTarget, Part, Server, Subagent, Tools, VisibleSkill
from outfitter.model.errors import CompositionFailed
from outfitter.model.projection import ProjectionPlan
from tests.adapters import claude_case
from tests.adapters.samples import (
    HOME,
    PROJECT,
    ROOT,
    composed,
    facts,
    fragment,
    planned,
    refused,
    registry_target,
    request,
    said,
    server,
    settings,
    skill,
    texts,
    values,
    warnings,
)

KEY = {"GW_KEY": "k-secret"}


def overrides(plan: ProjectionPlan) -> dict[str, Any]:
    """Every `-c`, read as Codex reads it."""
    made: dict[str, Any] = {}
    for word in values(plan, "-c"):
        key, _, value = word.partition("=")
        made[key] = tomllib.loads(f"v = {value}")["v"]
    return made


def of_server(entry: Server, name: str = "s", **rest: Any) -> dict[str, Any]:
    prefix = f"mcp_servers.{name}."
    made = overrides(planned("codex", composed(servers=(entry,)), **rest))
    return {key.removeprefix(prefix): value for key, value in made.items() if key.startswith(prefix)}


# --- state


@pytest.mark.parametrize(
    ("entries", "level", "named"),
    [
        ({"settings.json": "error", "plugins/": "warn"}, "warning", ["settings.json: error", "plugins/: warn"]),
        ({"unknown": "error"}, "warning", ["unknown: error"]),
        ({"codex": {"unknown": "error"}}, "warning", ["unknown: error"]),
        ({"sessions/": "discard"}, "notice", ["sessions/: discard"]),
        ({"settings.json": "symlink"}, "", []),
        ({"pi": {"settings.json": "error"}, "claude": {"projects/": "error"}}, "", []),
        ({}, "", []),
    ],
)
def test_policies_that_codex_cannot_keep_are_said_once(entries, level, named) -> None:
    given = claude_case.settings(state_persistence=entries)
    found = [n for n in planned("codex", composed(), given=given).notices if n.code == "state-not-enforced"]
    assert [n.level for n in found] == ([level] if level else [])
    assert all(name in n.message for n in found for name in named)


# --- 006.6


def test_006_6_1_the_native_command_and_the_pass_through_last() -> None:
    assert ADAPTER.command == "codex"
    plan = planned("codex", composed(controls=Controls(args=("--own",))), request(("exec", "hi")))
    assert plan.launch.arguments[-3:] == ("--own", "exec", "hi")


def test_006_6_2_the_model() -> None:
    for target in (ModelTarget("native", "gpt-x"), ModelTarget("split", "gpt-x", "openai")):
        assert values(planned("codex", composed(model=target)), "-m") == ["gpt-x"]


def test_006_6_3_stdio_servers_field_by_field() -> None:
    entry = server(
        "s",
        command="x",
        args=["--a", 'q"uote', "false"],
        cwd="1.0",
        env={"T": "${T}", "LIT": "v", "R": "${OTHER}", "M": "a${T}"},
    )
    plan = planned("codex", composed(servers=(entry,)))
    assert of_server(entry) == {
        "command": "x",
        "args": ["--a", 'q"uote', "false"],
        "env": {"LIT": "v"},
        "env_vars": ["T"],
        "cwd": "1.0",
    }
    assert len(said(plan, "mcp-reference")) == 2
    assert "LIT" in said(plan, "mcp-exposed")[0]
    assert "OTHER" not in " ".join(plan.launch.arguments)


@pytest.mark.parametrize("name", ["a.b", "a b", "npm:@s/x", "ü", ""])
def test_006_6_3_and_cdx_01_names_that_no_key_path_can_hold(name: str) -> None:
    plan = planned("codex", composed(servers=(server(name, command="x"), server("ok_-1", command="y"))))
    assert list(overrides(plan)) == ["mcp_servers.ok_-1.command"]
    assert repr(name) in said(plan, "mcp-omitted")[0]


def test_cdx_03_odd_keys_stay_one_key() -> None:
    assert of_server(server("s", command="x", env={"MY.VAR": "v"}))["env"] == {"MY.VAR": "v"}
    assert of_server(server("s", type="http", url="http://x", headers={"X-Y Z": "v"}))["http_headers"] == {"X-Y Z": "v"}


def test_cdx_05_strings_stay_strings() -> None:
    made = of_server(server("s", command="x", args=["false", "1", "nan"], cwd="1.0", env={"N": 1, "B": True}))
    assert (made["args"], made["cwd"]) == (["false", "1", "nan"], "1.0")
    assert made["env"] == {"N": "1", "B": "true"}


def test_006_6_4_http_servers_without_a_secret_in_the_arguments() -> None:
    headers = {"Authorization": "Bearer ${WEB_TOKEN}", "X-A": "${XA}", "X-L": "lit", "X-M": "p${XM}"}
    entry = server("s", type="http", url="http://127.0.0.1:1/mcp", headers=headers)
    plan = planned("codex", composed(servers=(entry,)), request(env={"WEB_TOKEN": "w-secret", "XA": "x-secret"}))
    assert of_server(entry) == {
        "url": "http://127.0.0.1:1/mcp",
        "bearer_token_env_var": "WEB_TOKEN",
        "env_http_headers": {"X-A": "XA"},
        "http_headers": {"X-L": "lit"},
    }
    assert "X-M" in said(plan, "mcp-reference")[0]
    assert "secret" not in " ".join(plan.launch.arguments)


def test_cdx_07_literal_bearer_reference_renamed() -> None:
    headers = {"Authorization": "Bearer literal"}
    plan = planned("codex", composed(servers=(server("s", type="http", url="http://x", headers=headers),)))
    assert "Authorization" in said(plan, "mcp-exposed")[0]
    assert "literal" not in said(plan, "mcp-exposed")[0].replace("literal values", "")


def test_a_reference_with_a_default_is_settled_by_the_childs_environment() -> None:
    """spec/15 V24 with 006.6.3."""
    entry = server("s", command="x", env={"A": "${A:-low}", "B": "${A:-low}"})
    assert of_server(entry)["env"] == {"A": "low", "B": "low"}
    assert of_server(entry, req=request(env={"A": "x"})) == {"command": "x", "env_vars": ["A"]}
    assert of_server(server("s", command="x", env={"A": "${A}"})) == {"command": "x", "env_vars": ["A"]}


def test_006_6_5_the_additive_warning_with_a_server_and_a_notice_without() -> None:
    assert "additive" in said(planned("codex", composed(servers=(server("s", command="x"),))), "mcp-additive")[0]
    none = planned("codex", composed())
    assert said(none, "mcp-additive", "notice")
    assert warnings(none) == []


def test_006_6_6_what_codex_cannot_project_is_named() -> None:
    plan = planned(
        "codex",
        composed(
            skills=(skill("one"),), tools=Tools(("read",)), plugins=("p",), prompt_template=fragment("append", "t")
        ),
    )
    assert plan.unsupported == ("skills", "tools", "prompt_template", "plugins")
    assert said(plan, "unsupported-element") == [
        "skills: codex reads those in the home's and the project's skills/ alone; left out: one"
    ]


def test_006_6_7_extensions_are_never_reported() -> None:
    plan = planned("codex", composed(extensions=("npm:x",)))
    assert plan.unsupported == ()
    assert warnings(plan) == []
    assert "npm:x" not in " ".join(plan.launch.arguments)


def test_cdx_06_a_codex_home_is_never_set_and_a_missing_one_is_hinted_at() -> None:
    outer = request(env={"CODEX_HOME": "/gone"})
    plan = planned("codex", composed(), outer, known=facts("codex", native="/gone"))
    assert "CODEX_HOME" not in {*plan.launch.env_set, *plan.launch.env_unset}
    assert plan.exported == ""
    assert "/gone" in said(plan, "codex-home", "notice")[0]
    there = facts("codex", native="/there", listings={"/there": ("config.toml",)})
    assert not said(
        planned("codex", composed(), request(env={"CODEX_HOME": "/there"}), known=there), "codex-home", "notice"
    )


def test_a_server_of_the_users_own_configuration_of_the_same_name_is_a_warning() -> None:
    raw = b"[mcp_servers.s]\ncommand = 'mine'\n"
    plan = planned("codex", composed(servers=(server("s", command="x"),)), files={"config.toml": raw})
    assert "s" in said(plan, "mcp-merged")[0]
    assert overrides(plan)["mcp_servers.s.enabled"] is True


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("url = 'http://x/'", {"command": "x"}), ("command = 'mine'", {"url": "http://x/", "type": "http"})],
)
def test_a_server_of_the_other_kind_under_the_same_id_is_left_out(theirs: str, ours: dict[str, str]) -> None:
    """Codex would merge the two and end the launch: "url is not supported for stdio"."""
    raw = f"[mcp_servers.s]\n{theirs}\n".encode()
    plan = planned("codex", composed(servers=(server("s", **ours),)), files={"config.toml": raw})
    assert [key for key in overrides(plan) if key.startswith("mcp_servers")] == []
    assert "other kind" in said(plan, "mcp-omitted")[0]


def test_the_users_keys_that_stay_in_a_merged_server_are_named() -> None:
    raw = b"[mcp_servers.s]\ncommand = 'mine'\ncwd = '/'\nenabled_tools = ['a']\nenabled = false\n"
    plan = planned("codex", composed(servers=(server("s", command="x"),)), files={"config.toml": raw})
    assert "your cwd, enabled_tools stay in effect" in said(plan, "mcp-merged")[0]


def test_keys_of_a_server_that_codex_has_nothing_for_are_named_in_one_warning() -> None:
    entry = server("s", url="http://x/", type="http", oauth={"clientId": "c"}, headersHelper="/h", description="d")
    plan = planned("codex", composed(servers=(entry,)))
    (text,) = said(plan, "mcp-keys")
    assert "oauth, headersHelper" in text
    assert "description" not in text


def test_mcp_calls_in_exec_need_an_approval_mode() -> None:
    """spec/40: say so rather than let them fail silently."""
    entry = server("s", command="x")
    assert "s" in said(planned("codex", composed(servers=(entry,)), request(("exec", "hi"))), "mcp-approval")[0]
    assert not said(planned("codex", composed(servers=(entry,))), "mcp-approval")
    approved = server("s", command="x", default_tools_approval_mode="approve")
    plan = planned("codex", composed(servers=(approved,)), request(("exec", "hi")))
    assert not said(plan, "mcp-approval")
    assert overrides(plan)["mcp_servers.s.default_tools_approval_mode"] == "approve"


def test_a_transport_that_codex_lacks_is_left_out_by_name() -> None:
    plan = planned("codex", composed(servers=(server("s", type="sse", url="http://x/sse"),)))
    assert "sse" in said(plan, "mcp-omitted")[0]
    assert values(plan, "-c") == []


def test_a_reference_in_an_argument_is_named_unless_a_shell_reads_it() -> None:
    assert said(planned("codex", composed(servers=(server("s", command="x", args=["${A}"]),))), "mcp-unexpanded")
    shell = server("s", command="/bin/sh", args=["-c", "run ${A}"])
    assert not said(planned("codex", composed(servers=(shell,))), "mcp-unexpanded")


# --- 006.9.5 and 006.9.6


def test_006_9_5_provider_endpoint_key_headers_and_model() -> None:
    target = registry_target(headers={"X-A": "$XA", "X-L": "lit"}, definition={"id": "m1", "contextWindow": 1000})
    plan = planned("codex", composed(model=target), request(env=KEY))
    assert values(plan, "-m") == ["m1"]
    assert overrides(plan) == {
        "model_provider": "gw",
        "model_providers.gw.name": "gw",
        "model_providers.gw.base_url": "http://127.0.0.1:9/v1",
        "model_providers.gw.wire_api": "responses",
        "model_providers.gw.env_key": "GW_KEY",
        "model_providers.gw.http_headers": {"X-L": "lit"},
        "model_providers.gw.env_http_headers": {"X-A": "XA"},
        "model_context_window": 1000,
    }
    assert "k-secret" not in " ".join(plan.launch.arguments)


def test_006_9_5_a_provider_without_a_credential_has_no_key() -> None:
    plan = planned("codex", composed(model=registry_target(variable="")))
    assert "model_providers.gw.env_key" not in overrides(plan)


@pytest.mark.parametrize(
    "target",
    [
        registry_target(api="anthropic-messages"),
        registry_target(api="openai-completions"),
        registry_target(provider="openai"),
        registry_target(provider="a.b"),
        registry_target(headers={"X": "p-$X"}),
        ModelTarget("split", "claude-x", "anthropic"),
    ],
)
def test_006_9_6_what_cannot_be_kept_is_left_out_whole(target: ModelTarget) -> None:
    plan = planned("codex", composed(model=target), request(env=KEY))
    assert values(plan, "-m") == []
    assert overrides(plan) == {}
    assert said(plan, "model-omitted")


def test_006_9_8_and_v16_words_of_other_tools() -> None:
    plan = planned("codex", composed(model=ModelTarget("native", "sonnet")))
    assert values(plan, "-m") == []
    assert said(plan, "model-omitted")


def test_a_target_without_its_credential_is_refused_by_name() -> None:
    error = refused("codex", composed(model=registry_target()))
    assert isinstance(error, CompositionFailed)
    assert "GW_KEY" in error.message


# --- beyond the seed


def test_identity_a_system_prompt_replaces_and_the_rest_is_added_in_order() -> None:
    fragments = (fragment("system", "S"), fragment("context", "C"), fragment("body", "B\n"))
    plan = planned("codex", composed(fragments=fragments))
    made = overrides(plan)
    assert made["developer_instructions"] == "C\n\nB"
    assert made["model_instructions_file"] == f"{ROOT}/projection/system.md"
    assert texts(plan)["system.md"] == "S"


def test_a_resumed_session_keeps_its_first_instructions_and_the_run_says_so() -> None:
    plan = planned("codex", composed(fragments=(fragment("body", "B"),)), request(("exec", "resume", "--last")))
    assert said(plan, "resume-identity", "notice")


def test_context_that_codex_reads_by_itself_is_not_given_twice() -> None:
    fragments = (fragment("context", "rules"), fragment("body", "B"))
    plan = planned("codex", composed(fragments=fragments), files={f"{PROJECT}/AGENTS.md": b"rules\n"})
    assert overrides(plan)["developer_instructions"] == "B"


@pytest.mark.parametrize(("level", "word"), [("high", "high"), ("off", "none"), ("MAX", "max")])
def test_thinking(level: str, word: str) -> None:
    assert overrides(planned("codex", composed(thinking=level)))["model_reasoning_effort"] == word


def test_an_unknown_thinking_level_is_a_warning() -> None:
    plan = planned("codex", composed(thinking="deep"))
    assert overrides(plan) == {}
    assert said(plan, "thinking-unknown")


def test_subagents_with_their_files() -> None:
    sub = Subagent("helper", "Helps", 'Say "x"\nand more', Tools(), registry_target(), "low", (), "/t", "project")
    plan = planned("codex", composed(subagents=(sub,)), request(env=KEY))
    path = f"{ROOT}/projection/agents/helper.toml"
    assert overrides(plan)["agents.helper"] == {"description": "Helps", "config_file": path}
    assert overrides(plan)["model_providers.gw.base_url"] == "http://127.0.0.1:9/v1"
    assert tomllib.loads(texts(plan)["agents/helper.toml"]) == {
        "name": "helper",
        "description": "Helps",
        "developer_instructions": 'Say "x"\nand more',
        "model": "m1",
        "model_provider": "gw",
        "model_reasoning_effort": "low",
    }


def test_a_provider_that_leader_and_subagent_share_is_defined_once() -> None:
    sub = Subagent("helper", "", "b", Tools(), registry_target(), "", (), "/t", "project")
    plan = planned("codex", composed(model=registry_target(), subagents=(sub,)), request(env=KEY))
    words = values(plan, "-c")
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(("name", "tools"), [("a.b", Tools()), ("s", Tools(("read",))), ("s", Tools(None, ("bash",)))])
def test_a_subagent_that_would_widen_or_has_no_key_stays_out(name: str, tools: Tools) -> None:
    sub = Subagent(name, "", "b", tools, None, "", (), "/t", "project")
    plan = planned("codex", composed(subagents=(sub,)))
    assert values(plan, "-c") == []
    assert name in said(plan, "subagent-omitted")[0]


def visible(name: str, selected: bool) -> VisibleSkill:
    return VisibleSkill(name, f"/w/p/.agents/skills/{name}/SKILL.md", f"/t/skills/{name}", "project", selected)


def test_skills_read_natively_are_neither_doubled_nor_leaked() -> None:
    """spec/15 V3."""
    plan = planned(
        "codex", composed(skills=(skill("one"),), visible_skills=(visible("one", True), visible("two", False)))
    )
    assert overrides(plan) == {"skills.config": [{"path": "/w/p/.agents/skills/two/SKILL.md", "enabled": False}]}
    assert plan.unsupported == ()
    assert plan.native_reads == ("/w/p/.agents/skills/one/SKILL.md",)
    assert (plan.copied, plan.generated) == ((), ())


def test_files_added_to_a_skill_that_is_read_where_it_lies_are_a_warning() -> None:
    one = skill("one")._replace(extras=(Part("/r/ref.md", "references/ref.md"),))
    plan = planned("codex", composed(skills=(one,), visible_skills=(visible("one", True),)))
    assert "references/ref.md" in said(plan, "skill-extras")[0]


def test_a_subagent_keeps_its_own_of_the_leaders_skills_and_is_warned_of_what_it_cannot_have() -> None:
    sub = Subagent("helper", "", "b", Tools(), None, "", ("one", "far"), "/t", "project", resolved=(skill("far"),))
    both = (visible("one", True), visible("two", True), visible("far", False))
    plan = planned("codex", composed(skills=(skill("one"), skill("two")), visible_skills=both, subagents=(sub,)))
    made = tomllib.loads(texts(plan)["agents/helper.toml"])
    assert made["skills"] == {"config": [{"path": "/w/p/.agents/skills/two/SKILL.md", "enabled": False}]}
    assert "far" in said(plan, "subagent-skills")[0]


def test_what_toml_cannot_hold_is_left_out_by_name_and_breaks_nothing() -> None:
    """Paths that are no UTF-8, and lone surrogates that JSON and YAML can spell."""
    sub = Subagent("helper", "\ud800", "b", Tools(), None, "", (), "/t", "project")
    lost = VisibleSkill("x", "/w/p/\udcff/SKILL.md", "/t/x", "project", False)
    plan = planned("codex", composed(subagents=(sub,), visible_skills=(lost, visible("two", False))))
    assert [entry["path"] for entry in overrides(plan)["skills.config"]] == ["/w/p/.agents/skills/two/SKILL.md"]
    assert "1 skill of this tree is visible" in said(plan, "skills-visible")[0]
    assert "helper" in said(plan, "subagent-omitted")[0]


def test_tool_lists_by_server_and_the_tools_that_can_be_switched_off() -> None:
    servers = (
        server("db", command="x"),
        server("web", command="y"),
        server("v", command="z", available_tools=["a", "b"]),
    )
    tools = Tools(None, ("mcp__db__drop", "mcp__web", "Bash", "search_web"))
    plan = planned("codex", composed(servers=servers, tools=tools))
    made = overrides(plan)
    assert made["mcp_servers.db.disabled_tools"] == ["drop"]
    assert made["mcp_servers.v.enabled_tools"] == ["a", "b"]
    assert not any(key.startswith("mcp_servers.web") for key in made)
    assert (made["features.shell_tool"], made["web_search"]) == (False, "disabled")
    assert plan.unsupported == ()


def test_an_allow_list_cannot_be_kept_but_what_it_says_of_servers_is() -> None:
    servers = (
        server("db", command="x"),
        server("v", command="z", available_tools=["a", "b"]),
        server("w", command="w"),
    )
    tools = Tools(("mcp__db__get", "mcp__v__b", "mcp__v__c"), ("edit",))
    plan = planned("codex", composed(servers=servers, tools=tools))
    made = overrides(plan)
    assert made["mcp_servers.db.enabled_tools"] == ["get"]
    assert made["mcp_servers.v.enabled_tools"] == ["b"]
    assert not any(key.startswith("mcp_servers.w.") for key in made)
    assert "server w" in said(plan, "tools-exclude-server")[0]
    assert plan.unsupported == ("tools",)


def test_patterns_of_server_tools_are_whole_servers() -> None:
    servers = (server("db", command="x"), server("web", command="y"))
    denied = planned("codex", composed(servers=servers, tools=Tools(None, ("mcp__db__*",))))
    assert [key for key in overrides(denied) if key.startswith("mcp_servers.db")] == []
    assert denied.unsupported == ()
    none = planned("codex", composed(servers=servers, tools=Tools(None, ("mcp__*",))))
    assert not any(key.startswith("mcp_servers") for key in overrides(none))


def test_environment_of_the_agent() -> None:
    plan = planned("codex", composed(harness_controls={"codex": Controls({"A": "1"})}))
    assert dict(plan.launch.env_set) == {"A": "1"}


def test_controls_that_codex_cannot_translate_are_warnings() -> None:
    """006.5.9's rule, for Codex."""
    plan = planned("codex", composed(controls=Controls(session_directory="/s", deepwork_jobs=("j",), extra={"x": 1})))
    assert len(said(plan, "control-unsupported")) == 3


def test_harness_defaults_are_overrides_below_the_agents_own() -> None:
    """spec/20."""
    given = settings(
        harness_defaults={"codex": {"model_reasoning_effort": "low", "features": {"plugins": False}, "a.b c": 1}}
    )
    plan = planned("codex", composed(thinking="high"), given=given)
    assert overrides(plan) == {"model_reasoning_effort": "high", "features": {"plugins": False}}
    assert said(plan, "codex-unwritable")


def test_a_value_that_no_argument_holds_is_an_error_that_names_the_element() -> None:
    error = refused("codex", composed(fragments=(fragment("body", "x" * 131072),)))
    assert isinstance(error, CompositionFailed)
    assert "identity" in error.message
    planned("codex", composed(fragments=(fragment("body", "x" * 131000),)))


def test_codex_declares_no_state() -> None:
    """spec/40."""
    plan = planned("codex", composed())
    assert plan.strategies.declared == ()
    assert (plan.seeds, plan.bridges) == ((), ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.text(max_size=6),
    st.dictionaries(st.text(max_size=6), st.text(max_size=12), max_size=3),
    st.lists(st.text(max_size=8), max_size=3),
    st.dictionaries(st.sampled_from(["startup_timeout_sec", "enabled_tools", "x-other"]), JSON, max_size=2),
)
def test_every_override_reads_back_whatever_a_server_holds(
    name: str, env: dict[str, str], args: list[str], more: dict[str, Any]
) -> None:
    plan = planned("codex", composed(servers=(server(name, command="x", env=env, args=args, **more),)))
    for word in values(plan, "-c"):
        key, _, value = word.partition("=")
        tomllib.loads(f"{key} = {value}")
        assert "\n" not in word
    made = overrides(plan)
    if made:
        assert made[f"mcp_servers.{name}.command"] == "x"
        assert made.get(f"mcp_servers.{name}.args", []) == args


def test_home_is_where_codex_has_it() -> None:
    assert facts("codex").native == f"{HOME}/.codex"
