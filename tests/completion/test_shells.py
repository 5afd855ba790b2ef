"""The completion scripts in the shells themselves: commands, options, agent ids as they stand (spec/80)."""

import os
import shutil
import subprocess
import sys

import pexpect
import pytest

from outfitter.cli.completion import script


def shell(name):
    found = shutil.which(name, path="/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture
def furnished(machine):
    machine.agent("reviewer")
    machine.agent("writer")
    machine.put(machine.bin / "outfitter", f'#!/bin/sh\nexec {sys.executable} -m outfitter "$@"\n', 0o755)
    return machine


def bash(machine, line):
    """What bash offers for a line, its function called as the shell would call it."""
    where = machine.put(machine.top / "outfitter.bash", script("bash"))
    words = line.split(" ")
    asked = f"""
source {where}
COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
COMP_LINE='{line}'; COMP_POINT={len(line)}
function_name=$(complete -p outfitter | sed 's/.*-F \\([^ ]*\\).*/\\1/')
"$function_name" outfitter "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    ended = subprocess.run(
        [shell("bash"), "--norc", "-c", asked], env=machine.env(), cwd=machine.project, capture_output=True, check=False
    )
    assert ended.stderr == b""
    return {word.strip() for word in ended.stdout.decode().split("\n")} - {""}


def fish(machine, line):
    """What fish offers, asked by its own `complete -C`."""
    where = machine.put(machine.home / ".config/fish/completions/outfitter.fish", script("fish"))
    assert where.exists()
    ended = subprocess.run(
        [shell("fish"), "-c", f"complete -C '{line}'"],
        env=machine.env(),
        cwd=machine.project,
        capture_output=True,
        check=False,
    )
    assert ended.stderr == b""
    return {row.split("\t")[0] for row in ended.stdout.decode().splitlines()}


def zsh(machine, line):
    """What zsh types for a line that has one completion, on a terminal as a user has it."""
    machine.put(machine.top / "functions/_outfitter", script("zsh"))
    machine.put(
        machine.home / ".zshrc",
        f"fpath=({machine.top}/functions $fpath)\nautoload -Uz compinit && compinit -u -d {machine.top}/dump\nPS1='ready> '\n"
        "unsetopt PROMPT_SP\nsetopt NO_BEEP\n",
    )
    child = pexpect.spawn(
        shell("zsh"), ["-i"], env=machine.env(TERM="dumb"), cwd=str(machine.project), encoding="utf-8", timeout=30
    )
    try:
        child.expect_exact("ready> ")
        child.send(line + "\t")
        end = machine.top / "typed"
        child.send("\x01echo \x05 > " + str(end) + "\n")
        machine.wait_for(end)
        child.expect_exact("ready> ")
        return end.read_text().split()
    finally:
        child.close(force=True)


def test_bash(furnished):
    assert {"run", "diff", "setup"} <= bash(furnished, "outfitter ")
    assert bash(furnished, "outfitter val") == {"validate"}
    assert {"reviewer", "writer"} <= bash(furnished, "outfitter show ")
    assert bash(furnished, "outfitter show re") == {"reviewer"}
    assert "--strict" in bash(furnished, "outfitter run --")
    assert {"pi", "claude", "codex"} <= bash(furnished, "outfitter run --harness ")
    assert {"list", "show", "apply", "drop"} <= bash(furnished, "outfitter conflicts ")


def test_fish(furnished):
    assert {"run", "diff", "setup"} <= fish(furnished, "outfitter ")
    assert {"reviewer", "writer"} <= fish(furnished, "outfitter show ")
    assert "--strict" in fish(furnished, "outfitter run --")
    assert {"pi", "claude", "codex"} <= fish(furnished, "outfitter run --harness ")


def test_zsh(furnished):
    assert zsh(furnished, "outfitter vali") == ["outfitter", "validate"]


def test_zsh_knows_agents(furnished):
    assert zsh(furnished, "outfitter show wr") == ["outfitter", "show", "writer"]


def test_a_retained_run_is_offered(furnished):
    furnished.run("run", "reviewer", "--retain-projection")
    (kept,) = furnished.run_directories()
    assert bash(furnished, "outfitter diff ") >= {str(kept)}


def test_an_odd_agent_id_is_a_word_and_no_command(furnished):
    """Completion words come from a tree: none is ever evaluated."""
    furnished.put(".agents/agents/$(touch pwned)/agent.md", "---\n---\nx\n")
    bash(furnished, "outfitter show ")
    assert not os.path.exists(furnished.project / "pwned")
