"""A file of a terabyte that holds nothing, wherever a run meets one: the run ends at once, and nothing is lost."""

import json
import os

import pytest

CLAUDE = ("run", "a", "--harness", "claude", "--isolated")
HUGE = 1 << 40
LIMIT = 20


def huge(name):
    return ["run", f"truncate -s {HUGE} {name}"]


def transcript(machine, name="s"):
    return machine.home / f".claude/projects/{machine.slug()}/{name}.jsonl"


def write(machine):
    return ["write", f"projects/{machine.slug()}/s.jsonl", "said\n"]


@pytest.mark.parametrize(
    "name", ["other", "cache/x", "deep/er/x", ".credentials.json", ".claude.json", "settings.json"]
)
def test_written_by_an_isolated_run(machine, name):
    machine.agent()
    machine.put(machine.home / ".claude/settings.json", "{}")
    folder = os.path.dirname(name) or "."
    ended = machine.run(*CLAUDE, script=[["run", f"mkdir -p {folder}"], huge(name), write(machine)], timeout=LIMIT)
    assert ended.code == 0, ended.err
    assert transcript(machine).read_text() == "said\n"
    assert machine.run("recover", timeout=LIMIT).code in (0, 125)
    assert machine.run("run", "a", timeout=LIMIT).code == 0


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
def test_written_by_an_inherited_run(machine, harness):
    machine.agent()
    ended = machine.run("run", "a", "--harness", harness, script=[huge("other")], timeout=LIMIT)
    assert ended.code == 0, ended.err


def test_a_transcript_keeps_its_holes(machine):
    machine.agent()
    name = f"projects/{machine.slug()}/big.jsonl"
    script = [["write", name, "one\n"], huge(name), write(machine)]
    ended = machine.run(*CLAUDE, script=script, timeout=LIMIT)
    at = transcript(machine, "big").stat()
    assert (ended.code, at.st_size, at.st_blocks * 512 < 1 << 20) == (0, HUGE, True), ended.err
    with open(transcript(machine, "big"), "rb") as file:
        assert file.read(8) == b"one\n\0\0\0\0"
    assert transcript(machine).read_text() == "said\n"
    # The next run starts with a copy of it, leaves that as it is, and writes nothing back.
    assert machine.run(*CLAUDE, timeout=LIMIT).err == ""
    assert transcript(machine, "big").stat().st_mtime_ns == at.st_mtime_ns


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/.credentials.json", ".claude.json"])
def test_durable_before_the_run(machine, name):
    machine.agent()
    machine.put(machine.home / name, "{}", 0o600)
    os.truncate(machine.home / name, HUGE)
    ended = machine.run(*CLAUDE, script=[write(machine)], timeout=LIMIT)
    assert ended.code in (0, 125), ended.err
    if ended.code == 0:
        assert transcript(machine).read_text() == "said\n"
    else:
        assert name in ended.err
    assert (machine.home / name).stat().st_size == HUGE
    assert not machine.run_directories()


def test_durable_and_watched(machine):
    machine.agent()
    machine.settings('state_persistence: {claude: {"settings.json": warn}}\n')
    machine.put(machine.home / ".claude/settings.json", "{}")
    os.truncate(machine.home / ".claude/settings.json", HUGE)
    ended = machine.run(*CLAUDE, script=[write(machine)], timeout=LIMIT)
    assert (ended.code, transcript(machine).read_text()) == (0, "said\n"), ended.err


def test_in_a_skill(machine):
    machine.agent(skills=["one"])
    skill = machine.project / ".agents/skills/one"
    machine.put(skill / "SKILL.md", "---\nname: one\ndescription: One.\n---\n\nOne.\n")
    machine.put(skill / "image", "x")
    os.truncate(skill / "image", HUGE)
    for words in (("run", "a"), CLAUDE, ("list", "--json")):
        assert machine.run(*words, timeout=LIMIT).code == 0


def test_kept_as_a_conflict(machine):
    machine.agent()
    place = machine.put(transcript(machine, "big"), "one\n", 0o600)
    script = [huge(f"projects/{machine.slug()}/big.jsonl"), ["write", str(place), "two\n"]]
    ended = machine.run(*CLAUDE, script=script, timeout=LIMIT)
    assert (ended.code, place.read_text()) == (0, "two\n"), ended.err
    (kept,) = json.loads(machine.run("conflicts", "list", "--json").out)["conflicts"]
    at = os.stat(kept["file"])
    assert (at.st_size, at.st_blocks * 512 < 1 << 20) == (HUGE, True)
