"""The model registry from the trees to each harness's launch (OFTR-006.9, spec/10, "Models"), through `outfitter run` and stand-ins."""

from __future__ import annotations

import json
from typing import Any

import pytest

SECRET = "planted-secret-7731"


def registry(machine: Any, under: Any = None, **providers: Any) -> None:
    machine.put((under or machine.project) / ".agents/models.json", json.dumps({"providers": providers}))


def provider(api: str = "openai-completions", url: str = "http://127.0.0.1:9/v1", **more: Any) -> dict[str, Any]:
    return {"api": api, "baseUrl": url, "apiKey": "$GW_KEY", "models": [{"id": "m1"}], **more}


def made(ended: Any) -> Any:
    return json.loads(ended.seen["entries"]["models.json"]["text"])["providers"]


def test_006_9_1_providers_merge_by_layer_and_models_inside_them(machine: Any) -> None:
    """The higher layer wins key by key; a selection resolves to one target."""
    registry(machine, machine.home, gw=provider(url="http://127.0.0.1:1/v1", name="Low"), low=provider())
    registry(machine, gw={"baseUrl": "http://127.0.0.1:2/v1", "models": [{"id": "m2"}]})
    machine.agent("a", model="gw/m1")
    ended = machine.run("run", "a", env={"GW_KEY": SECRET})
    assert ended.code == 0, ended.err
    words = ended.argv
    assert [words[words.index(option) + 1] for option in ("--provider", "--model")] == ["gw", "m1"]
    assert made(ended)["gw"]["baseUrl"] == "http://127.0.0.1:2/v1"
    assert made(ended)["gw"]["name"] == "Low"
    assert {model["id"] for model in made(ended)["gw"]["models"]} == {"m1", "m2"}
    assert "low" in made(ended)


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
@pytest.mark.parametrize(
    ("model", "entry", "word"),
    [
        ("nosuch/m1", provider(), "nosuch"),
        ("gw/nosuch", provider(), "nosuch"),
        ("gw/m1", {"baseUrl": "http://x", "models": [{"id": "m1"}]}, "api"),
        ("gw/m1", {"api": "openai-completions", "models": [{"id": "m1"}]}, "baseUrl"),
        ("gw/m1", provider(baseUrl=3), "baseUrl"),
    ],
)
def test_006_9_2_a_selection_that_is_not_there_starts_nothing(
    machine: Any, harness: str, model: str, entry: Any, word: str
) -> None:
    registry(machine, gw=entry)
    machine.agent("a", model=model)
    ended = machine.run("run", "a", "--harness", harness, env={"GW_KEY": SECRET})
    assert ended.code == 125
    assert ended.seen is None
    assert word in ended.err


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
@pytest.mark.parametrize(
    ("entry", "path"),
    [
        (provider(apiKey=SECRET), "providers.gw.apiKey"),
        (provider(apiKey=f"!echo {SECRET}"), "providers.gw.apiKey"),
        (provider(headers={"X-Key": 7}), "providers.gw.headers.X-Key"),
        (provider(headers={"Authorization": f"Bearer {SECRET}"}), "providers.gw.headers.Authorization"),
    ],
)
def test_006_9_7_literal_credentials_are_refused_by_key_path_without_the_value(
    machine: Any, harness: str, entry: Any, path: str
) -> None:
    registry(machine, gw=entry)
    machine.agent("a", model="gw/m1")
    ended = machine.run("run", "a", "--harness", harness, env={"GW_KEY": SECRET})
    assert ended.code == 125
    assert ended.seen is None
    assert path in ended.err
    assert SECRET not in ended.err + ended.out


@pytest.mark.parametrize(
    ("harness", "api"), [("pi", "openai-completions"), ("claude", "anthropic-messages"), ("codex", "openai-responses")]
)
def test_006_9_7_the_credential_comes_from_the_environment_and_stands_nowhere_else(
    machine: Any, harness: str, api: str
) -> None:
    registry(machine, gw=provider(api))
    machine.agent("a", model="gw/m1")
    ended = machine.run("run", "a", "--harness", harness, env={"GW_KEY": SECRET})
    assert ended.code == 0, ended.err
    assert ended.seen["env"]["GW_KEY"] == SECRET
    assert SECRET not in json.dumps([ended.argv, ended.err])


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
def test_a_target_whose_variable_is_unset_starts_nothing(machine: Any, harness: str) -> None:
    registry(
        machine,
        gw=provider({"pi": "openai-completions", "claude": "anthropic-messages", "codex": "openai-responses"}[harness]),
    )
    machine.agent("a", model="gw/m1")
    for env in ({}, {"GW_KEY": ""}):
        ended = machine.run("run", "a", "--harness", harness, env=env)
        assert (ended.code, ended.seen) == (125, None)
        assert "GW_KEY" in ended.err


@pytest.mark.parametrize(("harness", "option"), [("pi", "--model"), ("claude", "--model"), ("codex", "-m")])
def test_006_9_8_without_a_registry_a_native_name_passes(machine: Any, harness: str, option: str) -> None:
    machine.agent("a", model="some-model")
    words = machine.run("run", "a", "--harness", harness).argv
    assert words[words.index(option) + 1] == "some-model"


@pytest.mark.parametrize(("harness", "api"), [("claude", "openai-responses"), ("codex", "anthropic-messages")])
def test_006_9_6_a_lost_dialect_is_a_warning_and_fatal_under_strict(machine: Any, harness: str, api: str) -> None:
    registry(machine, gw=provider(api))
    machine.agent("a", model="gw/m1")
    ended = machine.run("run", "a", "--harness", harness, env={"GW_KEY": SECRET})
    assert ended.code == 0, ended.err
    assert api in ended.err
    assert "m1" not in json.dumps(ended.argv)
    assert "127.0.0.1:9" not in json.dumps([ended.argv, ended.seen["texts"], ended.seen["env"]])
    assert machine.run("run", "a", "--harness", harness, "--strict", env={"GW_KEY": SECRET}).code == 122
