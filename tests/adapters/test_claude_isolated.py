"""OFTR-006.5 items 12 to 19, the adapter's side: what an isolated run starts from, and what is merged back, as data."""

import json

import pytest
from attrs import evolve

from outfitter.adapters.claude.plan import ADAPTER
from outfitter.adapters.claude.state import seeded_state, state_file
from outfitter.adapters.native_json import member_digest
from outfitter.model.projection import Bridge, Seed
from tests.adapters.claude_case import (
    CWD,
    HOME,
    NATIVE,
    STATE,
    codes,
    composition,
    content,
    facts,
    isolated,
    paths,
    plan,
    request,
    settings,
)

ACCOUNT = {"accountUuid": "u", "big": 12345678901234567890}


def native(document):
    return json.dumps(document).encode()


def test_006_5_12_the_login_is_seeded_as_the_file_that_it_is():
    assert Seed(NATIVE + "/.credentials.json", ".credentials.json") in isolated(composition()).seeds


def test_006_5_12_of_the_state_file_only_account_and_onboarding():
    document = {"oauthAccount": ACCOUNT, "hasCompletedOnboarding": True, "secret": "no", "mcpServers": {"x": {}}}
    made = isolated(composition(), known=facts(files={STATE: native(document)}))
    assert json.loads(content(made, ".claude.json")) == {"oauthAccount": ACCOUNT, "hasCompletedOnboarding": True}


@pytest.mark.parametrize(
    "raw",
    [None, b"", b"{broken", b"[]", b'"text"', b"null", b'{"oauthAccount": {"a": NaN}}', b"\xff\xfe", b"[" * 100_000],
    ids=["missing", "empty", "cut", "list", "text", "null", "nan", "no-utf8", "deep"],
)
def test_006_5_12_jsn_01_05_missing_or_unusable_state_stays_absent(raw):
    made = isolated(composition(), known=facts(files={STATE: raw}))
    assert ".claude.json" not in paths(made)
    assert ("claude-state-unusable" in codes(made)) is (raw is not None)
    (bridge,) = [bridge for bridge in made.bridges if bridge.rule == "member"]
    assert bridge.seeded == ""


def test_006_5_12_state_that_cannot_be_read_is_named():
    made = isolated(composition(), known=facts(files={STATE: None}, unreadable={STATE: "Permission denied"}))
    (notice,) = [notice for notice in made.notices if notice.code == "claude-state-unusable"]
    assert "Permission denied" in notice.message
    assert ".claude.json" not in paths(made)


def test_006_5_12_jsn_04_a_byte_order_mark_is_understood():
    raw = "\ufeff".encode() + native({"oauthAccount": ACCOUNT})
    assert json.loads(content(isolated(composition(), known=facts(files={STATE: raw})), ".claude.json")) == {
        "oauthAccount": ACCOUNT
    }


def test_006_5_12_state_without_any_of_it_makes_no_file():
    assert ".claude.json" not in paths(isolated(composition(), known=facts(files={STATE: native({"numStartups": 3})})))


def test_006_5_13_trust_is_mirrored_for_exactly_this_directory():
    document = {
        "projects": {
            CWD: {"hasTrustDialogAccepted": True, "history": ["x"]},
            "/other": {"hasTrustDialogAccepted": True},
        }
    }
    made = isolated(composition(), known=facts(files={STATE: native(document)}))
    assert json.loads(content(made, ".claude.json")) == {"projects": {CWD: {"hasTrustDialogAccepted": True}}}


@pytest.mark.parametrize(
    "projects",
    [
        {CWD: {"hasTrustDialogAccepted": "true"}},
        {CWD: {"hasTrustDialogAccepted": 1}},
        {CWD: {"hasTrustDialogAccepted": False}},
        {CWD: []},
        {"/work": {"hasTrustDialogAccepted": True}},
        {CWD + "/": {"hasTrustDialogAccepted": True}},
        [],
        None,
    ],
)
def test_006_5_13_jsn_08_nothing_near_it_grants_trust(projects):
    assert seeded_state(STATE, native({"projects": projects}), CWD).content is None


def test_006_5_14_credentials_are_merged_back_by_their_own_rule():
    assert Bridge("credentials", ".credentials.json", NATIVE + "/.credentials.json") in isolated(composition()).bridges


def test_006_5_15_16_of_the_state_only_the_account_goes_back_under_the_programs_own_lock():
    document = {"oauthAccount": ACCOUNT}
    made = isolated(composition(), known=facts(files={STATE: native(document)}))
    (bridge,) = [bridge for bridge in made.bridges if bridge.rule == "member"]
    digest = member_digest(document, "oauthAccount")
    assert bridge == Bridge("member", ".claude.json", STATE, "oauthAccount", digest, STATE + ".lock")
    assert digest


def test_006_5_17_only_this_directorys_history_is_seeded():
    made = isolated(composition())
    folders = [seed for seed in made.seeds if seed.path.startswith("projects/")]
    assert folders == [Seed(NATIVE + "/projects/-work-shop/", "projects/-work-shop/")]


def test_006_5_18_every_projected_slug_is_merged_back():
    assert Bridge("sessions", "projects/", NATIVE + "/projects") in isolated(composition()).bridges


@pytest.mark.parametrize("strategy", ["discard", "warn", "error"])
def test_006_5_18_a_strategy_other_than_symlink_seeds_and_merges_nothing(strategy):
    made = isolated(composition(), override={"projects/": strategy})
    assert not [seed for seed in made.seeds if seed.path.startswith("projects/")]
    assert not [bridge for bridge in made.bridges if bridge.rule == "sessions"]


def test_006_5_19_recovery_can_carry_every_bridge_out_without_the_adapter():
    """A bridge is data: absolute, normal places and names, nothing that has to be asked for again."""
    for bridge in isolated(composition()).bridges:
        assert bridge.durable.startswith(HOME)
        assert not bridge.durable.endswith("/")


def test_the_plugin_registries_are_rewritten_only_where_plugins_are_linked():
    assert [bridge.members for bridge in isolated(composition()).bridges if bridge.rule == "rewrite"] == [
        ("known_marketplaces.json", "installed_plugins.json")
    ]
    made = isolated(composition(), override={"plugins/": "discard"})
    assert not [bridge for bridge in made.bridges if bridge.rule == "rewrite"]


@pytest.mark.parametrize(
    ("variable", "where", "expected"),
    [
        (None, NATIVE, STATE),
        ("/own", "/own", "/own/.claude.json"),
        (NATIVE, NATIVE, NATIVE + "/.claude.json"),
        ("own/", CWD + "/own", CWD + "/own/.claude.json"),
        ("/tmp/outer/projection", NATIVE, STATE),
        ("/tmp/outer/projection", "/own", "/own/.claude.json"),
    ],
    ids=["none", "own", "own-usual", "own-relative", "nested", "nested-own"],
)
def test_run_12_the_state_file_of_a_relocated_or_looked_through_directory(variable, where, expected):
    env = {"HOME": HOME} | ({"CLAUDE_CONFIG_DIR": variable} if variable else {})
    asked = evolve(request(isolated=True), ambient=evolve(request().ambient, env=env))
    assert state_file(asked, where) == expected
    assert expected in ADAPTER.more_facts(asked, settings(), facts(native=where)).files
    made = plan(composition(), asked, known=facts(native=where))
    assert [bridge.durable for bridge in made.bridges if bridge.rule == "member"] == [expected]
    assert made.launch.env_set["CLAUDE_CONFIG_DIR"].startswith("/tmp/")
