"""spec/80, "Commands": shows what it will write, replaces nothing, is done the second time; with a terminal and without."""

import json
import sys

import pexpect
import pytest

from outfitter.setup.plan import ExistingFiles, SetupChoice, plan, source_entry

YES = ("setup", "--yes")


def test_a_starter_can_be_launched_and_the_second_time_changes_nothing(machine):
    ended = machine.run(*YES, "--agent", "me", "--harness", "pi")
    assert ended.code == 0, ended.err
    assert "agents/me/agent.md" in ended.out
    before = machine.tree(machine.home / ".agents")
    assert machine.run().code == 0
    again = machine.run(*YES, "--agent", "me", "--harness", "pi")
    assert (again.code, "already has all of this" in again.out) == (0, True)
    after = machine.tree(machine.home / ".agents")
    assert {path: row for path, row in after.items() if not path.startswith("cache/")} == before
    assert machine.run("validate", "--strict").code == 0


def test_without_a_terminal_nothing_is_written_unasked(machine):
    ended = machine.run("setup", "--agent", "me")
    assert (ended.code, "--yes writes it" in ended.out) == (1, True)
    assert not (machine.home / ".agents/agents").exists()


def test_claude_is_read_and_never_linked_or_moved(machine):
    native = machine.home / ".claude"
    machine.put(native / "CLAUDE.md", "Always answer in French.")
    machine.put(
        native / "agents/auditor.md", "---\nname: auditor\ndescription: Audits\ntools: Read, Grep\n---\nYou audit.\n"
    )
    machine.put(native / "skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes\n---\nTake notes.\n")
    machine.put(native / "skills/notes/run.sh", "#!/bin/sh\n", 0o755)
    (native / "skills/notes/out").symlink_to("/etc/passwd")
    before = machine.tree(native)
    ended = machine.run(*YES, "--from", "claude", "--agent", "me", "--harness", "claude")
    assert ended.code == 0, ended.err
    assert machine.tree(native) == before
    tree = machine.home / ".agents"
    assert not any(path.is_symlink() for path in tree.rglob("*"))
    assert (tree / "skills/notes/run.sh").stat().st_mode & 0o100
    shown = machine.run("show", "me", "--json")
    assert "French" in shown.out
    assert json.loads(shown.out)["skills"]
    assert machine.run("validate").code == 0, machine.run("validate").out


def test_existing_settings_keep_every_byte_and_their_say(machine):
    text = "# mine\ndefault_harness: codex # stays\ncustom_settings: {a: 1}"
    path = machine.settings(text, under=machine.home)
    ended = machine.run(*YES, "--agent", "me", "--harness", "pi")
    assert ended.code == 0, ended.err
    assert "default_harness: codex; it is not changed" in ended.out
    assert path.read_text() == text + "\ndefault_agent: me\n"


def test_settings_that_cannot_be_read_stop_it(machine):
    path = machine.settings("a: [1\n", under=machine.home)
    ended = machine.run(*YES)
    assert ended.code == 1
    assert "settings.yml:" in ended.err
    assert path.read_text() == "a: [1\n"
    assert not (machine.home / ".agents/agents").exists()


def test_a_catalog_is_added_as_a_source(machine):
    machine.agent("shared", "You are shared.", under=machine.top / "catalog")
    ended = machine.run(*YES, str(machine.top / "catalog/.agents"), "--agent", "shared", "--project", "--harness", "pi")
    assert ended.code == 0, ended.err
    assert machine.run().code == 0


@pytest.mark.parametrize("name", ["Big", "a b", "../x", ""])
def test_an_id_that_cannot_be_one_is_refused(machine, name):
    ended = machine.run(*YES, f"--agent={name}")
    assert ended.code == 2
    assert not (machine.home / ".agents").exists()


@pytest.mark.parametrize(
    ("source", "entry"),
    [
        ("example/agents", {"github": "example/agents"}),
        ("example/agents#v1", {"github": "example/agents", "ref": "v1"}),
        ("https://git.example.org/x.git", {"uri": "https://git.example.org/x.git"}),
        ("git@example.org:team/x.git", {"uri": "git@example.org:team/x.git"}),
        ("../catalog", {"path": "../catalog"}),
        ("/abs/catalog", {"path": "/abs/catalog"}),
    ],
)
def test_a_source_in_any_spelling(source, entry):
    assert source_entry(source) == entry


def test_a_source_that_is_left_to_the_user_is_not_called_done(machine):
    (machine.top / "one").mkdir()
    (machine.top / "two").mkdir()
    path = machine.settings("sources: [{path: ../../one}]\ndefault_harness: pi\n")
    before = path.read_text()
    ended = machine.run(*YES, str(machine.top / "two"), "--project", "--harness", "pi")
    assert (ended.code, "add to it yourself" in ended.out) == (1, True), ended.err
    assert path.read_text() == before


def test_a_list_of_sources_is_not_touched():
    found = ExistingFiles(settings_text="sources: []\n", settings={"sources": [{"path": "x"}], "default_harness": "pi"})
    writes, left = plan(SetupChoice("catalog", "", "pi", "/t", "../y"), found)
    assert writes == ()
    assert "add to it yourself" in left[0]


def test_the_dialogue_asks_shows_and_confirms(machine):
    child = pexpect.spawn(
        sys.executable,
        ["-m", "outfitter", "setup"],
        cwd=str(machine.project),
        env=machine.env(),
        encoding="utf-8",
        timeout=20,
    )
    child.expect("start from")
    child.sendline("nonsense")
    child.expect("start from")
    child.sendline("")
    child.expect("agent id")
    child.sendline("me")
    child.expect("harness")
    child.sendline("pi")
    child.expect("write to")
    child.sendline("project")
    child.expect("agent.md")
    child.expect("write this")
    child.sendline("y")
    child.expect("next: outfitter show me")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert (machine.project / ".agents/agents/me/agent.md").exists()


def test_end_of_input_writes_nothing(machine):
    child = pexpect.spawn(
        sys.executable,
        ["-m", "outfitter", "setup"],
        cwd=str(machine.project),
        env=machine.env(),
        encoding="utf-8",
        timeout=20,
    )
    child.expect("start from")
    child.sendeof()
    child.expect("nothing written")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1
    assert not (machine.home / ".agents/agents").exists()


def test_an_id_that_cannot_be_one_is_asked_for_again(machine):
    child = pexpect.spawn(
        sys.executable,
        ["-m", "outfitter", "setup", "--from", "starter", "--harness", "pi", "--home"],
        cwd=str(machine.project),
        env=machine.env(),
        encoding="utf-8",
        timeout=20,
    )
    child.expect_exact("agent id [helper]: ")
    child.sendline("My Helper")
    child.expect_exact("'My Helper' cannot be an agent's id")
    child.expect_exact("agent id [my-helper]: ")
    child.sendline("")
    child.expect_exact("write this? [y/N]: ")
    child.sendline("y")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert (machine.home / ".agents/agents/my-helper/agent.md").exists()


@pytest.mark.parametrize("where", ["--home", "--project"])
def test_a_local_catalog_is_meant_from_where_the_user_stands(machine, where):
    machine.agent("r", under=machine.top / "catalog")
    (machine.top / "catalog/.agents").rename(machine.top / "catalog/tree")
    ended = machine.run(*YES, "../catalog/tree", "--agent", "r", where)
    assert ended.code == 0, ended.err
    assert machine.run("run", "r").code == 0


@pytest.mark.parametrize("where", ["--home", "--project"])
def test_a_local_catalog_below_the_home_is_kept_as_it_was_named(machine, where):
    machine.agent("r", under=machine.home / "catalog")
    (machine.home / "catalog/.agents").rename(machine.home / "catalog/tree")
    ended = machine.run(*YES, "~/catalog/tree", "--agent", "r", where)
    assert ended.code == 0, ended.err
    assert machine.run("run", "r").code == 0


def test_a_local_catalog_that_is_not_there_is_refused(machine):
    ended = machine.run(*YES, "claude")
    assert (ended.code, "is not a directory" in ended.err, "--from claude" in ended.err) == (2, True, True)
    assert not (machine.home / ".agents").exists()
