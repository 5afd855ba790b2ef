"""`outfitter diff` and `outfitter conflicts` on real runs (spec/50, spec/80)."""

import json
import os
import shutil

import pytest

SETTINGS = "state_persistence: {plugins/: warn, cache/: discard, mcp.json: error}\n"
WRITES = [
    ["write", "plugins/p", "1"],
    ["write", "cache/c", "2"],
    ["write", "odd.txt", "3\n"],
    ["write", "settings.json", '{"theme": "dark"}\n'],
    ["swap", "trust.json", '{"mine": 1}'],
    ["write", "~/.pi/agent/trust.json", '{"theirs": 1}'],
    ["pipe", "pipe"],
]


@pytest.fixture
def retained(machine):
    machine.agent()
    machine.settings(SETTINGS)
    machine.put(machine.home / ".pi/agent/trust.json", "{}")
    ended = machine.run("run", "a", "--retain-projection", script=WRITES)
    (root,) = machine.run_directories()
    assert str(root) in ended.err
    return root


def document(machine, *words):
    ended = machine.run("diff", *words, "--json")
    assert ended.err == ""
    return json.loads(ended.out)


def test_the_same_from_every_side(machine, retained):
    whole = document(machine, str(retained))
    assert whole["schema_version"] == 1
    assert {c["path"]: (c["change"], c["zone"], c["strategy"], c["outcome"]) for c in whole["changes"]} == {
        "cache/c": ("added", "declared", "discard", "discarded"),
        "odd.txt": ("added", "unknown", "warn", "warned"),
        "pipe": ("added", "unknown", "warn", "warned"),
        "plugins/p": ("added", "declared", "warn", "warned"),
        "settings.json": ("modified", "declared", "symlink", "durable"),
        "trust.json": ("replaced-link", "declared", "symlink", "conflict"),
    }
    for words in ((), (str(retained / "projection"),), (str(retained) + "/",)):
        assert document(machine, *words)["changes"] == whole["changes"]
    relative = os.path.relpath(retained, machine.project)
    assert document(machine, relative)["changes"] == whole["changes"]


def test_it_says_the_same_after_a_move_and_changes_nothing(machine, retained):
    before = document(machine, str(retained))["changes"]
    text = machine.run("diff", str(retained), "--content").out
    moved = machine.top / "moved"
    shutil.move(retained, moved)
    tree = {p: p.lstat() for p in [*moved.rglob("*"), *machine.home.rglob("*")]}
    assert document(machine, str(moved))["changes"] == before
    assert machine.run("diff", str(moved), "--content").out == text
    assert {p: p.lstat() for p in [*moved.rglob("*"), *machine.home.rglob("*")]} == tree


def test_exit_codes(machine, retained):
    assert machine.run("diff").code == 0
    assert machine.run("diff", "--exit-code").code == 1
    ended = machine.run("diff", "nowhere")
    assert (ended.code, "nowhere" in ended.err, ended.out) == (1, True, "")
    assert machine.run("diff", "--nonsense").code == 2


def test_settled_in_silence_is_no_finding(machine):
    machine.agent()
    machine.settings("state_persistence: {cache/: discard}\n")
    machine.run("run", "a", "--retain-projection", script=[["write", "cache/c", "2"], ["write", "trust.json", "{}  "]])
    assert machine.run("diff", "--exit-code").code == 0


def test_content_of_text_files_but_never_of_credentials(machine):
    machine.agent()
    machine.put(machine.home / ".pi/agent/auth.json", '{"key": "s3cret"}')
    machine.put(machine.home / ".pi/agent/settings.json", '{\n  "theme": "light"\n}\n')
    script = [
        ["write", "settings.json", '{\n  "theme": "dark"\n}\n'],
        ["write", "auth.json", '{"key": "other-s3cret"}'],
        ["write", "new.txt", "one\ntwo\n"],
    ]
    machine.run("run", "a", "--retain-projection", script=script)
    ended = machine.run("diff", "--content")
    assert '-  "theme": "light"\n+  "theme": "dark"' in ended.out
    assert "+one\n+two" in ended.out
    assert "auth.json: may hold credentials, not shown" in ended.out
    assert "s3cret" not in ended.out
    assert "s3cret" not in machine.run("diff", "--content", "--json").out


def test_the_newest_is_found_without_a_state_directory(machine):
    machine.agent()
    for text in ("1", "22"):
        ended = machine.run(
            "run", "a", "--retain-projection", script=[["write", "odd", text]], env={"XDG_STATE_HOME": "/proc/nowhere"}
        )
        assert ended.code == 0
    (change,) = [c for c in document(machine)["changes"] if c["path"] == "odd"]
    assert change["size_after"] == 2


def test_no_retained_run(machine):
    ended = machine.run("diff")
    assert ended.code == 1
    assert "no retained run" in ended.err
    assert len(ended.err.splitlines()) == 2


@pytest.mark.parametrize("content", [b"", b"{}", b"[1", b'{"format": 1}', b"\xff"])
def test_a_damaged_run_directory_is_one_clear_line(machine, content):
    root = machine.tmp / "outfitter-a-pi-12345678"
    (root / "projection").mkdir(parents=True)
    machine.put(root / "run.json", content)
    ended = machine.run("diff", str(root))
    assert ended.code == 1
    assert "run.json" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_run_that_was_never_settled_is_shown_as_it_would_be(machine):
    machine.agent()
    machine.history = machine.put(machine.home / f".claude/projects/{machine.slug()}/s.jsonl", "1\n")
    process = machine.start(
        *("run", "a", "--harness", "claude", "--isolated"),
        script=[
            ["append", f"projects/{machine.slug()}/s.jsonl", "2\n"],
            ["write", "odd", "x"],
            ["write", "~/ready", "1"],
            ["wait", 60],
        ],
    )
    try:
        machine.wait_for(machine.home / "ready")
        (root,) = machine.run_directories()
        ended = machine.run("diff", str(root))
        assert "not settled" in ended.out
        assert "bridged" in ended.out
        assert "odd" in ended.out
        assert machine.history.read_text() == "1\n"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def conflicts(machine, *words):
    ended = machine.run("conflicts", *words, "--json")
    return json.loads(ended.out) if ended.code == 0 else ended


def test_conflicts_are_listed_shown_taken_and_dropped(machine, retained):
    (one,) = conflicts(machine, "list")["conflicts"]
    durable = machine.home / ".pi/agent/trust.json"
    assert (one["path"], one["durable"], one["size"], one["credential"]) == ("trust.json", str(durable), 11, False)
    assert one["run"] in machine.run("conflicts").out
    assert conflicts(machine)["conflicts"][0]["id"] == one["id"]
    assert conflicts(machine, "show", one["id"])["text"] == '{"mine": 1}'
    assert '{"mine": 1}' in machine.run("conflicts", "show", one["id"][:6]).out
    taken = conflicts(machine, "apply", one["id"])
    assert durable.read_text() == '{"mine": 1}'
    (other,) = conflicts(machine, "list")["conflicts"]
    assert other["id"] == taken["kept_instead"]
    assert conflicts(machine, "show", other["id"])["text"] == '{"theirs": 1}'
    machine.run("conflicts", "apply", other["id"])
    assert durable.read_text() == '{"theirs": 1}'
    assert len(conflicts(machine, "list")["conflicts"]) == 1
    assert conflicts(machine, "drop", "--older-than", "1")["dropped"] == []
    assert len(conflicts(machine, "drop", "--older-than", "0")["dropped"]) == 1
    assert machine.run("conflicts", "list").out == "nothing is kept\n"


def test_a_kept_credential_is_never_shown(machine):
    machine.agent()
    durable = machine.put(machine.home / ".claude/.credentials.json", '{"t": 1}')
    script = [["write", ".credentials.json", '{"t": "s3cret"}'], ["write", "~/.claude/.credentials.json", '{"t": 3}']]
    ended = machine.run("run", "a", "--harness", "claude", "--isolated", script=script)
    assert ended.code == 0
    assert durable.read_text() == '{"t": 3}'
    assert "s3cret" not in ended.err
    (one,) = conflicts(machine, "list")["conflicts"]
    assert one["credential"] is True
    for words in (("show", one["id"]), ("show", one["id"], "--json"), ("list",)):
        assert "s3cret" not in machine.run("conflicts", *words).out
    assert b'{"t": "s3cret"}' in machine.kept().values()
    machine.run("conflicts", "apply", one["id"])
    assert durable.read_text() == '{"t": "s3cret"}'
    assert durable.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "ffff"), 1),
        (("apply", "ffff"), 1),
        (("drop", "ffff"), 1),
        (("drop",), 2),
        (("drop", "x", "--older-than", "3"), 2),
        (("drop", "--older-than", "-1"), 2),
        (("nonsense",), 2),
    ],
)
def test_bad_words(machine, words, code):
    ended = machine.run("conflicts", *words)
    assert ended.code == code
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_a_kept_content_whose_index_is_lost_is_still_there(machine, retained):
    (one,) = conflicts(machine, "list")["conflicts"]
    os.unlink(one["file"] + ".json")
    (lost,) = conflicts(machine, "list")["conflicts"]
    assert (lost["id"], lost["credential"]) == (one["id"], True)
    assert machine.run("conflicts", "apply", one["id"]).code == 1
    assert machine.run("conflicts", "drop", one["id"]).code == 0


OTHERS = {"projects": {"/x": {"hasTrustDialogAccepted": True}}, "n": 1}


def conflicting_account(machine, durable):
    """A run whose account could not be merged into `durable`: the id of what was kept."""
    machine.agent()
    mine = {"oauthAccount": {"id": "mine"}, "projects": {"/y": {"hasTrustDialogAccepted": True}}}
    machine.put(machine.home / ".claude.json", json.dumps({**OTHERS, "oauthAccount": {"id": "seed"}}), 0o640)
    script = [["write", "~/.claude.json", durable], ["write", ".claude.json", json.dumps(mine)]]
    assert machine.run("run", "a", "--harness", "claude", "--isolated", script=script).code == 0
    (kept,) = json.loads(machine.run("conflicts", "list", "--json").out)["conflicts"]
    return kept["id"]


def test_a_kept_account_is_taken_as_one_key_and_nothing_else(machine):
    """006.5.15 and 16 hold for `conflicts apply`, too, and for undoing it."""
    native = machine.home / ".claude.json"
    one = conflicting_account(machine, json.dumps({**OTHERS, "oauthAccount": {"id": "theirs"}}))
    ended = machine.run("conflicts", "apply", one)
    assert ended.code == 0, ended.err
    assert json.loads(native.read_text()) == {**OTHERS, "oauthAccount": {"id": "mine"}}
    assert native.stat().st_mode & 0o777 == 0o640
    (instead,) = json.loads(machine.run("conflicts", "list", "--json").out)["conflicts"]
    assert machine.run("conflicts", "apply", instead["id"]).code == 0
    assert json.loads(native.read_text()) == {**OTHERS, "oauthAccount": {"id": "theirs"}}


def test_a_kept_account_is_not_put_into_a_file_that_is_no_json(machine):
    one = conflicting_account(machine, '{"cut":')
    ended = machine.run("conflicts", "apply", one)
    assert (ended.code, "oauthAccount" in ended.err) == (1, True)
    assert (machine.home / ".claude.json").read_text() == '{"cut":'
    assert [name for name in machine.kept() if not name.endswith(".json")] == [
        name for name in machine.kept() if name.endswith(one)
    ]


@pytest.mark.parametrize("durable", ["relative", ["/etc/x"], 5, None])
def test_an_index_that_names_no_absolute_place_is_as_good_as_lost(machine, durable):
    folder = machine.home / ".local/state/outfitter/conflicts/r"
    machine.put(folder / ("a" * 12), "x")
    machine.put(folder / ("a" * 12 + ".json"), json.dumps({"durable": durable, "member": 7, "path": 1}))
    ended = machine.run("conflicts", "apply", "a" * 12)
    assert (ended.code, "so its destination is unknown" in ended.err) == (1, True)
    assert sorted(path.name for path in machine.project.iterdir()) == [".git"]
