"""What people ran into with Pi, end to end with a stand-in: spec/95 PIX, CLS-05, RUN-12, CMP-04, CMP-05, CMP-06."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

SESSIONS = "PI_CODING_AGENT_SESSION_DIR"


def native(machine: Any, name: str, content: Any) -> Any:
    raw = content if isinstance(content, (bytes, str)) else json.dumps(content)
    return machine.put(machine.home / ".pi/agent" / name, raw)


def text(ended: Any, name: str) -> Any:
    return json.loads(ended.seen["entries"][name]["text"])


@pytest.mark.parametrize("raw", [b'{"packages": ["npm:a"],}', b'{"packages": ["npm:a"]} // x'])
def test_pix_01_settings_that_are_not_strict_json_stay_the_native_link(machine: Any, raw: bytes) -> None:
    place = native(machine, "settings.json", raw)
    machine.agent("a", extensions=["npm:a"])
    ended = machine.run("run", "a")
    assert ended.code == 0, ended.err
    assert ended.seen["entries"]["settings.json"]["link"] == str(place)
    assert place.read_bytes() == raw


def test_pix_03_two_runs_share_one_auth_file_and_its_lock_stays_behind(machine: Any) -> None:
    place = native(machine, "auth.json", {"x": "old"})
    machine.agent("a")
    machine.settings("state_persistence: {unknown: error}\n")
    for key in ("one", "two"):
        ended = machine.run(
            "run", "a", script=[["folder", "auth.json.lock"], ["write", "auth.json", json.dumps({"x": key})]]
        )
        assert ended.code == 0, ended.err
        assert ended.seen["entries"]["auth.json"]["link"] == str(place)
        assert json.loads(place.read_text()) == {"x": key}
    assert not (place.parent / "auth.json.lock").exists()


@pytest.mark.parametrize("raw", [b'\xef\xbb\xbf{"x": 1}', b'{"x": '])
def test_pix_06_and_jsn_04_malformed_auth_is_left_as_it_is(machine: Any, raw: bytes) -> None:
    place = native(machine, "auth.json", raw)
    machine.agent("a")
    ended = machine.run("run", "a")
    assert (ended.code, ended.err) == (0, "")
    assert place.read_bytes() == raw


@pytest.mark.parametrize(
    ("raw", "lines"), [("", 0), ("// none", 0), ("{,", 1), ('{"app.exit": "shift+tab", "app.clear": "alt+c"}', 0)]
)
def test_pix_07_keybindings(machine: Any, raw: str, lines: int) -> None:
    place = native(machine, "keybindings.json", raw)
    machine.agent("a")
    ended = machine.run("run", "a")
    assert ended.code == 0
    assert text(ended, "keybindings.json")["app.thinking.cycle"] == "ctrl+shift+t"
    assert ("app.clear" in text(ended, "keybindings.json")) == ("app.clear" in raw)
    assert "app.exit" not in text(ended, "keybindings.json")
    assert len([line for line in ended.err.splitlines() if "keybindings.json" in line]) == lines
    assert place.read_text() == raw


def test_cls_05_locks_of_the_harness_are_scratch_and_others_unknown(machine: Any) -> None:
    machine.agent("a")
    both = [["folder", "auth.json.lock"], ["remove", "auth.json.lock"], ["folder", "odd.lock"], ["remove", "odd.lock"]]
    assert machine.run("run", "a", script=both).err == ""
    ended = machine.run("run", "a", script=[["folder", "auth.json.lock"], ["folder", "odd.lock"]])
    assert "odd.lock" in ended.err
    assert "auth.json.lock" not in ended.err
    assert not list((machine.home / ".pi/agent").glob("*.lock"))


def test_run_12_a_launch_inside_a_launch_looks_through_to_the_native_directory(machine: Any) -> None:
    """(a): the durable side is the user's, as the outer run recorded it."""
    machine.agent("a")
    place = native(machine, "auth.json", {"x": 1})
    inner = machine.top / "inner.json"
    words = f"STANDIN_RECORD={inner} STANDIN_SCRIPT=/dev/null {sys.executable} -m outfitter run a"
    ended = machine.run("run", "a", script=[["run", f"cd {machine.project} && {words}"]])
    assert ended.code == 0, ended.err
    seen = json.loads(inner.read_text())
    assert seen["entries"]["auth.json"]["link"] == str(place)
    assert seen["env"][SESSIONS].startswith(str(machine.home / ".pi/agent/sessions"))


def test_run_12_a_relocated_directory_of_the_users_own_is_the_native_one(machine: Any) -> None:
    """(b)."""
    place = machine.put(machine.top / "mine/auth.json", "{}")
    machine.agent("a")
    ended = machine.run("run", "a", env={"PI_CODING_AGENT_DIR": str(place.parent)})
    assert ended.seen["entries"]["auth.json"]["link"] == str(place)
    assert ended.seen["env"][SESSIONS].startswith(str(place.parent))
    assert not (machine.home / ".pi").exists()


def test_cmp_04_and_006_3_17_links_in_an_overlay_are_not_followed(machine: Any) -> None:
    outside = machine.put(machine.top / "outside/secret", "s")
    machine.agent("a")
    root = machine.project / ".agents/agents/a/pi"
    machine.put(root / "themes/own.json", "{}")
    (root / "themes/link.json").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    ended = machine.run("run", "a")
    assert ended.code == 0, ended.err
    assert "themes/own.json" in ended.seen["entries"]
    assert not {"themes/link.json", "folder", "folder/secret"} & set(ended.seen["entries"])
    assert "link.json" in ended.err
    assert "folder" in ended.err


def test_cmp_04_a_linked_overlay_root_is_not_followed(machine: Any) -> None:
    machine.put(machine.top / "outside/themes/x.json", "{}")
    machine.agent("a")
    (machine.project / ".agents/agents/a/pi").symlink_to(machine.top / "outside")
    ended = machine.run("run", "a")
    assert ended.code == 0, ended.err
    assert "themes/x.json" not in ended.seen["entries"]
    assert "agents/a/pi" in ended.err


def test_cmp_05_a_higher_layer_of_another_kind_wins_cleanly(machine: Any) -> None:
    machine.agent("a", under=machine.home)
    machine.agent("a")
    low, high = machine.home / ".agents/agents/a/pi", machine.project / ".agents/agents/a/pi"
    machine.put(low / "x/file", "low")
    machine.put(high / "x", "high")
    machine.put(low / "y", "low")
    machine.put(high / "y/file", "high")
    ended = machine.run("run", "a")
    assert ended.code == 0, ended.err
    assert ended.seen["entries"]["x"]["text"] == "high"
    assert ended.seen["entries"]["y/file"]["text"] == "high"


def test_cmp_06_execute_bits_of_an_overlay_are_kept_and_copies_writable(machine: Any) -> None:
    machine.agent("a")
    root = machine.project / ".agents/agents/a/pi"
    machine.put(root / "hook.sh", "#!/bin/sh\n", 0o755)
    machine.put(root / "plain", "x", 0o444)
    seen = machine.run("run", "a").seen["entries"]
    assert (seen["hook.sh"]["mode"], seen["plain"]["mode"]) == (0o700, 0o600)


def test_006_3_17_lower_layers_and_parents_first(machine: Any) -> None:
    """spec/10: the agent's parents first, then its own, lower layers first."""
    machine.agent("base", under=machine.home)
    machine.agent("a", inherits="base")
    machine.put(machine.home / ".agents/agents/base/pi/themes/t.json", "base")
    machine.put(machine.home / ".agents/agents/base/pi/themes/u.json", "base")
    machine.put(machine.project / ".agents/agents/a/pi/themes/t.json", "own")
    seen = machine.run("run", "a").seen["entries"]
    assert (seen["themes/t.json"]["text"], seen["themes/u.json"]["text"]) == ("own", "base")


def test_deepwork_jobs_through_a_launch(machine: Any) -> None:
    """006.3.13 to 16, from the tree to the child."""
    machine.agent("a", controls={"deepwork": {"jobs": ["build", "nosuch"]}})
    own, shared = machine.project / ".agents/agents/a/deepwork/jobs", machine.home / ".agents/deepwork/jobs"
    machine.put(own / "mine/job.yml", "x: 1\n")
    machine.put(shared / "build/job.yml", "x: 1\n")
    machine.put(machine.project / ".agents/deepwork/jobs/other/job.yml", "x: 1\n")
    ended = machine.run("run", "a", env={"DEEPWORK_ADDITIONAL_JOBS_FOLDERS": "/outer"})
    assert ended.code == 0, ended.err
    assert ended.seen["env"]["DEEPWORK_ADDITIONAL_JOBS_FOLDERS"] == f"{own}:{shared}"
    assert "nosuch" in ended.err


def test_cdx_06_a_codex_home_that_is_gone_passes_with_a_hint(machine: Any) -> None:
    machine.agent("a")
    ended = machine.run("run", "a", "--harness", "codex", env={"CODEX_HOME": str(machine.top / "gone")})
    assert ended.seen["env"]["CODEX_HOME"] == str(machine.top / "gone")
    assert "gone" in ended.err
