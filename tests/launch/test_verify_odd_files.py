"""Files that no run writes, in the place of a pair's: each is told in one classified line (spec/70)."""

import json
import os

import pytest

TRACE, RESULT = "trace/run_trace.json", "result/final_result.json"


@pytest.fixture
def out(machine):
    machine.agent("a")
    assert machine.run("run", "a", "--out", str(machine.top / "ev")).code == 0
    return machine.top / "ev"


def verified(machine, out):
    ended = machine.run("evidence", "verify", str(out), "--json")
    assert ended.code == 1, ended.err
    for words in (("evidence", "replay"), ("report",)):
        assert "internal error" not in machine.run(*words, str(out)).err
    return [row["kind"] for row in json.loads(ended.out)["mismatches"]]


@pytest.mark.parametrize("relative", [TRACE, RESULT])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_file_is_malformed(machine, out, relative, make):
    (out / relative).unlink()
    make(out / relative)
    assert verified(machine, out) == ["malformed"]


def test_a_name_given_twice_is_malformed(machine, out):
    text = (out / RESULT).read_text()
    (out / RESULT).write_text(text.replace("{", '{"verdict": "veto",', 1))
    assert verified(machine, out) == ["malformed"]


@pytest.mark.parametrize("character", ["\\ud800", "\\udcff"])
def test_characters_that_are_none_do_not_hide_a_fault(machine, out, character):
    text = (out / RESULT).read_text()
    (out / RESULT).write_text(text.replace('"pass"', f'"{character}"').replace("{", f'{{"{character}": 1,', 1))
    assert set(verified(machine, out)) == {"schema"}


@pytest.mark.parametrize(("data", "why"), [(b"[" * 100_000, "nested too deeply"), (b"\xff{}", "not UTF-8 text")])
def test_what_is_no_text_is_told_in_words(machine, out, data, why):
    (out / RESULT).write_bytes(data)
    assert why in machine.run("evidence", "verify", str(out)).out


def test_replay_prints_values_as_json_does(machine, out):
    lines = machine.run("evidence", "replay", str(out)).out.splitlines()
    values = dict(line.split(": ", 1) for line in lines if ": " in line)
    assert json.loads(values["convergence"])["settled"] is True
    assert (values["model"], values["verdict"]) == ("null", "pass")
