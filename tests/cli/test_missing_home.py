"""A home that does not exist (unmounted, mistyped) is made by no command: it must not fill up (spec/95 PYE-03)."""

import subprocess

import pytest

from tests.cli.test_verbose import WORDS

COMMANDS = {**WORDS, "run": ("run", "a"), "cache clean": ("cache", "clean", "--sources")}


@pytest.fixture
def furnished(machine):
    machine.agent("a")
    catalog = machine.top / "catalog"
    machine.put(catalog / "agents/far/agent.md", "---\nname: far\n---\nFar.\n")
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "x")):
        subprocess.run(["git", *words], cwd=catalog, check=True, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    machine.settings(f"default_agent: a\nsources: [{{uri: 'file://{catalog}'}}]\n")
    machine.put("in.txt", "one\n")
    return machine


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_makes_a_missing_home(furnished, name):
    gone = furnished.top / "gone"
    ended = furnished.run(*COMMANDS[name], env={"HOME": str(gone)})
    assert not gone.exists(), ended.err
    assert "Traceback" not in ended.err
    if name in ("run", "setup", "sync"):
        assert ended.code != 0
        assert "the home directory does not exist" in ended.out + ended.err
        assert str(gone) in ended.out + ended.err
