"""`outfitter demo`: with the stand-in, with programs that are no harness, and what it leaves behind (spec/80)."""

import json
import os
import signal

import pytest

from outfitter.demo.modelserver.conversation import check
from outfitter.demo.scenario import CLAUDE, CODEX, PI, model_script, unmet

NOWHERE = "/usr/bin:/bin"


def played(machine, *words, **env):
    return machine.run("demo", *words, env={"PATH": NOWHERE, **env})


def test_the_stand_in_shows_every_kind_of_write_and_says_what_it_is(machine):
    done = played(machine)
    assert done.code == 0, done
    assert "STAND-IN, no real harness" in done.out
    for ending in ("durable", "adopted", "discarded", "warned"):
        assert ending in done.out
    assert "the session" in done.out
    assert "replaced-link" in done.out
    assert done.err == ""


def test_nothing_is_left_and_the_home_is_not_touched(machine):
    machine.put(machine.home / ".pi/agent/settings.json", '{"mine": 1}')
    machine.put(machine.home / ".agents/settings.yml", "default_harness: nonsense\n")
    before = machine.tree(machine.home)
    assert played(machine).code == 0
    assert machine.tree(machine.home) == before
    assert os.listdir(machine.tmp) == []


def test_what_the_caller_set_does_not_reach_it(machine):
    elsewhere = str(machine.top / "elsewhere")
    done = played(
        machine, PI_CODING_AGENT_DIR=elsewhere, XDG_STATE_HOME=elsewhere, HTTP_PROXY="http://127.0.0.1:9", PYTHONSTARTUP="/x"
    )  # fmt: skip
    assert done.code == 0, done
    assert not os.path.exists(elsewhere)


def test_as_a_document(machine):
    done = played(machine, "--json")
    document = json.loads(done.out)
    assert document["schema_version"] == 1
    assert document["harness"]["id"] == "stand-in"
    assert document["wrong"] == []
    assert {"settings.json", "trust.json", "notes.txt"} <= {change["path"] for change in document["changes"]}


def test_keep_leaves_everything_and_says_where(machine):
    done = played(machine, "--keep")
    (kept,) = machine.tmp.iterdir()
    assert f"Kept: {kept}" in done.out
    assert (kept / "home/.pi/agent/trust.json").exists()
    assert list((kept / "tmp").glob("outfitter-*/projection"))


def test_a_harness_that_is_not_there(machine):
    done = played(machine, "--harness", "claude")
    assert done.code == 1
    assert "npm install" in done.err
    assert os.listdir(machine.tmp) == []


def test_one_that_does_not_run_is_passed_over_and_named(machine):
    machine.put(machine.top / "b/pi", "#!/bin/sh\necho 'SyntaxError: too old'\nexit 1\n", 0o755)
    machine.put(machine.top / "b/claude", "#!/no/such/node\n", 0o755)
    done = played(machine, PATH=f"{machine.top / 'b'}:{NOWHERE}")
    assert done.code == 0
    assert "SyntaxError: too old" in done.err
    assert "/no/such/node" in done.err
    assert "STAND-IN" in done.out


def test_a_harness_that_does_nothing_is_no_success(machine):
    machine.put(machine.top / "b/pi", "#!/bin/sh\ncase $1 in --version) echo 1.0;; esac\n", 0o755)
    done = played(machine, "--harness", "pi", PATH=f"{machine.top / 'b'}:{NOWHERE}")
    assert done.code == 1
    assert "the model was never asked" in done.err
    assert "settings.json" in done.err


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_an_end_by_signal_leaves_nothing(machine, name, code):
    machine.put(machine.top / "b/pi", "#!/bin/sh\ncase $1 in --version) echo 1.0; exit;; esac\n: > $HOME/../up\nexec sleep 60\n", 0o755)  # fmt: skip
    process = machine.start("demo", env={"PATH": f"{machine.top / 'b'}:{NOWHERE}"}, start_new_session=True)
    while not list(machine.tmp.glob("*/up")):
        assert process.poll() is None
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == code
    assert os.listdir(machine.tmp) == []


@pytest.mark.parametrize("scenario", [PI, CLAUDE, CODEX])
def test_the_scripts_are_scripts(scenario):
    assert check(model_script(scenario))


def test_what_did_not_happen_is_said():
    assert len(unmet(PI, [], set())) == len(PI.writes) + 1
    assert "agents/helper.md" in " ".join(unmet(CLAUDE, [], set()))
