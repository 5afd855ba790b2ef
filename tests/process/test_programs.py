"""Finding and probing programs (spec/80, "Exit codes"; spec/95 RUN-10)."""

import os
import sys

import pytest

from outfitter.edges.programs import find_harness, prober
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


def test_an_empty_and_a_relative_entry_are_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = program(tmp_path)
    there = program(tmp_path / "sub")
    assert found("pi", "/nonexistent:") == here
    assert found("pi", "sub") == there
    assert isinstance(found("pi", ""), HarnessUnavailable)


def test_run_10_what_cannot_be_executed(tmp_path):
    program(tmp_path / "bin", mode=0o644)
    assert "not executable" in refused(tmp_path)
    os.unlink(tmp_path / "bin/pi")
    (tmp_path / "bin/pi").mkdir()
    assert "directory" in refused(tmp_path)
    os.rmdir(tmp_path / "bin/pi")
    os.mkfifo(tmp_path / "bin/pi")
    assert "no regular file" in refused(tmp_path)
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
