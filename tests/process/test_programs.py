"""Finding and probing programs (spec/80, "Exit codes"; spec/95 RUN-10)."""

import os
import sys

import pytest

from outfitter.edges.programs import find_harness, prober, programs_behind
from outfitter.model.errors import HarnessUnavailable
from outfitter.railway import fold


def found(command, path):
    return fold(find_harness(command, path), lambda place: place, lambda error: error)


def program(folder, name="pi", text="#!/bin/sh\n", mode=0o755):
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def refused(tmp_path, path=None):
    error = found("pi", path or str(tmp_path / "bin"))
    assert isinstance(error, HarnessUnavailable)
    assert error.found == str(tmp_path / "bin/pi")
    return error.reason


@pytest.mark.parametrize("command", ["pi", "claude", "codex"])
def test_run_10_missing_says_how_to_install_it(tmp_path, command):
    error = found(command, str(tmp_path))
    assert isinstance(error, HarnessUnavailable)
    assert error.found == ""
    assert error.hint


def test_the_first_on_the_path_wins(tmp_path):
    first, second = program(tmp_path / "a"), program(tmp_path / "b")
    assert found("pi", f"{tmp_path / 'a'}:{tmp_path / 'b'}") == first
    assert found("pi", f"{tmp_path / 'none'}:{tmp_path / 'b'}") == second


def test_an_unusable_one_is_passed_over_for_a_usable_one(tmp_path):
    program(tmp_path / "a", mode=0o644)
    second = program(tmp_path / "b")
    assert found("pi", f"{tmp_path / 'a'}:{tmp_path / 'b'}") == second


@pytest.mark.parametrize("path", ["/nonexistent:", "sub", ".", ""])
def test_a_relative_entry_of_path_is_not_searched(tmp_path, monkeypatch, path):
    """What lies there is the project's program, not the user's."""
    monkeypatch.chdir(tmp_path)
    program(tmp_path)
    program(tmp_path / "sub")
    assert isinstance(found("pi", path), HarnessUnavailable)


def test_run_10_what_cannot_be_executed(tmp_path):
    program(tmp_path / "bin", mode=0o644)
    assert "not executable" in refused(tmp_path)
    os.unlink(tmp_path / "bin/pi")
    (tmp_path / "bin/pi").mkdir()
    assert "directory" in refused(tmp_path)
    os.rmdir(tmp_path / "bin/pi")
    os.mkfifo(tmp_path / "bin/pi")
    assert "not a regular file" in refused(tmp_path)
    os.unlink(tmp_path / "bin/pi")
    (tmp_path / "bin/pi").symlink_to("gone")
    assert "gone" in refused(tmp_path)
    os.unlink(tmp_path / "bin/pi")
    (tmp_path / "bin/pi").symlink_to("pi")
    assert refused(tmp_path)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("#!/no/such/interpreter -x", "/no/such/interpreter"),
        ("#!/usr/bin/env no-such-node", "no-such-node"),
        ("#!/usr/bin/env -S no-such-node --flag", "no-such-node"),
        ("#!/usr/bin/env A=b no-such-node", "no-such-node"),
        ("#!/bin/sh\r", "carriage return"),
        ("#!", "empty"),
    ],
)
def test_run_10_bad_interpreters(tmp_path, line, named):
    program(tmp_path / "bin", text=line + "\n")
    assert named in refused(tmp_path, f"{tmp_path / 'bin'}:/usr/bin:/bin")


@pytest.mark.parametrize("line", ["#! /bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S sh -e", "\x7fELF", ""])
def test_good_interpreters(tmp_path, line):
    path = program(tmp_path / "bin", text=line + "\n")
    assert found("pi", f"{tmp_path / 'bin'}:/usr/bin:/bin") == path


class TestProbe:
    def probe(self, tmp_path, path="", **env):
        ask = prober(str(tmp_path / "cache"), {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **env})
        return lambda program, words: ask(program, words, path)

    def test_it_is_asked_once_until_the_program_changes(self, tmp_path):
        count = tmp_path / "count"
        path = program(tmp_path / "bin", text=f'#!/bin/sh\necho x >> {count}\necho "help $*"\n')
        ask = self.probe(tmp_path)
        assert ask(path, ("--help",)) == ask(path, ("--help",)) == "help --help\n"
        assert count.read_text() == "x\n"
        assert ask(path, ("--version",)) == "help --version\n"
        program(tmp_path / "bin", text=f'#!/bin/sh\necho x >> {count}\necho "newer $*"\n')
        assert ask(path, ("--help",)) == "newer --help\n"

    def test_a_failure_is_not_remembered(self, tmp_path):
        path = program(tmp_path / "bin", text="#!/bin/sh\necho oops >&2\nexit 3\n")
        assert self.probe(tmp_path)(path, ("--help",)) == "oops\n"
        assert not (tmp_path / "cache").exists()

    def test_it_has_no_input_and_a_directory_and_a_group_of_its_own(self, tmp_path):
        text = f"#!{sys.executable} -I\nimport os,sys\nprint(sys.stdin.read() == '', os.getpgrp() == os.getpid(), os.environ['CLAUDE_CONFIG_DIR'] != '/mine', os.path.isdir(os.environ['CODEX_HOME']))\n"
        path = program(tmp_path / "bin", text=text)
        assert self.probe(tmp_path, CLAUDE_CONFIG_DIR="/mine")(path, ()) == "True True True True\n"

    def test_what_never_ends_is_ended(self, tmp_path, monkeypatch):
        monkeypatch.setattr("outfitter.edges.programs.PROBE_SECONDS", 0.3)
        path = program(tmp_path / "bin", text="#!/bin/sh\necho begun\nsleep 60 &\nsleep 60\n")
        assert self.probe(tmp_path)(path, ("--help",)) == "begun\n"
        assert not (tmp_path / "cache").exists()

    def test_it_is_asked_with_the_path_that_it_will_have(self, tmp_path):
        program(tmp_path / "tools", "interpreter", "#!/bin/sh\necho interpreted\n")
        path = program(tmp_path / "bin", text="#!/usr/bin/env interpreter\n")
        assert self.probe(tmp_path, f"{tmp_path / 'tools'}:/usr/bin:/bin")(path, ()) == "interpreted\n"

    def test_a_cache_that_cannot_be_written_is_none(self, tmp_path):
        (tmp_path / "cache").write_text("in the way")
        path = program(tmp_path / "bin", text="#!/bin/sh\necho fine\n")
        assert self.probe(tmp_path)(path, ()) == "fine\n"


def answering(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable} -I\nprint({text!r})\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "shim",
    [
        '#!/bin/sh\nexec "{real}" "$@"\n',
        "#!/usr/bin/env bash\n{real} $*\n",
        '#!/bin/sh\nexec version-manager exec claude "$@"\n',
        '#!/bin/sh\nif :; then\n  exec "$HOME/claude" "$@"\nfi\n',
    ],
)
def test_a_program_behind_a_shim_is_asked_again_when_it_changes(tmp_path, shim):
    real = answering(tmp_path / "versions/claude", "old")
    (tmp_path / "version-manager").write_text(f'#!/bin/sh\nshift 2\nexec {real} "$@"\n')
    (tmp_path / "version-manager").chmod(0o755)
    (tmp_path / "claude").symlink_to(real)
    wrapper = tmp_path / "bin/claude"
    wrapper.parent.mkdir()
    wrapper.write_text(shim.format(real=real))
    wrapper.chmod(0o755)
    ask = prober(str(tmp_path / "cache"), {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)})
    assert ask(str(wrapper), ("--help",), "") == "old\n"
    answering(real, "newer")
    assert ask(str(wrapper), ("--help",), "") == "newer\n"


def test_a_symlink_to_a_version_manager_is_never_remembered(tmp_path):
    manager = answering(tmp_path / "mise", "one")
    manager.write_bytes(b"\x7fELF")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/claude").symlink_to(manager)
    assert programs_behind(str(tmp_path / "bin/claude")) == ()


def test_a_binary_that_is_named_by_its_version_is_remembered(tmp_path):
    real = tmp_path / "share/claude/versions/2.1.332"
    real.parent.mkdir(parents=True)
    real.write_bytes(b"\x7fELF")
    (tmp_path / "claude").symlink_to(real)
    assert programs_behind(str(tmp_path / "claude")) == (str(real),)


@pytest.mark.parametrize("place", [".claude/local", ".local/bin", ".bun/bin"])
def test_a_program_that_is_installed_but_not_on_path_is_named(tmp_path, place):
    answering(tmp_path / place / "claude", "")
    error = find_harness("claude", "/usr/bin:/bin", str(tmp_path)).failure()
    assert f"{place}/claude" in error.reason
    assert str(tmp_path / place) in error.hint
