"""Claude Code's declared table (seed 000, exactly), its known scratch (CLS-01, CLS-02), and agreement of mode and paths."""

import pytest

from outfitter.adapters.claude.plan import ADAPTER
from outfitter.adapters.claude.state import declared
from tests.adapters.claude_case import HELP, NATIVE, composition, facts, isolated, plan, request, settings

FILE = ("symlink", "warn", "error", "prompt")
RESOURCES = ("symlink", "discard", "warn", "error", "prompt")
TREE = ("symlink", "discard", "warn", "error")
SEED_000 = {
    "settings.json": ("symlink", FILE),
    "agents/": ("symlink", RESOURCES),
    "skills/": ("symlink", RESOURCES),
    "commands/": ("symlink", RESOURCES),
    "plugins/": ("symlink", RESOURCES),
    "projects/": ("symlink", TREE),
    "debug/": ("symlink", TREE),
    "unknown": ("warn", ("discard", "warn", "error", "prompt")),
}


def paths(asked, known=None):
    return ADAPTER.state_paths(asked, settings(), known or facts())


def test_the_table_is_the_seeds():
    table = {path.key: (path.default, path.allowed) for path in paths(request(isolated=True)) if not path.scratch}
    assert table == SEED_000


def test_native_places_are_the_native_directorys_own():
    for path in declared(NATIVE):
        if path.key in SEED_000 and path.key != "unknown":
            assert path.native == f"{NATIVE}/{path.key}"


@pytest.mark.parametrize(
    "name",
    [
        "todos/",
        "shell-snapshots/",
        "file-history/",
        "paste-cache/",
        "session-env/",
        "sessions/",
        "backups/",
        ".last-cleanup",
        "history.jsonl",
        "plans/",
        "telemetry/",
        "statsig/",
        ".claude.json.lock/",
    ],
)
def test_cls_02_what_a_normal_directory_grows_is_known_scratch(name):
    (path,) = [path for path in declared(NATIVE) if path.key == name]
    assert path.scratch
    assert path.default == "discard"
    assert {"discard", "warn", "error"} <= set(path.allowed)


def test_only_the_users_own_data_may_be_linked_from_the_scratch():
    linkable = {path.key for path in declared(NATIVE) if path.scratch and "symlink" in path.allowed}
    assert linkable == {"history.jsonl", "file-history/", "todos/", "plans/", "paste-cache/"}
    assert all(path.native for path in declared(NATIVE) if path.key in linkable)


def test_cls_01_credentials_and_state_are_bridged_and_no_setting_can_name_them():
    keys = {path.key for path in declared(NATIVE)}
    assert not keys & {".credentials.json", ".claude.json"}
    bridged = {bridge.path for bridge in isolated(composition()).bridges}
    assert {".credentials.json", ".claude.json", "projects/"} <= bridged


def test_no_key_is_declared_twice_and_unknown_comes_last():
    keys = [path.key for path in declared(NATIVE)]
    assert len(keys) == len(set(keys))
    assert keys[-1] == "unknown"


def test_an_inherited_run_declares_unknown_alone_but_settings_may_name_the_rest():
    assert [path.key for path in paths(request())] == ["unknown"]
    assert {path.key for path in ADAPTER.declared} == {path.key for path in declared(NATIVE)}


@pytest.mark.parametrize("text", [HELP, ""])
@pytest.mark.parametrize("asked", [request(), request(isolated=True)])
def test_paths_wants_and_plan_agree_on_the_strategy(text, asked):
    known = facts(help=text)
    alone = len(paths(asked, known)) > 1
    wanted = ADAPTER.more_facts(asked, settings(), known).files
    assert any(path.endswith("/.claude.json") for path in wanted) is alone
    made = plan(composition(), asked, known=known)
    assert ("CLAUDE_CONFIG_DIR" in made.launch.env_set) is alone
    assert bool(made.bridges) is alone
