"""The `prompt` strategy on a terminal: persist, discard, always (spec/50, seed 001)."""

import pytest

from outfitter.model.settings import Scope


def asked(bench, *answers, handlings=None, **more):
    b = bench("pi", handlings or {"mcp.json": "prompt"}, interactive=True, **more)
    b.answers = list(answers)
    return b


def test_persist_copies_once(bench):
    b = asked(bench, "persist")
    durable = b.put(".pi/agent/mcp.json", "old", 0o640)
    b.launch()
    b.replace("mcp.json", "new")
    b.settle(b.settings())
    assert durable.read_bytes() == b"new"
    assert durable.stat().st_mode & 0o777 == 0o640
    assert b.outcome("mcp.json") == "persisted"
    assert b.settlement.notices == ()
    assert len(b.questions) == 1
    assert str(durable) in b.questions[0]


def test_persist_makes_a_missing_file(bench):
    b = asked(bench, "persist")
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings())
    assert (b.native / "mcp.json").read_bytes() == b"new"
    assert (b.native / "mcp.json").stat().st_mode & 0o777 == 0o600


def test_discard_is_silent(bench):
    b = asked(bench, "discard")
    durable = b.put(".pi/agent/mcp.json", "old")
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings())
    assert durable.read_bytes() == b"old"
    assert b.outcome("mcp.json") == "discarded"
    assert b.settlement.notices == ()


def test_no_answer_is_discard_and_says_so(bench):
    b = asked(bench, "end of input at the question: discarded")
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings())
    assert b.outcome("mcp.json") == "discarded"
    assert b.warnings("mcp.json", "end of input")


def test_persist_under_a_concurrent_change_overwrites_nothing(bench):
    b = asked(bench, "persist")
    durable = b.put(".pi/agent/mcp.json", "old")
    b.launch()
    b.write("mcp.json", "mine")
    durable.write_bytes(b"theirs")
    b.settle(b.settings())
    assert durable.read_bytes() == b"theirs"
    assert b"mine" in b.kept()
    assert b.outcome("mcp.json") == "conflict"


def test_one_question_a_directory_and_a_merge_that_never_deletes(bench):
    b = asked(bench, "persist", handlings={"plugins/": "prompt"})
    b.put(".pi/agent/plugins/a", "a")
    kept = b.put(".pi/agent/plugins/deep/b", "b")
    b.launch()
    assert (b.projection / "plugins/deep/b").read_bytes() == b"b"
    b.write("plugins/a", "a2")
    b.write("plugins/new/c", "c")
    b.delete("plugins/deep")
    b.settle(b.settings())
    assert len(b.questions) == 1
    assert {k: v for k, (_, v) in b.durable_tree(b.native / "plugins").items()} == {
        "a": b"a2",
        "deep/b": b"b",
        "new/c": b"c",
    }
    assert kept.read_bytes() == b"b"
    assert b.warnings("plugins/deep/b", "never carried over")


def test_an_idle_prompt_path_asks_nothing(bench):
    b = asked(bench)
    b.put(".pi/agent/mcp.json", "old")
    b.launch()
    b.replace("mcp.json", "old")
    b.settle(b.settings())
    assert b.questions == []
    assert b.settlement.notices == ()


def test_recovery_asks_nobody(bench):
    b = asked(bench, "persist")
    b.launch()
    b.write("mcp.json", "new")
    b.settle(None)
    assert b.questions == []
    assert b.outcome("mcp.json") == "warned"
    assert "prompt skipped: non-interactive" in b.told


LOCAL = ".agents/settings.local.yml"


def scope(b, kind, text):
    """A scope as it was read before the launch, its file on disk."""
    import yaml

    home = kind.startswith("home")
    name = "settings.local.yml" if kind.endswith("local") else "settings.yml"
    path = b.put(((b.home if home else b.project) / ".agents" / name), text)
    return Scope(kind, str(path), str(path.parent), yaml.safe_load(text) or {}, {}, True)


@pytest.mark.parametrize(
    ("kind", "where"), [("home", "home"), ("home-local", "home"), ("project", "project"), ("project-local", "project")]
)
def test_always_records_in_the_local_file_of_the_scope_that_asked(bench, kind, where):
    b = asked(bench, "always", scope=kind)
    scopes = [scope(b, kind, "# mine\nstate_persistence:\n  mcp.json: prompt # why\n")]
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings(*scopes))
    local = (b.home if where == "home" else b.project) / LOCAL
    assert "mcp.json: symlink" in local.read_text()
    if kind.endswith("local"):
        assert local.read_text() == "# mine\nstate_persistence:\n  mcp.json: symlink # why\n"
    assert (b.native / "mcp.json").read_bytes() == b"new"
    assert b.outcome("mcp.json") == "persisted"
    assert not b.warnings("")
    assert str(local) in b.told


@pytest.mark.parametrize("tree", [True, False])
def test_always_for_a_default_goes_to_the_project_if_it_has_a_tree(bench, tree):
    b = asked(bench, "always", scope="default")
    if tree:
        b.put(b.project / ".agents/agents/a/agent.md", "x")
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings())
    local = (b.project if tree else b.home) / LOCAL
    assert local.read_text() == "state_persistence:\n  mcp.json: symlink\n"
    assert not b.warnings("")


def test_always_records_in_the_form_that_asked(bench):
    b = asked(bench, "always", scope="home")
    scopes = [scope(b, "home", "state_persistence:\n  pi:\n    mcp.json: prompt\n")]
    b.launch()
    states = tuple(s._replace(form="harness") if s.key == "mcp.json" else s for s in b.record.states)
    from attrs import evolve

    b.record = evolve(b.record, states=states)
    b.write("mcp.json", "new")
    b.settle(b.settings(*scopes))
    assert (b.home / LOCAL).read_text() == "state_persistence:\n  pi:\n    mcp.json: symlink\n"
    assert not b.warnings("")


def test_always_of_a_remote_source_persists_once_and_warns(bench):
    b = asked(bench, "always", scope="remote")
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings())
    assert (b.native / "mcp.json").read_bytes() == b"new"
    assert b.warnings("mcp.json", "could not be recorded", "remote")
    assert not (b.home / LOCAL).exists()


def test_always_where_symlink_is_not_allowed_persists_once_and_warns(bench):
    b = asked(bench, "always")
    b.launch()
    from attrs import evolve

    states = tuple(s._replace(allowed=("prompt", "warn")) if s.key == "mcp.json" else s for s in b.record.states)
    b.record = evolve(b.record, states=states)
    b.write("mcp.json", "new")
    b.settle(b.settings())
    assert (b.native / "mcp.json").read_bytes() == b"new"
    assert b.warnings("could not be recorded", "symlink")


def test_always_that_does_not_win_says_so(bench):
    b = asked(bench, "always", scope="home")
    scopes = [
        scope(b, "project", "state_persistence: {mcp.json: warn}\n"),
        scope(b, "home", "state_persistence: {mcp.json: prompt}\n"),
    ]
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings(*scopes))
    assert b.warnings("could not be recorded", "wins")


def test_always_into_a_broken_file_changes_nothing_in_it(bench):
    b = asked(bench, "always", scope="home")
    local = b.put(LOCAL, "state_persistence: [broken\n")
    b.launch()
    b.write("mcp.json", "new")
    b.settle(b.settings())
    assert local.read_text() == "state_persistence: [broken\n"
    assert (b.native / "mcp.json").read_bytes() == b"new"
    assert b.warnings("could not be recorded", str(local))
