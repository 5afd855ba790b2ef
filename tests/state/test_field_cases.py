"""Field cases of spec/95 that concern the run directory and its durable places, from outside: the command as a user runs it."""

import importlib
import json
import os
import pkgutil
import stat
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, suppress
from pathlib import Path

import pytest

import outfitter
import stages
from tests.machine import Machine
from tests.state.standing import NOBODY, as_nobody

CLAUDE = ("run", "a", "--harness", "claude", "--isolated")
other_uid = pytest.mark.other_uid


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def clear(ended):
    """One clear line and no trace back."""
    assert "Traceback" not in ended.err, ended.err
    assert len([line for line in ended.err.splitlines() if ": error: " in line]) == 1, ended.err
    return ended.err


def quiet(machine, ended):
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    assert not machine.run_directories()


@pytest.fixture
def open_machine():
    """A machine that another user owns and can reach, with a harness that user can execute."""
    top = Path(tempfile.mkdtemp(prefix="field-"))
    made = Machine(top)
    made.agent()
    made.put(
        made.bin / "pi",
        '#!/bin/sh\necho \'{"a":1}\' > "$PI_CODING_AGENT_DIR/new"\nmv "$PI_CODING_AGENT_DIR/new" "$PI_CODING_AGENT_DIR/settings.json"\n',
        0o755,
    )
    yield made
    made.close()


def run_as_nobody(machine, *words):
    """(code, stderr) of the command in a child process of another user, who may not read this Python's own files."""
    for folder, folders, files in os.walk(machine.top):
        for name in (".", *folders, *files):
            os.chown(os.path.join(folder, name), NOBODY, NOBODY, follow_symlinks=False)
    environment = machine.env()
    said = machine.top / "said"

    def job(_):
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(machine.project)
        from outfitter.main import main

        with open(said, "w") as out, redirect_stderr(out):
            return main(list(words))

    return as_nobody(job, prepare=load_everything), said.read_text()


def load_everything():
    """Modules that are imported late cannot be once their files are out of reach."""
    for package in (outfitter, stages):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if ".demo" not in found.name and "__main__" not in found.name:
                with suppress(ImportError):
                    importlib.import_module(found.name)
    for name in ("subprocess", "shutil", "tempfile", "traceback", "difflib", "encodings.idna", "multiprocessing"):
        importlib.import_module(name)


def test_lnk_09_a_native_directory_that_leads_nowhere(machine):
    machine.agent()
    (machine.home / ".claude").symlink_to("gone/")
    ended = machine.run(*CLAUDE)
    assert ended.code == 125
    assert ended.seen is None
    text = clear(ended)
    assert str(machine.home / ".claude") in text
    assert "gone/" in text
    assert "state_persistence" in text
    assert not (machine.home / "gone").exists()
    assert not machine.run_directories()


def test_lnk_09_the_settings_it_names_let_the_run_go_on(machine):
    machine.agent()
    machine.put(machine.home / ".pi/agent/trust.json/x", "")
    ended = machine.run("run", "a")
    assert ended.code == 125
    line = ended.err[ended.err.index("state_persistence: ") :].strip()
    machine.settings(line + "\n")
    assert machine.run("run", "a").seen is not None
    assert (machine.home / ".pi/agent/trust.json/x").exists()


def test_cln_01_links_to_documents_go_and_the_documents_stay(machine):
    machine.agent()
    machine.put(machine.home / "docs/x", "1")
    steps = [
        ["link", name, target] for name, target in (("abs", str(machine.home / "docs")), ("up", ".."), ("self", "self"))
    ]
    steps += [["link", "deep/rel", "../../../../home/docs"], ["link", "sessions-too", str(machine.home / ".pi")]]
    quiet(machine, machine.run("run", "a", script=steps))
    assert (machine.home / "docs/x").read_text() == "1"


@pytest.mark.parametrize("case", ["link", "unset", "empty", "home", "slash"])
def test_cln_06_a_temporary_root_that_works(machine, case):
    machine.agent()
    (machine.top / "tmp-link").symlink_to(machine.tmp)
    given = {
        "link": str(machine.top / "tmp-link"),
        "unset": None,
        "empty": "",
        "home": str(machine.home),
        "slash": str(machine.tmp) + "/",
    }[case]
    ended = machine.run("run", "a", env={"TMPDIR": given})
    quiet(machine, ended)
    exported = ended.seen["env"]["PI_CODING_AGENT_DIR"]
    root = {"unset": "/tmp", "empty": "/tmp", "home": str(machine.home)}.get(case, str(machine.tmp))
    assert os.path.dirname(os.path.dirname(exported)) == os.path.realpath(root)
    assert not os.path.exists(os.path.dirname(exported))
    assert not list(machine.home.glob("outfitter-*"))


@pytest.mark.parametrize("case", ["missing", "file"])
def test_cln_06_a_temporary_root_that_does_not(machine, case):
    machine.agent()
    machine.put(machine.top / "file")
    ended = machine.run("run", "a", env={"TMPDIR": str(machine.top / case)})
    assert ended.code == 125
    assert ended.seen is None
    assert str(machine.top / case) in clear(ended)
    assert "TMPDIR" in ended.err


@other_uid
def test_cln_06_a_temporary_root_that_cannot_be_written(open_machine):
    machine = open_machine
    machine.tmp.chmod(0o555)
    code, err = run_as_nobody(machine, "run", "a")
    assert code == 125
    assert str(machine.tmp) in err
    assert "TMPDIR" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "act",
    [
        "rm -rf $CLAUDE_CONFIG_DIR",
        "mv $CLAUDE_CONFIG_DIR $CLAUDE_CONFIG_DIR.x",
        "rm -rf $CLAUDE_CONFIG_DIR; echo x > $CLAUDE_CONFIG_DIR",
        "rm -rf $CLAUDE_CONFIG_DIR; ln -s $HOME/other $CLAUDE_CONFIG_DIR",
    ],
)
def test_cln_09_the_whole_projection_goes_while_it_runs(machine, act):
    """What stands in its place is not the projection: nothing of it is taken for what the harness wrote."""
    machine.agent()
    session = machine.put(machine.home / f".claude/projects/{machine.slug()}/s.jsonl", "a\n", 0o600)
    machine.put(machine.home / "other/settings.json", "{}")
    machine.put(machine.home / f"other/projects/{machine.slug()}/planted.jsonl", "p\n")
    before = machine.tree(machine.home / ".claude")
    ended = machine.run(*CLAUDE, script=[["run", act], ["exit", 5]])
    assert ended.code == 5
    assert "Traceback" not in ended.err
    assert "is gone" in ended.err
    after = machine.tree(machine.home / ".claude")
    assert {path: after.get(path) for path in before} == before
    assert session.read_text() == "a\n"
    assert not [path for path in after if "planted" in path]
    assert (machine.home / "other/settings.json").read_text() == "{}"
    assert not machine.run_directories()


def test_cln_11_what_cannot_be_removed_is_said_and_the_code_kept(machine):
    machine.agent()
    if os.getuid() or subprocess.run(["chattr", "+i", machine.agent()], capture_output=True, check=False).returncode:
        pytest.skip("no immutable files here")
    subprocess.run(["chattr", "-i", machine.project / ".agents/agents/a/agent.md"], check=True)
    ended = machine.run("run", "a", script=[["write", "deep/stuck", "x"], ["run", "chattr +i deep/stuck"], ["exit", 3]])
    (root,) = machine.run_directories()
    try:
        assert ended.code == 3
        assert f"{root.name}/projection/deep/stuck" in ended.err
        assert "Operation not permitted" in ended.err
        assert sorted(path.name for path in root.rglob("*") if path.is_file()) == ["lock", "stuck"]
        again = machine.run("run", "a")
        assert again.code == 0
        assert root.name not in again.err, "said once"
    finally:
        subprocess.run(["chattr", "-i", root / "projection/deep/stuck"], check=True)
    quiet(machine, machine.run("run", "a"))


def test_cln_13_a_retained_run_is_private_and_named(machine):
    machine.agent()
    machine.put(machine.home / ".claude/.credentials.json", '{"claudeAiOauth":{"accessToken":"a"}}', 0o600)
    ended = machine.run(*CLAUDE, "--retain-projection")
    (root,) = machine.run_directories()
    assert str(root) in ended.err
    assert mode(root) == mode(root / "projection") == 0o700
    assert mode(root / "projection/.credentials.json") == 0o600
    assert not [path for path in root.rglob("*") if not path.is_symlink() and mode(path) & 0o077]
    assert b"accessToken" not in b"".join(path.read_bytes() for path in root.iterdir() if path.is_file())
    assert not (root / "originals/.credentials.json").exists()
    machine.run("run", "a")
    assert root.exists()


def test_a_journal_holds_no_credential_and_no_contents(machine):
    machine.agent(mcp=None)
    machine.put(machine.home / ".claude/.credentials.json", '{"claudeAiOauth":{"accessToken":"s3cret-t0ken"}}', 0o600)
    machine.put(machine.home / ".claude.json", '{"oauthAccount":{"email":"who@example"}}', 0o600)
    machine.run(*CLAUDE, "--retain-projection", "--", "the pass-through words")
    (journal,) = (machine.home / ".local/state/outfitter/runs").glob("*.json")
    text = journal.read_text()
    assert not any(word in text for word in ("s3cret-t0ken", "who@example", "pass-through", "You are A"))
    assert mode(journal) == 0o600


@pytest.mark.parametrize("home", [None, "", "relative/home"])
def test_pye_03_a_home_that_is_none_is_the_password_databases(machine, home):
    """Nothing is started: the real home of this user must not be touched by a test."""
    machine.agent()
    ended = machine.run("run", "a", "--dry-run", env={"HOME": home})
    assert "Traceback" not in ended.err
    import pwd

    assert pwd.getpwuid(os.getuid()).pw_dir in ended.out + ended.err
    assert not (machine.project / "relative").exists()
    assert not (machine.project / ".claude").exists()


def test_pye_03_a_missing_home_is_named_and_not_made(machine):
    machine.agent()
    missing = machine.top / "nohome"
    for words in (("run", "a"), CLAUDE):
        ended = machine.run(*words, env={"HOME": str(missing)})
        assert ended.code == 125
        assert ended.seen is None
        assert str(missing) in clear(ended)
        assert not missing.exists()
        assert not machine.run_directories()
        assert not (machine.project / ".claude").exists()


@other_uid
def test_pye_03_a_home_that_cannot_be_written_is_named(open_machine):
    machine = open_machine
    machine.home.chmod(0o555)
    code, err = run_as_nobody(machine, "run", "a")
    assert code == 125
    assert str(machine.home / ".pi") in err
    assert "Traceback" not in err
    assert "state_persistence" in err
    assert not machine.run_directories()


@other_uid
def test_a_state_directory_that_cannot_be_written_is_a_notice(open_machine):
    machine = open_machine
    (machine.home / ".local/state").mkdir(parents=True)
    (machine.home / ".local/state").chmod(0o555)
    code, err = run_as_nobody(machine, "run", "a")
    assert code == 0
    assert "could not be recovered" in err
    assert (machine.home / ".pi/agent/settings.json").read_text() == '{"a":1}\n'
    assert not machine.run_directories()


def test_run_12_a_launch_inside_a_launch_reaches_the_native_state(machine):
    """(a): the inherited variable names the outer projection; what the inner run saves is durable, at the native place."""
    machine.agent()
    inner = f"{sys.executable} -m outfitter run a"
    script = [
        ["run", f"cd {machine.project} && PYTHONPATH={os.getcwd()} STANDIN_SCRIPT={machine.top}/inner.json {inner}"]
    ]
    machine.put(machine.top / "inner.json", json.dumps([["swap", "settings.json", '{"inner":1}']]))
    quiet(machine, machine.run("run", "a", script=script))
    assert (machine.home / ".pi/agent/settings.json").read_text() == '{"inner":1}'
    assert not (machine.home / ".pi/agent/settings.json").is_symlink()


@pytest.mark.parametrize(
    ("words", "variable", "native"),
    [
        (("run", "a"), "PI_CODING_AGENT_DIR", ".pi/agent"),
        (("run", "a", "--harness", "claude", "--isolated"), "CLAUDE_CONFIG_DIR", ".claude"),
    ],
)
def test_run_12_a_variable_that_names_a_projection_which_is_gone(machine, words, variable, native):
    """A terminal multiplexer started inside a run keeps the variable when the run is over: nothing durable may go there."""
    machine.agent()
    place = machine.tmp / f"outfitter-a-{words[3] if len(words) > 2 else 'pi'}-abcdefg2/projection"
    swap = [["swap", "settings.json", '{"new":1}']]
    ended = machine.run(*words, script=swap, env={variable: str(place)})
    assert ended.code == 0
    assert (machine.home / native / "settings.json").read_text() == '{"new":1}'
    assert not place.exists()
    assert f"{variable} names the projection of a run that is over" in ended.err
    mine = machine.top / "mine/projection"
    quiet(machine, machine.run(*words, script=swap, env={variable: str(mine)}))
    assert (mine / "settings.json").read_text() == '{"new":1}'


@other_uid
def test_a_native_directory_that_cannot_be_written_and_the_settings_that_do_without_it(open_machine):
    """The hint names every path that is in the way, also where the directory is there and its first entries are."""
    machine = open_machine
    native = machine.home / ".pi/agent"
    machine.put(native / "settings.json", "{}")
    native.chmod(0o555)
    code, err = run_as_nobody(machine, "run", "a")
    assert code == 125
    line = err[err.index("state_persistence: ") :].splitlines()[0]
    machine.settings(line + "\n")
    code, err = run_as_nobody(machine, "run", "a")
    assert code == 0, err
