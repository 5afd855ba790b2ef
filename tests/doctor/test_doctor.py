"""`outfitter doctor`: its checks in order, one cause at a time, and what it says to do (spec/80)."""

import json
import os
import signal
import subprocess
import sys

import pytest

from outfitter.doctor.directories import Check, misplaced, worst
from outfitter.doctor.harnesses import FLAGS, missing, version_line

HELP = "".join(f"  {flag} <x>\n" for flag in {flag for flags in FLAGS.values() for flag in flags})
ORDER = [
    "machine", "home", "temporary directory", "state directory", "settings", "cache", "trees",
    "harness pi", "native pi", "harness claude", "native claude", "harness codex", "native codex", "runs", "git", "launch",
]  # fmt: skip


@pytest.fixture
def healthy(machine):
    """A machine whose harnesses know every option, with one agent."""
    for name in ("pi", "claude", "codex"):
        harness(machine, name)
    machine.put(machine.bin / "git", "#!/bin/sh\n", 0o755)
    machine.agent("a")
    machine.settings("default_agent: a\n")
    return machine


def harness(machine, name, text=None):
    body = f"case $1 in --version) echo 'v 1.2.3';; *) cat <<'E'\n{HELP}E\n;; esac\n" if text is None else text
    return machine.put(machine.bin / name, "#!/bin/sh\n" + body, 0o755)


def doctor(machine, **env):
    done = machine.run("doctor", "--json", env=env)
    assert not done.err
    document = json.loads(done.out)
    assert document["schema_version"] == 1
    assert done.code == (1 if document["counts"]["error"] else 0)
    return {check["name"]: check for check in document["checks"]}


def test_a_healthy_machine_has_every_check_in_order_and_no_complaint(healthy):
    checks = doctor(healthy)
    assert list(checks) == ORDER
    assert {check["verdict"] for check in checks.values()} <= {"ok", "info"}
    assert "1.2.3" in checks["harness pi"]["message"]
    assert "a on pi would start" in checks["launch"]["message"]


def test_lines_for_people(healthy):
    done = healthy.run("doctor")
    assert done.code == 0
    assert [line for line in done.out.splitlines() if line.startswith("ok       harness pi: v 1.2.3")]
    assert "\x1b" not in done.out


def test_it_leaves_the_machine_as_it_was(healthy):
    before = healthy.tree(healthy.top / "home")
    doctor(healthy)
    assert healthy.tree(healthy.home) == before
    assert os.listdir(healthy.tmp) == []


def test_run_10_a_missing_default_harness_is_an_error_and_another_is_not(healthy):
    (healthy.bin / "pi").unlink()
    (healthy.bin / "codex").unlink()
    checks = doctor(healthy, PATH=f"{healthy.bin}:{os.path.dirname(sys.executable)}")
    assert checks["harness pi"]["verdict"] == "error"
    assert "npm install" in checks["harness pi"]["hint"]
    assert checks["harness codex"]["verdict"] == "info"
    assert checks["launch"]["verdict"] == "error"


def test_a_harness_that_cannot_run(healthy):
    harness(healthy, "claude", "echo 'SyntaxError: too old'\nexit 1\n")
    (healthy.bin / "codex").write_text("#!/no/such/node\n")
    checks = doctor(healthy)
    assert "SyntaxError: too old" in checks["harness claude"]["message"]
    assert checks["harness claude"]["verdict"] == "warning"
    assert "/no/such/node" in checks["harness codex"]["message"]


def test_a_missing_option_is_named_with_what_it_is_for(healthy):
    harness(healthy, "claude", f"cat <<'E'\nv 2.0\n{HELP.replace('--plugin-dir', '--gone')}E\n")
    found = doctor(healthy)["harness claude"]
    assert found["verdict"] == "warning"
    assert found["details"] == ["--plugin-dir is missing: inherited runs"]


@pytest.mark.parametrize(
    ("value", "verdict"), [("{tmp}/none", "error"), ("{tmp}/file", "error"), ("{home}", "warning")]
)
def test_cln_06_a_temporary_root_that_is_wrong(healthy, value, verdict):
    (healthy.tmp / "file").touch()
    found = doctor(healthy, TMPDIR=value.format(tmp=healthy.tmp, home=healthy.home))["temporary directory"]
    assert found["verdict"] == verdict
    assert "TMPDIR" in found["hint"]


def test_anybody_may_remove_from_a_root_without_the_sticky_bit(healthy):
    healthy.tmp.chmod(0o777)
    assert "sticky" in doctor(healthy)["temporary directory"]["message"]
    healthy.tmp.chmod(0o1777)
    assert doctor(healthy)["temporary directory"]["verdict"] == "ok"


def test_settings_that_are_wrong_are_errors_with_their_place(healthy):
    healthy.settings("default_agent: [\n")
    found = doctor(healthy)
    assert found["settings"]["verdict"] == "error"
    assert "settings.yml" in found["settings"]["message"]
    assert "launch" not in found


def test_lnk_09_a_dangling_native_directory(healthy):
    (healthy.home / ".claude").symlink_to("gone/deep")
    found = doctor(healthy)["native claude"]
    assert found["verdict"] == "error"
    assert "gone/deep" in found["message"]


def test_a_native_path_of_the_wrong_kind(healthy):
    healthy.put(healthy.home / ".pi/agent/sessions", "a file")
    (healthy.home / ".pi/agent/settings.json").mkdir()
    found = doctor(healthy)["native pi"]
    assert found["verdict"] == "error"
    assert "settings.json is not a regular file" in " ".join([found["message"], *found["details"]])
    assert "state_persistence" in found["hint"]


def test_neighbours_are_named_and_left_alone(healthy):
    healthy.put(".agents/settings.json", "{}")
    healthy.put(".agents/rules/x.md", "x")
    found = doctor(healthy)["neighbours"]
    assert found["verdict"] == "info"
    assert "not ours, left alone" in found["message"]
    assert str(healthy.project / ".agents/settings.json") in found["message"]
    assert "rules" in found["message"]


def test_what_would_stop_a_launch(healthy):
    healthy.settings("default_agent: nobody\n")
    found = doctor(healthy)["launch"]
    assert found["verdict"] == "error"
    assert "nobody" in found["message"]


def test_no_agent_and_no_tree(machine):
    checks = doctor(machine)
    assert "outfitter setup" in checks["trees"]["hint"]
    assert checks["launch"]["verdict"] == "info"


@pytest.mark.parametrize("home", ["", "relative/home", "/no/such/home"])
def test_pye_03_a_home_that_is_none(healthy, home):
    found = subprocess.run(
        [sys.executable, "-m", "outfitter", "doctor", "--json"],
        cwd=healthy.project, env=healthy.env(HOME=home), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    check = next(check for check in json.loads(found.stdout)["checks"] if check["name"] == "home")
    assert check["verdict"] == ("error" if home.startswith("/") else "warning")


def test_a_run_that_was_killed_is_found(healthy):
    env = {"PATH": f"{standin(healthy)}:/usr/bin:/bin"}
    process = healthy.start("run", "a", script=[["wait", 60]], env=env, start_new_session=True)
    healthy.wait_for(healthy.top / f"record-{healthy._count}.json")
    assert doctor(healthy)["runs"]["message"] == "1 live"
    process.kill()
    assert doctor(healthy)["runs"]["message"] == "1 live", "the harness goes on, and holds the lock"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    found = doctor(healthy)["runs"]
    assert found["message"] == "1 started"
    assert found["verdict"] == "warning"
    assert found["hint"] == "outfitter recover"


def test_late_messages_are_named(healthy):
    log = healthy.put(healthy.home / ".local/state/outfitter/runs/x.log", "warning: something\n")
    assert doctor(healthy)["late messages"]["details"] == [str(log)]


def standin(machine):
    from tests.machine import STANDIN

    machine.put(machine.top / "real/pi", f"#!{sys.executable} -I\n" + STANDIN.read_text().split("\n", 1)[1], 0o755)
    return machine.top / "real"


def test_flags_are_found_whole():
    text = "--system-prompt[-file] <x>  --model-x"
    lacking = missing("claude", text)
    assert "--system-prompt-file" not in lacking
    assert "--append-system-prompt-file" in lacking
    assert "--model" in lacking


def test_the_version_is_the_line_with_a_number():
    assert version_line("WARNING: see /tmp/1.2/x\ncodex-cli 0.171.0\n") == "codex-cli 0.171.0"
    assert version_line("") == ""


def test_the_worst_verdict_counts():
    assert worst((Check("a", "ok", ""), Check("b", "warning", ""), Check("c", "info", ""))) == "warning"
    assert worst(()) == "ok"


def test_kinds(tmp_path):
    assert misplaced(str(tmp_path), True) == ""
    assert misplaced(str(tmp_path / "none"), False) == ""
    assert misplaced(str(tmp_path), False) == "is not a regular file"
