"""Pi's declared paths and sessions: seed 000's table, OFTR-006.3.19, spec/95 PIX-03, PIX-04, CLS-05."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.adapters.pi.state import encoded
from outfitter.model.composition import Controls
from outfitter.model.projection import ProjectionPlan
from outfitter.model.settings import Strategy
from tests.adapters.samples import HOME, composed, facts, planned, request, said

SESSIONS = "PI_CODING_AGENT_SESSION_DIR"
CHOSEN = "OUTFITTER_PI_SESSION_DIR"
SEED = {
    "auth.json": "symlink error prompt",
    "settings.json": "symlink warn error prompt",
    "keybindings.json": "symlink warn error prompt",
    "mcp.json": "symlink warn error prompt",
    "models.json": "symlink warn error prompt",
    "trust.json": "symlink warn error prompt",
    "plugins/": "symlink discard warn error prompt",
    "cache/": "symlink discard warn error",
    "sessions/": "symlink discard warn error",
    "npm/": "symlink discard warn error",
    "git/": "symlink discard warn error",
    "tmp/": "symlink discard",
    "utilities/": "symlink discard warn error",
    "bin/": "symlink discard warn error",
}


def test_seed_000_the_table_exactly() -> None:
    plan = planned("pi", composed())
    rows = [r for r in plan.strategies.declared if not r.path.scratch]
    assert {r.path.key: " ".join(r.path.allowed) for r in rows} == SEED
    assert all(r.path.default == "symlink" for r in rows)
    assert (plan.strategies.unknown.strategy, plan.strategies.unknown.path.allowed) == (
        "warn",
        ("discard", "warn", "error", "prompt"),
    )


def test_seed_000_native_places() -> None:
    places = {r.path.key: r.path.native for r in planned("pi", composed()).strategies.declared}
    assert places["auth.json"] == f"{HOME}/.pi/agent/auth.json"
    assert places["plugins/"] == f"{HOME}/.pi/agent/plugins/"
    assert places["bin/"] == places["utilities/"] == f"{HOME}/.agents/cache/utilities/"


def test_missing_durable_files_are_made_with_what_pi_accepts() -> None:
    """spec/50: the real Pi crashes on an empty trust.json."""
    paths = {r.path.key: r.path for r in planned("pi", composed()).strategies.declared}
    assert paths["trust.json"].create == b"{}"
    assert paths["models.json"].create == b'{"providers": {}}'
    assert paths["auth.json"].initial == paths["models-store.json"].initial == b"{}"
    assert paths["settings.json"].initial is None


def test_pix_03_and_cls_05_auth_is_one_shared_file_and_its_lock_is_scratch() -> None:
    rows = {r.path.key: r for r in planned("pi", composed()).strategies.declared}
    assert rows["auth.json"].strategy == "symlink"
    lock = rows["auth.json.lock/"]
    assert (lock.strategy, lock.path.native, lock.path.scratch) == ("discard", None, True)
    assert "odd.lock/" not in rows


def test_known_scratch_is_discarded_and_may_be_watched() -> None:
    """spec/40: default discard; discard, warn, error."""
    scratch = [
        r.path for r in planned("pi", composed()).strategies.declared if r.path.scratch and r.path.native is None
    ]
    assert {path.key for path in scratch} >= {"models-store.json", "settings.json.lock/", "trust.json.lock/"}
    assert all((path.default, path.allowed) == ("discard", ("discard", "warn", "error")) for path in scratch)


def test_logins_to_mcp_servers_are_durable() -> None:
    rows = {r.path.key: r for r in planned("pi", composed()).strategies.declared}
    assert rows["mcp-auth.json"].path.native == f"{HOME}/.pi/agent/mcp-auth.json"
    assert rows["mcp-auth.json"].strategy == "symlink"


@pytest.mark.parametrize(("cwd", "name"), [("/a.b/c d/é", "--a.b-c d-é--"), ("/", "----"), ("/x\\y:z", "--x-y-z--")])
def test_pix_04_pis_folder_names(cwd: str, name: str) -> None:
    assert encoded(cwd) == name


def test_006_3_19_the_durable_directory_of_this_project() -> None:
    assert where(planned("pi", composed(), request(cwd="/w/p"))) == f"{HOME}/.pi/agent/sessions/--w-p--"


def test_006_3_19_a_name_too_long_gets_a_directory_of_its_own() -> None:
    places = [where(planned("pi", composed(), request(cwd="/" + "d" * 300 + tail))) for tail in ("a", "b")]
    assert len({*places}) == 2
    assert all(len(place.rpartition("/")[2].encode()) <= 255 for place in places)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=400))
def test_006_3_19_every_working_directory_has_a_name_that_fits(tail: str) -> None:
    name = where(planned("pi", composed(), request(cwd="/" + tail))).removeprefix(f"{HOME}/.pi/agent/sessions/")
    assert "/" not in name
    assert len(name.encode()) <= 255


def test_006_3_19_an_inherited_value_stays() -> None:
    plan = planned("pi", composed(controls=Controls(session_directory="/c")), request(env={SESSIONS: "/mine"}))
    assert SESSIONS not in plan.launch.env_set
    assert SESSIONS not in plan.launch.env_unset


@pytest.mark.parametrize("words", [("--session-dir", "/d"), ("--no-session",)])
def test_006_3_19_words_of_the_command_line_stay(words: tuple[str, ...]) -> None:
    assert SESSIONS not in planned("pi", composed(), request(words)).launch.env_set
    assert SESSIONS not in planned("pi", composed(controls=Controls(args=words))).launch.env_set
    assert SESSIONS in planned("pi", composed(), request(("--", *words))).launch.env_set


def test_a_value_of_the_agents_environment_counts_over_all_but_words() -> None:
    controls = Controls({SESSIONS: "/tree"}, session_directory="/c")
    assert where(planned("pi", composed(controls=controls), request(env={SESSIONS: "/mine"}))) == "/tree"


@pytest.mark.parametrize("strategy", ["discard", "warn", "error"])
def test_a_strategy_other_than_symlink_governs(strategy: Strategy) -> None:
    """spec/40: Pi writes into the projection then."""
    plan = planned("pi", composed(), chosen={"sessions/": strategy})
    assert SESSIONS not in plan.launch.env_set
    assert not said(plan, "strategy-defeated")


@pytest.mark.parametrize(
    ("controls", "made"),
    [
        (Controls({SESSIONS: "/c"}), request()),
        (Controls(), request(env={SESSIONS: "/c"})),
        (Controls(), request(("--session-dir", "/c"))),
    ],
)
def test_a_defeated_strategy_is_a_warning(controls: Controls, made: object) -> None:
    plan = planned("pi", composed(controls=controls), made, chosen={"sessions/": "discard"})  # type: ignore[arg-type]
    assert "sessions/: discard" in said(plan, "strategy-defeated")[0]


def test_a_trees_session_directory_gives_way_to_the_users_strategy() -> None:
    plan = planned("pi", composed(controls=Controls(session_directory="/c")), chosen={"sessions/": "discard"})
    assert SESSIONS not in plan.launch.env_set
    assert said(plan, "session-directory-unused")


def test_a_generated_declared_file_is_one_run_but_a_watch_stays_in_force() -> None:
    """spec/50, "three kinds"."""
    rows = {r.path.key: r.strategy for r in planned("pi", composed()).strategies.declared}
    assert rows["keybindings.json"] == "discard"
    assert rows["settings.json"] == "symlink"
    watched = planned("pi", composed(), chosen={"keybindings.json": "error"})
    assert {r.path.key: r.strategy for r in watched.strategies.declared}["keybindings.json"] == "error"


def test_every_path_it_may_declare_is_known_without_a_run() -> None:
    from outfitter.adapters.pi.plan import ADAPTER

    keys = [path.key for path in ADAPTER.declared]
    assert keys == [r.path.key for r in planned("pi", composed(), known=facts("pi")).strategies.declared]


def where(plan: ProjectionPlan) -> str:
    return plan.launch.env_set[SESSIONS]


def test_a_session_directory_that_an_outer_launch_chose_is_chosen_anew() -> None:
    outer = planned("pi", composed(controls=Controls(session_directory="/outer"))).launch.env_set
    inner = planned("pi", composed(), request(env=dict(outer)))
    assert where(inner).startswith(f"{HOME}/.pi/agent/sessions/--")
    assert inner.launch.env_set[CHOSEN] == where(inner)
    deeper = planned("pi", composed(), request(env={**outer, SESSIONS: "/mine"}))
    assert SESSIONS not in {*deeper.launch.env_set, *deeper.launch.env_unset}


def test_an_outer_launchs_session_directory_does_not_defeat_a_strategy() -> None:
    outer = planned("pi", composed()).launch.env_set
    plan = planned("pi", composed(), request(env=dict(outer)), chosen={"sessions/": "discard"})
    assert said(plan, "strategy-defeated") == []
    assert {SESSIONS, CHOSEN} <= set(plan.launch.env_unset)
