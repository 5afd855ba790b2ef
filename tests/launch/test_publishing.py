"""Publishing and reporting what is no pair, and publishing again (seed 004, spec/70)."""

import json
import os

import pytest

from outfitter.evidence import publication


@pytest.fixture
def pair(machine):
    """Makes pairs by name, under the machine's top."""
    machine.agent("a")

    def made(name):
        assert machine.run("run", "a", "--out", str(machine.top / name)).code == 0
        return machine.top / name

    return made


def publish(machine, *roots):
    return machine.run("evidence", "publish", *map(str, roots), "--to", str(machine.top / "kept"))


def test_a_folder_without_evidence_stays_where_it_is(machine, pair):
    good = pair("good")
    machine.put(machine.top / "precious/data", "x")
    ended = publish(machine, good, machine.top / "precious")
    assert (ended.code, "holds no evidence" in ended.err) == (1, True)
    assert (machine.top / "precious/data").read_text() == "x"
    assert not (machine.top / "kept").exists()


def test_a_link_to_a_failing_pair_moves_the_pair(machine, pair):
    root = pair("bad")
    (root / "trace/run_trace.json").write_text("{}")
    (machine.top / "link").symlink_to("bad")
    assert publish(machine, machine.top / "link").code == 1
    (kept,) = (machine.top / "kept/quarantine").iterdir()
    assert sorted(os.listdir(kept)) == ["reason.json", "result", "trace"]
    assert not root.exists()


def test_what_was_published_before_a_failure_is_told(machine, pair):
    old, new = pair("old"), pair("new")
    publish(machine, old)
    ended = publish(machine, new, old)
    assert ended.code == 1
    assert ended.out.startswith("published")
    assert "already published" in ended.err


def test_pruning_what_is_not_there_says_so(machine):
    ended = machine.run("evidence", "prune", str(machine.top / "nothing"), "--older-than", "1")
    assert (ended.code, "No such file" in ended.err) == (1, True)


@pytest.mark.parametrize("text", ['{"counts": 1}', '{"counts": {}, "inputs": []}', "[]", "{", '{"inputs": [{}]}'])
def test_a_report_of_what_is_no_batch(machine, text):
    machine.put(machine.top / "odd/batch_result.json", text)
    ended = machine.run("report", str(machine.top / "odd"), "--json")
    assert (ended.code, json.loads(ended.err)["kind"]) == (1, "effect-failed")


def test_a_page_that_cannot_be_put_in_place_leaves_nothing(machine, pair):
    (machine.project / "page").mkdir()
    assert machine.run("report", str(pair("ev")), "--html", "page").code == 1
    assert [name for name in os.listdir(machine.project) if name.endswith(".tmp")] == []


def test_a_failing_pair_at_a_mount_point_is_carried_out_of_it(machine, pair, monkeypatch):
    """Where a rename cannot move it, the copy is whole before anything goes, and the reason comes with it."""
    root = pair("mounted")

    def busy(real):
        def call(path, *more, **options):
            if str(path) == str(root):
                raise OSError(16, "Device or resource busy")
            return real(path, *more, **options)

        return call

    for name in ("rename", "rmdir"):
        monkeypatch.setattr(publication.os, name, busy(getattr(os, name)))
    before = machine.tree(root)
    place = publication.quarantine(str(root), str(machine.top / "kept"), "bad", {"why": "x"})
    after = machine.tree(place)
    assert json.loads(after.pop("reason.json")[1]) == {"why": "x"}
    assert after == before
    assert machine.tree(root) == {}
