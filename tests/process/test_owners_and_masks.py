"""A home and its modes, whoever runs the launcher: any umask, and root in another user's home."""

import os
import stat

import pytest

UMASKS = [0o000, 0o027, 0o077, 0o177, 0o277, 0o777]
# The user that owns the home while root runs the launcher.
OTHER = 4242


def closed(home):
    return [
        path
        for path in home.rglob("*")
        if path.is_dir() and not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o700 != 0o700
    ]


@pytest.mark.parametrize("umask", UMASKS, ids=oct)
@pytest.mark.parametrize("words", [("--harness", "pi"), ("--harness", "claude", "--isolated")], ids=["pi", "claude"])
def test_no_umask_closes_a_directory_and_the_harness_keeps_its_own(machine, umask, words):
    machine.agent("a")
    script = [["run", 'umask > "$HOME/seen"']]
    process = machine.start("run", "a", *words, script=script, umask=umask)
    _, err = process.communicate(timeout=60)
    if os.geteuid() != 0 and umask & 0o600:
        pytest.skip("the stand-in cannot write its own record under this umask")
    assert (process.returncode, err) == (0, b"")
    assert closed(machine.home) == []
    assert int((machine.home / "seen").read_text(), 8) == umask


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run in another user's home")
@pytest.mark.parametrize("words", [("--harness", "pi"), ("--harness", "claude", "--isolated")], ids=["pi", "claude"])
def test_what_root_makes_in_a_users_home_belongs_to_that_user(machine, words):
    machine.agent("a")
    machine.put(machine.home / f".claude/projects/{machine.slug()}/s.jsonl", "{}\n")
    for path in (machine.home, *machine.home.rglob("*")):
        os.chown(path, OTHER, OTHER)
    before = set(machine.home.rglob("*"))
    new = f"projects/{machine.slug()}/new.jsonl" if "claude" in words else "trust.json"
    ended = machine.run("run", "a", *words, script=[["write", new, "{}\n"]])
    assert ended.code == 0, ended
    made = set(machine.home.rglob("*")) - before
    assert made
    assert [path for path in made if path.lstat().st_uid != OTHER] == []
