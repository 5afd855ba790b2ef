"""Wrong input on purpose, as a newcomer gives it: one clear line that says what and where, and nothing half-written (spec/80)."""

import os
import subprocess
import sys

import pytest

from tests.cli.test_verbose import WORDS


@pytest.fixture
def furnished(machine):
    machine.agent("a")
    machine.settings("default_agent: a\n")
    machine.put("file", "x")
    (machine.project / "folder").mkdir()
    machine.put("folder/inside", "x")
    assert machine.run("run", "--out", "out").code == 0
    return machine


def everything(machine):
    """What stands in the project and the home, but for what remembers parsed files."""
    found = {**machine.tree(machine.project), **machine.tree(machine.home)}
    return {path: what for path, what in found.items() if "/cache/" not in path}


# The words, the exit code, and what the line must name.
WRONG = [
    (("run", "nobody"), 125, "nobody"),
    (("run", "a", "--harness", "vim"), 2, "vim"),
    (("run", "a", "--append-prompt", "nosuch"), 125, "nosuch"),
    (("run", "a", "--append-prompt", "folder"), 125, "folder"),
    (("run", "a", "--out", "file"), 125, "file"),
    (("run", "a", "--out", "folder"), 125, "folder"),
    (("run", "a", "--out", "no/such/parent"), 125, "no/such/parent"),
    (("run", "a", "--out", ""), 2, "--out"),
    (("show", "nobody"), 1, "nobody"),
    (("list", "--agent", "nobody"), 1, "nobody"),
    (("dump", "--agent", "nobody", "--out", "made"), 1, "nobody"),
    (("dump", "--out", "folder"), 1, "folder"),
    (("dump", "--out", "file"), 1, "file"),
    (("settings", "nosuch"), 1, "nosuch"),
    (("schema", "nosuch"), 2, "nosuch"),
    (("diff", "nosuch"), 1, "nosuch"),
    (("diff", "folder"), 1, "folder"),
    (("conflicts", "show", "nosuch"), 1, "nosuch"),
    (("conflicts", "drop"), 2, "drop needs an ID"),
    (("fingerprint", "nosuch"), 1, "nosuch"),
    (("fingerprint", "file"), 1, "file"),
    (("report", "nosuch"), 1, "nosuch"),
    (("report", "file"), 1, "file"),
    (("report", "out", "--html", "folder"), 1, "folder: is a directory"),
    (("report", "out", "--html", "."), 1, "is a directory"),
    (("report", "out", "--html", "no/such/page.html"), 1, "no/such/page.html"),
    (("evidence", "publish", "nosuch", "--to", "kept"), 1, "nosuch"),
    (("evidence", "publish", "out", "--to", "file"), 1, "file"),
    (("evidence", "publish", "out", "--to", "kept", "--input", "nosuch"), 1, "nosuch"),
    (("evidence", "prune", "nosuch", "--older-than", "1"), 1, "nosuch"),
    (("setup", "--agent", "Bad Name"), 2, "Bad Name"),
    (("setup", "nosuch/at/all", "--yes"), 2, "nosuch/at/all"),
    (("setup", "file", "--yes"), 2, "file"),
    (("cache", "prune", "--days", "x"), 2, "'x'"),
    (("completion", "tcsh"), 2, "tcsh"),
    (("demo", "--harness", "vim"), 2, "vim"),
    (("help", "lst"), 2, "lst"),
    (("lst",), 2, "lst"),
    # An unset variable of a script: it asked for something, and must not be given something else.
    (("run", ""), 2, "the agent's name is empty"),
    (("",), 2, "the agent's name is empty"),
    (("--dry-run", ""), 2, "the agent's name is empty"),
    (("show", ""), 2, "an argument is empty"),
    (("list", "--agent", ""), 2, "--agent: the value is empty"),
    (("list", "--agent="), 2, "--agent: the value is empty"),
    (("dump", "--out", ""), 2, "--out: the value is empty"),
    (("fingerprint", ""), 2, "an argument is empty"),
    (("conflicts", "drop", ""), 2, "an argument is empty"),
    (("conflicts", "apply", ""), 2, "an argument is empty"),
    (("report", ""), 2, "an argument is empty"),
    (("evidence", "publish", "", "--to", "kept"), 2, "an argument is empty"),
    # No empty value: one that ends as an option would.
    (("evidence", "publish", "gone", "--to=kept="), 1, "gone"),
    (("evidence", "publish", "out", "--to", ""), 2, "--to: the value is empty"),
    (("evidence", "prune", "out", "", "--dry-run"), 2, "an argument is empty"),
    (("setup", "", "--yes"), 2, "an argument is empty"),
    (("batch", "", "--agent", "a", "--out", "made"), 2, "an argument is empty"),
    (("batch", "file", "--agent", "a", "--out", ""), 2, "--out: the value is empty"),
    (("recover", "--forget", ""), 2, "--forget: the value is empty"),
    (("--color", "red", "list"), 2, "red"),
]


@pytest.mark.parametrize(("words", "code", "named"), WRONG, ids=[" ".join(words) for words, _, _ in WRONG])
def test_wrong_words_are_one_line_that_names_them(furnished, words, code, named):
    before = everything(furnished)
    ended = furnished.run(*words)
    assert (ended.code, ended.out, ended.seen) == (code, "", None), ended.err
    error, *hint = ended.err.splitlines()
    assert error.startswith("outfitter: error: ")
    assert named in error
    assert all(line.startswith("  hint: ") for line in hint)
    assert len(hint) < 2
    assert everything(furnished) == before


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.symlink_to(".agents"), "is a dangling symlink (.agents)"),
        (lambda path: path.symlink_to("/no/where"), "is a dangling symlink (/no/where)"),
        (lambda path: path.write_text("x"), "is a file, not a directory"),
        (lambda path: path.symlink_to("/etc"), "points outside the repository (/etc)"),
    ],
    ids=["loop", "nowhere", "file", "outside"],
)
def test_a_tree_that_is_none_is_named_where_an_agent_is_missed(machine, make, why):
    place = machine.project / ".agents"
    make(place)
    for words, code in ((("run", "a"), 125), (("run",), 125), (("show", "a"), 1)):
        ended = machine.run(*words)
        assert (ended.code, ended.out) == (code, "")
        assert f"{place} {why}; it is not used" in ended.err
    machine.agent("a", under=machine.home)
    assert machine.run("run", "a").code == 0


@pytest.mark.parametrize("where", ["--project", "--home"])
@pytest.mark.parametrize("make", [lambda path: path.symlink_to(".agents"), lambda path: path.write_text("x")])
def test_setup_writes_nothing_where_no_tree_can_be(machine, where, make):
    place = (machine.project if where == "--project" else machine.home) / ".agents"
    make(place)
    ended = machine.run("setup", "--yes", where)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"outfitter: error: cannot write: {place}: is a ")
    assert ended.err.splitlines()[1:] == ["  hint: move it out of the way"]


GONE = """
import os, sys
os.mkdir(sys.argv[1])
os.chdir(sys.argv[1])
os.rmdir(sys.argv[1])
os.execv(sys.argv[2], sys.argv[2:])
"""


def from_nowhere(machine, *words):
    """A command from a directory that is no more."""
    code = [sys.executable, "-c", GONE, str(machine.top / "gone"), sys.executable, "-m", "outfitter", *words]
    return subprocess.run(
        code, cwd=machine.project, env=machine.env(), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )


@pytest.mark.parametrize("name", [*WORDS, "run"])
def test_a_working_directory_that_is_gone_is_no_other_one(machine, name):
    """The root directory is nobody's project: nothing is read, or written, there instead."""
    machine.agent("a", under=machine.home)
    here = os.listdir("/")
    ended = from_nowhere(machine, *WORDS.get(name, ("run", "a", "--", "--help")))
    assert (ended.returncode, ended.stdout) == (125 if name == "run" else 1, b"")
    assert ended.stderr.decode().splitlines() == [
        "outfitter: error: cannot find the working directory: No such file or directory",
        "  hint: cd to a directory that exists",
    ]
    assert os.listdir("/") == here


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("run", "--help"), ("list", "-h")], ids=" ".join)
def test_help_needs_no_working_directory(machine, words):
    ended = from_nowhere(machine, *words)
    assert (ended.returncode, ended.stderr) == (0, b"")


CLOSING = """
import os, sys
for number in map(int, sys.argv[1].split(",")):
    os.close(number)
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize("closed", ["1", "0,1,2"])
@pytest.mark.parametrize("name", [*WORDS, "run"])
def test_closed_streams_break_no_command_and_no_file(furnished, name, closed):
    """What is printed must not land in a file that was opened under the number of a stream."""
    if name == "demo":
        pytest.skip("played in tests/demo")
    furnished.put("in.txt", "one\n")
    words = {**WORDS, "run": ("run", "a"), "dump": ("dump", "--out", "made")}[name]
    env = furnished.env()
    ended = subprocess.run(
        [sys.executable, "-c", CLOSING, closed, sys.executable, "-m", "outfitter", *words],
        cwd=furnished.project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    plain = furnished.run(*words)
    assert ended.returncode == plain.code
    assert b"Traceback" not in ended.stdout + ended.stderr
    for path, (_mode, content) in {**furnished.tree(furnished.project), **furnished.tree(furnished.home)}.items():
        assert b"outfitter: " not in content or "log" in path, path
    assert os.listdir(furnished.tmp) == []
