"""Isolated and inherited Claude Code from outside, with a stand-in: OFTR-006.5.12 to 23 and spec/95 SLG, end to end."""

import json
import os

import pytest

from outfitter.adapters.claude.state import slug

ISOLATED = ("run", "a", "--harness", "claude", "--isolated")
INHERITED = ("run", "a", "--harness", "claude")


@pytest.fixture
def here(machine):
    machine.agent("a")
    return machine


def history(machine, name="s.jsonl", text='{"n":1}\n', folder=None):
    return machine.put(machine.home / ".claude/projects" / (folder or machine.slug()) / name, text)


def state(machine, **document):
    return machine.put(machine.home / ".claude.json", json.dumps(document))


def login(machine, token="t1"):
    return machine.put(
        machine.home / ".claude/.credentials.json", json.dumps({"claudeAiOauth": {"accessToken": token}}), 0o600
    )


def seeded(ended):
    return {path for path, entry in ended.seen["entries"].items() if path.startswith("projects/") and "text" in entry}


def test_006_5_12_13_what_an_isolated_run_starts_from(here):
    login(here)
    state(
        here,
        oauthAccount={"id": 1},
        hasCompletedOnboarding=True,
        userID="secret",
        projects={str(here.project): {"hasTrustDialogAccepted": True, "history": ["x"]}, "/other": {"hasTrustDialogAccepted": True}},
    )  # fmt: skip
    entries = here.run(*ISOLATED).seen["entries"]
    assert entries[".credentials.json"]["mode"] == 0o600
    assert json.loads(entries[".credentials.json"]["text"]) == {"claudeAiOauth": {"accessToken": "t1"}}
    assert entries[".claude.json"]["mode"] == 0o600
    assert json.loads(entries[".claude.json"]["text"]) == {
        "oauthAccount": {"id": 1},
        "hasCompletedOnboarding": True,
        "projects": {str(here.project): {"hasTrustDialogAccepted": True}},
    }


@pytest.mark.parametrize("ending", [["exit", 0], ["exit", 9], ["die", "SIGKILL"]], ids=["ok", "failed", "killed"])
def test_006_5_14_15_16_credentials_and_account_go_back_however_the_program_ended(here, ending):
    place, whole = login(here), state(here, oauthAccount={"id": 1}, keep=[1.0, 12345678901234567890])
    script = [
        ["write", ".credentials.json", '{"claudeAiOauth":{"accessToken":"t2"}}'],
        ["write", ".claude.json", '{"oauthAccount": {"id": 2}, "junk": 1, "keep": []}'],
        ending,
    ]
    ended = here.run(*ISOLATED, script=script)
    assert ended.code == {"exit": ending[1], "die": 137}[ending[0]]
    assert json.loads(place.read_text()) == {"claudeAiOauth": {"accessToken": "t2"}}
    assert place.stat().st_mode & 0o777 == 0o600
    assert whole.read_text() == json.dumps({"oauthAccount": {"id": 2}, "keep": [1.0, 12345678901234567890]})
    assert here.run_directories() == []


def test_006_5_14_a_login_that_changed_on_both_sides_is_kept_as_it_is(here):
    place = login(here)
    script = [
        ["write", ".credentials.json", '{"claudeAiOauth":{"accessToken":"ours"}}'],
        ["write", "~/.claude/.credentials.json", '{"claudeAiOauth":{"accessToken":"theirs"}}'],
    ]
    ended = here.run(*ISOLATED, script=script)
    assert ended.code == 0
    assert "theirs" in place.read_text()
    assert "credentials" in ended.err
    assert any(b"ours" in content for content in here.kept().values())


def test_006_5_15_a_broken_state_file_is_left_byte_for_byte(here):
    place = here.put(here.home / ".claude.json", '{"oauthAccount": {"id": 1}, "cut')
    ended = here.run(*ISOLATED, script=[["write", ".claude.json", '{"oauthAccount": {"id": 2}}']])
    assert ended.code == 0
    assert ".claude.json" not in ended.seen["entries"]
    assert place.read_text() == '{"oauthAccount": {"id": 1}, "cut'
    assert str(place) in ended.err


def test_006_5_17_18_history_is_seeded_whole_and_merged_back_file_by_file(here):
    old, deep = history(here), history(here, "s/subagents/x.meta.json", "{}")
    history(here, folder="-another-place")
    gone = history(here, "gone.jsonl")
    name = here.slug()
    script = [
        ["append", f"projects/{name}/s.jsonl", '{"n":2}\n'],
        ["write", f"projects/{name}/s/tool-results/r.txt", "r"],
        ["write", "projects/-elsewhere/e.jsonl", "e\n"],
        ["remove", f"projects/{name}/gone.jsonl"],
    ]
    ended = here.run(*ISOLATED, script=script)
    assert seeded(ended) == {f"projects/{name}/{path}" for path in ("s.jsonl", "s/subagents/x.meta.json", "gone.jsonl")}
    assert old.read_text() == '{"n":1}\n{"n":2}\n'
    assert (gone.read_text(), deep.read_text()) == ('{"n":1}\n', "{}")
    assert (old.parent / "s/tool-results/r.txt").read_text() == "r"
    assert (old.parent.parent / "-elsewhere/e.jsonl").read_text() == "e\n"
    assert ended.err == ""


def test_006_5_19_what_cannot_be_seeded_is_a_warning_and_the_exit_code_is_the_programs(here):
    history(here)
    os.mkfifo(here.home / ".claude/projects" / here.slug() / "pipe.jsonl")
    ended = here.run(*ISOLATED, script=[["exit", 5]])
    assert ended.code == 5
    assert seeded(ended) == {f"projects/{here.slug()}/s.jsonl"}


@pytest.mark.parametrize("strategy", ["discard", "warn"])
def test_a_strategy_for_projects_seeds_nothing_and_merges_nothing(here, strategy):
    old = history(here)
    here.settings(f"state_persistence: {{claude: {{projects/: {strategy}}}}}\n")
    ended = here.run(*ISOLATED, script=[["write", f"projects/{here.slug()}/new.jsonl", "n"]])
    assert seeded(ended) == set()
    assert [path.name for path in old.parent.iterdir()] == ["s.jsonl"]
    assert ("projects/" in ended.err) is (strategy == "warn")


def test_006_5_8_a_session_directory_of_the_agent_is_linked(here):
    here.agent("a", controls={"claude": {"session_directory": "sessions"}})
    history(here)
    ended = here.run(*ISOLATED, script=[["write", f"projects/{here.slug()}/new.jsonl", "n"]])
    assert ended.code == 0, ended.err
    assert ended.seen["entries"]["projects"]["link"] == str(here.project / "sessions")
    assert (here.project / "sessions" / here.slug() / "new.jsonl").read_text() == "n"


def test_slg_01_one_dash_for_each_other_character(machine):
    machine.agent("a")
    folder = machine.project / "a_b.c dé"
    folder.mkdir()
    name = machine.slug(folder)
    assert name.endswith("-a-b-c-d-")
    history(machine, folder=name)
    history(machine, folder=name.replace("--", "-"))
    assert seeded(machine.run(*ISOLATED, cwd=folder)) == {f"projects/{name}/s.jsonl"}


def long_folder(machine):
    folder = machine.project.joinpath(*["d" * 20] * 10)
    folder.mkdir(parents=True)
    return folder


def test_slg_04_a_long_name_is_cut_and_hashed(machine):
    machine.agent("a")
    folder = long_folder(machine)
    history(machine, folder=slug(str(folder)))
    assert seeded(machine.run(*ISOLATED, cwd=folder)) == {f"projects/{slug(str(folder))}/s.jsonl"}


def test_slg_05_the_folder_of_another_versions_suffix_is_found_and_merged_into(machine):
    machine.agent("a")
    folder = long_folder(machine)
    prefix = slug(str(folder))[:200]
    header = json.dumps({"type": "summary"}) + "\n" + json.dumps({"cwd": str(folder)}) + "\n"
    mine = history(machine, text=header, folder=prefix + "-other")
    history(machine, text=json.dumps({"cwd": "/elsewhere"}) + "\n", folder=prefix + "-decoy")
    stale = history(machine, "old.jsonl", json.dumps({"cwd": str(folder)}) + "\n", folder=prefix + "-decoy")
    os.utime(stale, (1, 1))
    ended = machine.run(*ISOLATED, cwd=folder, script=[["append", f"projects/{prefix}-other/s.jsonl", "more\n"]])
    assert seeded(ended) == {f"projects/{prefix}-other/s.jsonl"}
    assert mine.read_text() == header + "more\n"


def test_slg_07_two_directories_of_one_slug_lose_nothing(machine):
    machine.agent("a")
    folders = [machine.project / "a-b", machine.project / "a/b"]
    name = machine.slug(folders[0])
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True)
        line = json.dumps({"cwd": str(folder)}) + "\n"
        assert machine.run(*ISOLATED, cwd=folder, script=[["write", f"projects/{name}/{number}.jsonl", line]]).code == 0
    kept = machine.home / ".claude/projects" / name
    assert {path.name: json.loads(path.read_text())["cwd"] for path in kept.iterdir()} == {
        f"{number}.jsonl": str(folder) for number, folder in enumerate(folders)
    }


def test_lnk_12_the_exported_directory_is_physical(here):
    link = here.top / "tmp-link"
    link.symlink_to(here.tmp)
    ended = here.run(*ISOLATED, env={"TMPDIR": str(link)})
    place = ended.seen["env"]["CLAUDE_CONFIG_DIR"]
    assert place.startswith(f"{here.tmp}/outfitter-a-claude-")


def test_run_12_a_directory_of_the_users_own_is_the_native_one(here):
    own = here.top / "own"
    here.put(own / ".claude.json", json.dumps({"oauthAccount": {"id": 7}}))
    here.put(own / ".credentials.json", '{"claudeAiOauth":{"accessToken":"own"}}')
    state(here, oauthAccount={"id": 1})
    script = [["write", ".claude.json", '{"oauthAccount": {"id": 8}}'], ["write", "history.jsonl", "h"]]
    ended = here.run(*ISOLATED, env={"CLAUDE_CONFIG_DIR": str(own)}, script=script)
    assert ended.code == 0, ended.err
    assert json.loads(ended.seen["entries"][".claude.json"]["text"]) == {"oauthAccount": {"id": 7}}
    assert json.loads((own / ".claude.json").read_text()) == {"oauthAccount": {"id": 8}}
    assert json.loads((here.home / ".claude.json").read_text()) == {"oauthAccount": {"id": 1}}
    assert not (here.home / ".claude").exists()


@pytest.mark.parametrize("given", [None, "own"])
def test_006_5_20_21_run_13_an_inherited_run_touches_no_native_state(here, given):
    native = here.top / given if given else here.home / ".claude"
    here.put(native / ".credentials.json", '{"claudeAiOauth":{"accessToken":"t"}}', 0o600)
    state(here, oauthAccount={"id": 1})
    before = {**here.tree(native), "state": (here.home / ".claude.json").read_bytes()}
    env = {"CLAUDE_CONFIG_DIR": str(native)} if given else {}
    ended = here.run(*INHERITED, env=env)
    assert ended.code == 0, ended.err
    assert ended.seen["env"].get("CLAUDE_CONFIG_DIR") == (str(native) if given else None)
    root = ended.argv[ended.argv.index("--plugin-dir") + 1]
    assert root.startswith(str(here.tmp))
    assert {**here.tree(native), "state": (here.home / ".claude.json").read_bytes()} == before
    assert ended.err == ""


def test_006_5_23_a_checked_in_project_cannot_choose(here):
    here.settings("isolation: isolated\n")
    ended = here.run(*INHERITED)
    assert "CLAUDE_CONFIG_DIR" not in ended.seen["env"]
    assert "isolation" in ended.err
    here.settings("isolation: isolated\n", under=here.home)
    assert "CLAUDE_CONFIG_DIR" in here.run(*INHERITED).seen["env"]


def test_the_account_waits_for_the_programs_own_lock_and_never_removes_it(here):
    """spec/40: a lock that another process holds is waited for, and left alone."""
    place = state(here, oauthAccount={"id": 1})
    lock = here.home / ".claude.json.lock"
    lock.mkdir()
    ended = here.run(*ISOLATED, script=[["write", ".claude.json", '{"oauthAccount": {"id": 2}}']])
    assert ended.code == 0
    assert lock.is_dir()
    assert json.loads(place.read_text()) == {"oauthAccount": {"id": 1}}
    assert ".claude.json" in ended.err
