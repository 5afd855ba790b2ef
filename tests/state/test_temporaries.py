"""No temporary stays: whatever a killed or refused writer left is gone after the next launch (docs/safety.md, promise 5)."""

import errno
import fcntl
import json
import os
import subprocess
import sys
import time

import pytest

from outfitter.edges.programs import ask_program
from outfitter.fs import temporary_name
from outfitter.run import runs as run_directories
from outfitter.run.pending_writes import pending_write, tidy_noted
from tests.state.standing import stand

# Runs a command, and dies as SIGKILL would at the first rename of a file in the directory of the first argument.
KILLED = """
import os, sys
real, place = os.replace, os.path.realpath(sys.argv[1])
def replace(old, new, *, src_dir_fd=None, dst_dir_fd=None):
    at = os.readlink(f"/proc/self/fd/{dst_dir_fd}") if dst_dir_fd is not None else os.path.dirname(new)
    if at == place:
        os.kill(os.getpid(), 9)
    real(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
os.replace = replace
from outfitter.main import main
sys.exit(main(sys.argv[2:]))
"""
CLAUDE = ("run", "a", "--harness", "claude", "--isolated")


def killed_in(machine, place, *words, script=()):
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(place), *words],
        cwd=machine.project,
        env=machine.env(script),
        capture_output=True,
        check=False,
    )
    assert ended.returncode == -9, ended.stderr


def temporaries(machine):
    return sorted(path.name for path in machine.home.rglob(".outfitter-*.tmp"))


def login(token):
    return json.dumps({"claudeAiOauth": {"accessToken": token, "refreshToken": "r", "expiresAt": 9999999999999}})


def test_killed_while_a_plugin_registry_is_rewritten(machine):
    machine.agent()
    plugins = machine.home / ".claude/plugins"
    machine.put(plugins / "installed_plugins.json", "{}")
    script = [["run", """printf '{"p":"%s/plugins/x"}' "$CLAUDE_CONFIG_DIR" > plugins/installed_plugins.json"""]]
    killed_in(machine, plugins, *CLAUDE, script=script)
    assert temporaries(machine)
    assert machine.run("recover").code == 0
    assert temporaries(machine) == []
    assert json.loads((plugins / "installed_plugins.json").read_text()) == {"p": f"{plugins}/x"}


def test_killed_while_a_kept_content_is_applied(machine):
    machine.agent()
    place = machine.put(machine.home / ".claude/.credentials.json", login("old"), 0o600)
    script = [["swap", ".credentials.json", login("mine")], ["swap", str(place), login("theirs")]]
    machine.run(*CLAUDE, script=script)
    (kept,) = json.loads(machine.run("conflicts", "list", "--json").out)["conflicts"]
    killed_in(machine, place.parent, "conflicts", "apply", kept["id"])
    assert temporaries(machine)
    assert machine.run("run", "a").code == 0
    assert temporaries(machine) == []
    assert list((machine.home / ".local/state/outfitter/runs").iterdir()) == []
    assert machine.run("conflicts", "apply", kept["id"]).code == 0
    assert place.read_text() == login("mine")


def test_a_note_of_a_live_writer_and_its_temporary_stay(tmp_path):
    journals, place = tmp_path / "runs", tmp_path / "place"
    place.mkdir()
    with pending_write(str(journals), str(tmp_path), str(place)):
        mine = place / temporary_name()
        with open(mine, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            tidy_noted(str(journals))
            assert (mine.exists(), len(list(journals.iterdir()))) == (True, 1)
    # The writer ended without removing it.
    assert len(list(journals.iterdir())) == 1
    tidy_noted(str(journals))
    assert (mine.exists(), list(journals.iterdir())) == (False, [])


def test_a_note_of_a_directory_that_is_gone_goes(tmp_path):
    journals = tmp_path / "runs"
    with pending_write(str(journals), str(tmp_path), str(tmp_path / "gone")):
        pass
    assert list(journals.iterdir()) == []


def test_no_note_can_be_made_and_the_write_goes_on(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pending_write(str(tmp_path / "runs"), str(tmp_path), str(tmp_path)):
        (tmp_path / "written").touch()
    assert (tmp_path / "written").exists()


def test_a_run_directory_whose_lock_cannot_be_written_goes_again(tmp_path, monkeypatch):
    here = stand(tmp_path)
    _, root = here.runs.name("a", "pi")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(run_directories, "write_whole", full)
    with pytest.raises(OSError, match="No space left"):
        here.runs.open(root)
    assert not os.path.lexists(root)


def probe_directory(here, name="outfitter-probe-abcd_fgh"):
    place = os.path.join(here.ambient.temp_root, name)
    os.makedirs(os.path.join(place, "cache"))
    return place


def test_the_directory_of_a_killed_probe_goes_at_once(tmp_path):
    here = stand(tmp_path)
    place = probe_directory(here)
    here.runs.sweep(time.time_ns())
    assert not os.path.exists(place)


@pytest.mark.parametrize("name", ["outfitter-probe-abcdefgh-", "outfitter-probe-pi-abcdefgh", "outfitter-probe-"])
def test_a_directory_that_is_not_named_as_a_probes_stays(tmp_path, name):
    here = stand(tmp_path)
    place = probe_directory(here, name)
    here.runs.sweep(time.time_ns())
    assert os.path.exists(place)


def test_the_directory_of_a_probe_that_is_still_running_stays(tmp_path):
    here = stand(tmp_path)
    temp = here.ambient.temp_root
    code = "import os; print(os.environ['CLAUDE_CONFIG_DIR'])"
    env = {"TMPDIR": temp, "PATH": "/usr/bin:/bin"}
    place = probe_directory(here)
    directory = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(directory, fcntl.LOCK_EX)
    here.runs.sweep(time.time_ns())
    assert os.path.exists(place)
    os.close(directory)
    said, whole = ask_program(sys.executable, ("-c", code), env)
    assert (whole, os.path.dirname(said.strip())) == (True, temp)
    here.runs.sweep(time.time_ns())
    assert os.listdir(temp) == []
