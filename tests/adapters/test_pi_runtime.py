"""Declared files that a run generates for Pi: OFTR-006.3.10, 006.3.11, 006.7, 006.8, 006.9.3; spec/95 PIX-01, PIX-06, PIX-07, JSN-04."""

from __future__ import annotations

import json
from typing import Any

import pytest

from outfitter.adapters.pi.runtime import package_identity
from outfitter.model.composition import ModelTarget
from outfitter.model.projection import ProjectionPlan
from tests.adapters.samples import (
    HOME,
    composed,
    overlay,
    planned,
    registry_target,
    request,
    said,
    server,
    texts,
    values,
    warnings,
)

BOM = b"\xef\xbb\xbf"
TTY: dict[str, Any] = {"stdin_tty": True, "stdout_tty": True}


def generated(plan: ProjectionPlan, name: str) -> Any:
    return json.loads(texts(plan)[name])


# --- 006.7 settings reconciliation


def test_006_7_1_to_3_a_doubled_package_goes_and_all_else_stays() -> None:
    native = {
        "theme": "x",
        "packages": ["npm:a@1", {"source": "git:https://github.com/o/r.git@v2"}, "npm:keep"],
        "n": [1],
    }
    plan = planned("pi", composed(extensions=("npm:a", "git:github.com/o/r")), files={"settings.json": native})
    assert generated(plan, "settings.json") == {"theme": "x", "packages": ["npm:keep"], "n": [1]}
    assert len(said(plan, "package-doubled", "notice")) == 2


def test_006_7_4_the_reconciled_file_is_one_run() -> None:
    plan = planned("pi", composed(extensions=("npm:a",)), files={"settings.json": {"packages": ["npm:a@1"]}})
    assert {r.path.key: r.strategy for r in plan.strategies.declared}["settings.json"] == "discard"


@pytest.mark.parametrize(
    "native",
    [
        None,
        {"packages": ["npm:other"]},
        {"theme": "x"},
        b'{"packages": ["npm:a@1"],}',
        b'{"packages": ["npm:a@1"]} // mine',
        b'{"packages": ["npm:a@1"], "packages": []}',
        b"[]",
        {"packages": {"npm:a": 1}},
        {"packages": ["npm:a", 3]},
    ],
)
def test_006_7_5_and_pix_01_the_native_file_where_nothing_must_go_or_it_cannot_be_read(native: Any) -> None:
    files = {} if native is None else {"settings.json": native}
    plan = planned("pi", composed(extensions=("npm:a",)), files=files)
    assert "settings.json" not in texts(plan)
    assert {r.path.key: r.strategy for r in plan.strategies.declared}["settings.json"] == "symlink"
    assert warnings(plan) == []


def test_jsn_04_a_byte_order_mark_is_understood() -> None:
    raw = BOM + b'{"packages": ["npm:a"], "theme": "x"}'
    plan = planned("pi", composed(extensions=("npm:a",)), files={"settings.json": raw})
    assert generated(plan, "settings.json") == {"packages": [], "theme": "x"}


def test_overlay_settings_lie_over_the_native_ones() -> None:
    """spec/40: overlay keys over them; the higher layer's over the lower's."""
    overlays = (overlay("settings.json", {"a": 1, "b": 1}, layer="home"), overlay("settings.json", {"b": 2}))
    plan = planned("pi", composed(overlays=overlays), files={"settings.json": {"b": 0, "c": 0}})
    assert generated(plan, "settings.json") == {"b": 2, "c": 0, "a": 1}


def test_an_overlay_over_native_settings_that_cannot_be_read_is_left_out_with_a_warning() -> None:
    plan = planned("pi", composed(overlays=(overlay("settings.json", {"a": 1}),)), files={"settings.json": b"{,"})
    assert "settings.json" not in texts(plan)
    assert said(plan, "settings-unreadable")


def test_a_broken_overlay_is_named() -> None:
    plan = planned("pi", composed(overlays=(overlay("settings.json", b"{,"),)))
    assert "settings.json" in said(plan, "overlay-unreadable")[0]


@pytest.mark.parametrize(
    "spellings",
    [
        ("npm:a", "npm:a@1.2.3", " npm:a@latest"),
        ("npm:@s/a", "npm:@s/a@1"),
        (
            "git:github.com/o/r",
            "git:https://github.com/o/r.git",
            "https://github.com/o/r@v1",
            "git:git@github.com:o/r.git@main",
            "ssh://git@github.com:22/o/r",
            "git@github.com:o/r",
            "github:o/r#v1",
            "git://GitHub.com/o/r/",
            "https://user@github.com/o/r",
        ),
        ("./tools/x", "tools/x", "/w/p/tools/x", "tools/../tools/x/", "file:///w/p/tools/x"),
        ("~/x", "/h/x"),
    ],
)
def test_006_7_2_one_identity_for_all_spellings(spellings: tuple[str, ...]) -> None:
    assert len({package_identity(spelling, "/w/p", "/h") for spelling in spellings}) == 1


def test_006_7_2_different_packages_stay_different() -> None:
    sources = (
        "npm:a",
        "npm:@a/a",
        "a",
        "github.com/o/r",
        "git:github.com/o/r",
        "git:gitlab.com/o/r",
        "git:github.com/o/rr",
    )
    assert len({package_identity(source, "/w/p", "/h") for source in sources}) == len(sources)


def test_a_relative_native_package_stands_in_pis_own_directory() -> None:
    native = {"packages": ["./ext"]}
    plan = planned("pi", composed(extensions=(f"{HOME}/.pi/agent/ext",)), files={"settings.json": native})
    assert generated(plan, "settings.json") == {"packages": []}
    assert "settings.json" not in texts(planned("pi", composed(extensions=("./ext",)), files={"settings.json": native}))


# --- 006.8 interaction defaults


def test_006_8_1_shift_tab_is_free_and_thinking_moves() -> None:
    assert generated(planned("pi", composed()), "keybindings.json") == {"app.thinking.cycle": "ctrl+shift+t"}


def test_006_8_2_and_pix_07_valid_bindings_stay_but_for_reserved_keys() -> None:
    native = {
        "app.session.new": "ctrl+shift+n",
        "app.session.tree": ["Shift+Ctrl+T", "alt+t"],
        "app.exit": "SHIFT+TAB",
        "app.thinking.cycle": "alt+y",
        "cycleThinkingLevel": "alt+z",
        "tui.altScreen.pageUp": [],
        "broken": 3,
    }
    overlays = (overlay("keybindings.json", {"app.session.new": "alt+n"}),)
    plan = planned("pi", composed(overlays=overlays), files={"keybindings.json": native})
    assert generated(plan, "keybindings.json") == {
        "app.session.new": "alt+n",
        "app.session.tree": ["alt+t"],
        "tui.altScreen.pageUp": [],
        "app.thinking.cycle": "ctrl+shift+t",
    }


@pytest.mark.parametrize(
    ("raw", "told"), [(b"", 0), (b" \n", 0), (b"// mine\n/* x */", 0), (BOM, 0), (b"{,}", 1), (b"[]", 1), (b"\xff", 1)]
)
def test_pix_07_an_invalid_file_is_one_diagnostic(raw: bytes, told: int) -> None:
    plan = planned("pi", composed(), files={"keybindings.json": raw})
    assert len(warnings(plan)) == told
    assert generated(plan, "keybindings.json") == {"app.thinking.cycle": "ctrl+shift+t"}


def test_006_8_3_the_generated_keybindings_are_one_run() -> None:
    rows = {r.path.key: r.strategy for r in planned("pi", composed()).strategies.declared}
    assert rows["keybindings.json"] == "discard"


def test_006_8_4_interactive_launches_get_the_bootstrap_extension_first() -> None:
    plan = planned("pi", composed(extensions=("npm:x",)), request(**TTY))
    bootstrap, own = values(plan, "--extension")
    assert bootstrap.endswith("/outfitter/bootstrap.ts")
    assert own == "npm:x"
    assert [copied.path for copied in plan.copied] == ["outfitter/bootstrap.ts"]


@pytest.mark.parametrize(
    "made",
    [
        request(),
        request(stdin_tty=True),
        request(stdout_tty=True),
        request(("-p", "x"), **TTY),
        request(("--print",), **TTY),
        request(("--mode", "json"), **TTY),
        request(("--mode", "rpc"), **TTY),
        request(("--list-models",), **TTY),
    ],
)
def test_006_8_8_other_launches_do_not(made: Any) -> None:
    plan = planned("pi", composed(), made)
    assert values(plan, "--extension") == []
    assert plan.copied == ()


@pytest.mark.parametrize("words", [("--mode", "text"), ("fix", "-x"), ("--", "-p")])
def test_006_8_4_words_that_keep_it_interactive(words: tuple[str, ...]) -> None:
    assert values(planned("pi", composed(), request(words, **TTY)), "--extension")


# --- 006.9.3 models

REGISTRY = {
    "providers": {
        "gw": {
            "baseUrl": "http://127.0.0.1:9/v1",
            "api": "openai-completions",
            "apiKey": "$GW_KEY",
            "models": [{"id": "m1"}],
        }
    }
}


def test_006_9_3_and_006_3_11_the_canonical_registry_with_native_providers_of_other_ids() -> None:
    native = {"providers": {"gw": {"baseUrl": "http://old"}, "mine": {"baseUrl": "http://m", "apiKey": "literal"}}}
    plan = planned("pi", composed(registry=REGISTRY), files={"models.json": native})
    assert generated(plan, "models.json") == {
        "providers": {**REGISTRY["providers"], "mine": native["providers"]["mine"]}
    }
    assert {r.path.key: r.strategy for r in plan.strategies.declared}["models.json"] == "discard"


def test_006_3_11_without_a_registry_the_native_file_is_in_reach() -> None:
    plan = planned("pi", composed(), files={"models.json": {"providers": {}}})
    assert "models.json" not in texts(plan)
    assert {r.path.key: r.strategy for r in plan.strategies.declared}["models.json"] == "symlink"


def test_a_native_registry_that_cannot_be_read_is_a_warning() -> None:
    plan = planned("pi", composed(registry=REGISTRY), files={"models.json": b"{,"})
    assert generated(plan, "models.json") == REGISTRY
    assert said(plan, "models-unreadable")


def test_a_provider_without_a_credential_is_given_one_that_opens_nothing() -> None:
    """Pi would else look for a login of that provider's name in the environment."""
    registry = {
        "providers": {"openai": {"baseUrl": "http://127.0.0.1:9", "api": "openai-responses", "models": [{"id": "m"}]}}
    }
    assert (
        generated(planned("pi", composed(registry=registry)), "models.json")["providers"]["openai"]["apiKey"] == "none"
    )


def test_a_stored_login_of_the_same_provider_is_a_warning() -> None:
    """Pi prefers what auth.json holds to the credential the registry names."""
    target = registry_target(variable="K", api="openai-completions")
    plan = planned(
        "pi",
        composed(registry=REGISTRY, model=target),
        request(env={"K": "k"}),
        files={"auth.json": {"gw": {"type": "api_key"}}},
    )
    assert "gw" in said(plan, "login-preferred")[0]


def test_006_9_6_a_dialect_that_pi_does_not_speak_is_left_out_whole() -> None:
    plan = planned("pi", composed(model=registry_target(api="smoke-signals")))
    assert "--model" not in plan.launch.arguments
    assert "--provider" not in plan.launch.arguments
    assert "smoke-signals" in said(plan, "model-omitted")[0]
    spoken = composed(model=registry_target(api="smoke-signals", variable=""), extensions=("npm:signals",))
    assert values(planned("pi", spoken), "--model") == ["m1"]


def test_006_9_8_a_native_name_passes_with_a_registry_too() -> None:
    assert values(planned("pi", composed(registry=REGISTRY, model=ModelTarget("native", "x"))), "--model") == ["x"]


# --- mcp.json


def test_006_3_10_server_files_merge_by_id_and_arrays_by_identity() -> None:
    low = {
        "mcpServers": {"a": {"command": "low"}, "b": {"command": "b"}},
        "imports": [{"id": "x", "v": 1}, "y"],
        "t": {"k": 1},
    }
    high = {"mcpServers": {"a": {"command": "high"}}, "imports": [{"id": "x", "v": 2}, "y", "z"], "t": {"l": 2}}
    overlays = (overlay(".mcp.json", low, layer="home"), overlay(".mcp.json", high))
    merged = generated(planned("pi", composed(overlays=overlays)), "mcp.json")
    assert merged["mcpServers"] == {"a": {"command": "high"}, "b": {"command": "b"}}
    assert merged["imports"] == [{"id": "x", "v": 2}, "y", "z"]
    assert merged["t"] == {"k": 1, "l": 2}


def test_selected_servers_over_overlays_over_native_ones() -> None:
    """spec/40: a selection says what the agent needs, not what the user may not have."""
    native = {"mcpServers": {"n": {"command": "n"}, "s": {"command": "n"}, "o": {"command": "n"}}, "keep": 1}
    overlays = (overlay("mcp.json", {"mcpServers": {"o": {"command": "o"}, "s": {"command": "o"}}}),)
    plan = planned("pi", composed(overlays=overlays, servers=(server("s", command="s"),)), files={"mcp.json": native})
    merged = generated(plan, "mcp.json")
    assert {name: entry["command"] for name, entry in merged["mcpServers"].items()} == {"n": "n", "s": "s", "o": "o"}
    assert merged["keep"] == 1


def test_no_servers_leave_the_native_file() -> None:
    plan = planned("pi", composed(), files={"mcp.json": {"mcpServers": {"n": {"command": "n"}}}})
    assert "mcp.json" not in texts(plan)


def test_a_native_server_file_that_cannot_be_read_is_a_warning() -> None:
    plan = planned("pi", composed(servers=(server("s", command="s"),)), files={"mcp.json": b"{,"})
    assert list(generated(plan, "mcp.json")["mcpServers"]) == ["s"]
    assert said(plan, "mcp-unreadable")


def test_servers_that_pi_would_drop_are_left_out_by_us_by_name() -> None:
    """spec/15 V20."""
    servers = (server("a.b", command="x"), server("old", type="sse", url="http://x/sse"), server("ok", command="x"))
    plan = planned("pi", composed(servers=servers))
    assert list(generated(plan, "mcp.json")["mcpServers"]) == ["ok"]
    assert [word in message for word, message in zip(("a.b", "old"), said(plan, "mcp-omitted"), strict=True)] == [
        True,
        True,
    ]


def test_a_tool_list_of_a_server_is_a_warning() -> None:
    """spec/15 V20: `available_tools` is a limit that Pi has nothing for."""
    assert said(
        planned("pi", composed(servers=(server("s", command="x", available_tools=["a"]),))), "mcp-tools-unlimited"
    )


def test_defaults_of_references_are_settled_without_a_secret_in_the_file() -> None:
    """spec/15 V24."""
    entry = server(
        "s", command="x", args=["${A:-low}"], env={"T": "${TOKEN:-none}", "U": "${UNSET:-text}", "V": "${V}"}
    )
    plan = planned("pi", composed(servers=(entry,)), request(env={"TOKEN": "secret"}))
    made = generated(plan, "mcp.json")["mcpServers"]["s"]
    assert made["args"] == ["low"]
    assert made["env"] == {"T": "${TOKEN}", "U": "text", "V": "${V}"}
    assert "secret" not in texts(plan)["mcp.json"]
