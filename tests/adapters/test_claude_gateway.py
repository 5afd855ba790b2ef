"""OFTR-006.9.4 and 006.9.6 on Claude Code: a gateway gets its own credential, and never another."""

import json

import pytest
from attrs import evolve

from outfitter.adapters.claude.gateway import OTHER_LOGINS, base_url
from outfitter.model.composition import Controls, ModelTarget, Subagent, Tools
from outfitter.model.errors import CompositionFailed, UsageError
from tests.adapters.claude_case import (
    CWD,
    HOME,
    body,
    composition,
    content,
    facts,
    outcome,
    plan,
    request,
    settings,
    value,
    warnings,
)

TARGET = ModelTarget(
    "registry", "m1", "gw", "anthropic-messages", "http://127.0.0.1:9/v1/", "GW_KEY", {"X-Team": "red"}
)


def asked(*passthrough, isolated=False, **env):
    ambient = evolve(request().ambient, env={"HOME": HOME, "GW_KEY": "k1-secret", **env})
    return evolve(request(*passthrough, isolated=isolated), ambient=ambient)


def file_env(made):
    return json.loads(content(made, "launch-settings.json"))["env"]


@pytest.mark.parametrize("alone", [False, True])
def test_006_9_4_model_address_credential_and_headers_go_through_the_native_controls(alone):
    made = plan(composition(body(), model=TARGET), asked(isolated=alone))
    assert value(made, "--model") == "m1"
    expected = {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_AUTH_TOKEN": "k1-secret",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: red" + ("" if alone else "\nx-api-key: k1-secret"),
    }
    assert expected.items() <= dict(made.launch.env_set).items()
    assert expected.items() <= file_env(made).items()
    assert "k1-secret" not in " ".join(made.launch.arguments)


def test_006_9_4_every_other_login_is_unset_for_the_child_and_empty_in_the_file():
    made = plan(composition(model=TARGET), asked(ANTHROPIC_API_KEY="of-the-user"))
    assert {"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"} <= set(made.launch.env_unset)
    assert all(file_env(made)[name] == "" for name in OTHER_LOGINS)
    assert json.loads(content(made, "launch-settings.json"))["apiKeyHelper"] == ""


def test_006_9_4_the_trees_own_environment_brings_no_other_login_either():
    made = plan(composition(model=TARGET, controls=Controls(environment={"ANTHROPIC_API_KEY": "x", "A": "1"})), asked())
    assert "ANTHROPIC_API_KEY" not in made.launch.env_set
    assert made.launch.env_set["A"] == "1"


def test_006_9_4_headers_of_the_user_do_not_travel_to_a_gateway_without_any():
    made = plan(
        composition(model=TARGET._replace(headers={})),
        asked(isolated=True, ANTHROPIC_CUSTOM_HEADERS="Authorization: x"),
    )
    assert made.launch.env_set["ANTHROPIC_CUSTOM_HEADERS"] == ""
    assert file_env(made)["ANTHROPIC_CUSTOM_HEADERS"] == ""


@pytest.mark.parametrize("form", ["file", "text", "joined"])
def test_006_9_4_a_pass_through_settings_is_folded_the_users_keys_over_ours_but_for_these(form):
    own = {
        "theme": "dark",
        "apiKeyHelper": "steal",
        "env": {"A": "1", "ANTHROPIC_BASE_URL": "http://other", "ANTHROPIC_API_KEY": "k"},
    }
    words = {
        "file": ("--settings", "s.json"),
        "text": ("--settings", json.dumps(own)),
        "joined": ("--settings=s.json",),
    }[form]
    known = facts(files={CWD + "/s.json": json.dumps(own).encode()})
    made = plan(composition(model=TARGET), asked(*words, "-p", "x"), known=known)
    merged = json.loads(content(made, "launch-settings.json"))
    assert (merged["theme"], merged["apiKeyHelper"]) == ("dark", "")
    assert merged["env"]["A"] == "1"
    assert merged["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert merged["env"]["ANTHROPIC_API_KEY"] == ""
    assert sum(word.startswith("--settings") for word in made.launch.arguments) == 1


@pytest.mark.parametrize("words", [("--settings", "gone.json"), ("--settings", "{cut"), ("--settings", "list.json")])
def test_006_9_4_settings_that_cannot_be_folded_are_refused_not_let_through(words):
    known = facts(files={CWD + "/list.json": b"[]", CWD + "/gone.json": None})
    assert isinstance(outcome(composition(model=TARGET), asked(*words), known=known).failure(), UsageError)


def test_006_9_4_the_trees_own_arguments_cannot_replace_the_settings():
    made = composition(model=TARGET, controls=Controls(args=("--settings", "x.json")))
    assert isinstance(outcome(made, asked()).failure(), CompositionFailed)
    text = composition(model=TARGET, controls=Controls(args=("--settings", '{"theme": "dark"}')))
    assert json.loads(content(plan(text, asked()), "launch-settings.json"))["theme"] == "dark"


@pytest.mark.parametrize("given", [{}, {"GW_KEY": ""}])
def test_006_9_4_without_its_credential_nothing_is_started(given):
    ambient = evolve(request().ambient, env={"HOME": HOME, "ANTHROPIC_API_KEY": "of-the-user", **given})
    error = outcome(composition(model=TARGET), evolve(request(), ambient=ambient)).failure()
    assert isinstance(error, CompositionFailed)
    assert "GW_KEY" in error.message
    assert "of-the-user" not in str(error)


@pytest.mark.parametrize("name", ["x-api-key", "X-Api-Key"])
def test_006_9_4_a_key_header_of_the_provider_is_the_only_one(name):
    made = plan(composition(model=TARGET._replace(headers={name: "own"})), asked())
    assert made.launch.env_set["ANTHROPIC_CUSTOM_HEADERS"] == f"{name}: own"


def test_006_9_4_a_provider_without_a_credential_gets_the_token_none():
    assert (
        plan(composition(model=TARGET._replace(variable="")), asked()).launch.env_set["ANTHROPIC_AUTH_TOKEN"] == "none"
    )


@pytest.mark.parametrize("word", ["Bearer ${TEAM}", "${env:TEAM}", "$TEAM"])
def test_006_9_4_header_values_take_their_variables_from_the_environment(word):
    made = plan(composition(model=TARGET._replace(headers={"X-A": word})), asked(isolated=True, TEAM="t1"))
    assert made.launch.env_set["ANTHROPIC_CUSTOM_HEADERS"] == "X-A: " + word.replace("${TEAM}", "t1").replace(
        "${env:TEAM}", "t1"
    ).replace("$TEAM", "t1")
    error = outcome(composition(model=TARGET._replace(headers={"X-A": word})), asked()).failure()
    assert isinstance(error, CompositionFailed)
    assert "TEAM" in error.message


def test_006_9_4_a_variable_cannot_bring_another_header():
    target = TARGET._replace(headers={"X-A": "${TEAM}"})
    error = outcome(composition(model=target), asked(TEAM="t1\nAuthorization: x")).failure()
    assert isinstance(error, CompositionFailed)
    assert "X-A" in error.message
    assert "Authorization" not in error.message


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://x/v1", "https://x"),
        ("https://x/v1/", "https://x"),
        ("https://x/api", "https://x/api"),
        ("https://x", "https://x"),
    ],
)
def test_006_9_4_the_address_is_given_without_v1(url, expected):
    assert base_url(url) == expected


@pytest.mark.parametrize(
    "target",
    [
        TARGET._replace(api="openai-responses"),
        TARGET._replace(api="openai-completions"),
        ModelTarget("split", "m1", "openai"),
    ],
)
def test_006_9_6_a_target_that_cannot_be_kept_whole_is_left_out_whole(target):
    made = plan(composition(model=target), asked())
    assert "--model" not in made.launch.arguments
    assert not [name for name in made.launch.env_set if name.startswith("ANTHROPIC")]
    assert warnings(made) == ["model-omitted"]


def test_006_9_8_without_a_registry_the_native_names_are_kept():
    assert value(plan(composition(model=ModelTarget("split", "m2", "anthropic")), asked()), "--model") == "m2"
    assert value(plan(composition(model=ModelTarget("native", "sonnet")), asked()), "--model") == "sonnet"


def subagent(target):
    return Subagent("helper", "Helps", "You help.", Tools(), target, "", (), "/x", "project")


@pytest.mark.parametrize(
    ("leader", "target", "kept"),
    [
        (TARGET, TARGET._replace(model="m2"), True),
        (TARGET, TARGET._replace(model="m2", provider="other"), False),
        (None, TARGET, False),
        (None, ModelTarget("native", "haiku"), True),
        (TARGET, ModelTarget("split", "m2", "anthropic"), False),
        (None, ModelTarget("split", "m2", "openai"), False),
    ],
)
def test_006_9_6_a_subagents_model_goes_through_the_leaders_target(leader, target, kept):
    made = plan(composition(model=leader, subagents=(subagent(target),)), asked())
    assert (f'model: "{target.model}"' in content(made, "agents/helper.md")) is kept
    assert ("model-omitted" in warnings(made)) is not kept


def test_no_gateway_leaves_logins_and_settings_alone():
    made = plan(composition(body()), asked(ANTHROPIC_API_KEY="of-the-user"), settings())
    assert made.launch.env_unset == ()
    assert "--settings" not in made.launch.arguments
