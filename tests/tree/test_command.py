"""`outfitter fingerprint`, as a user runs it (spec/60)."""

import json
import os
import shutil
import subprocess
import time

import pytest

from outfitter.cli.fingerprint import sum_line
from tests.tree.test_vectors import VECTORS
from tests.tree.trees import make

ODD = ["*star", "-dash", "a\nb", "c\\d", "\\n", "e\rf", "\u00e9", " sp ace ", "d/x\ty"]


@pytest.fixture
def tree(machine):
    return make(machine.project / "t", {"a": b"hello\n", "d/b": b"", "d/c": (b"x", 0o755), "l": "link:a", "p": "fifo"})


def test_it_prints_digest_and_path(machine):
    entries, digest = VECTORS["no UTF-8"]
    make(machine.project / "t", entries)
    for words, shown in (("t",), "t"), ((), "."), ((str(machine.project / "t"),), str(machine.project / "t")):
        ended = machine.run("fingerprint", *words, cwd=machine.project / ("t" if not words else ""))
        assert (ended.code, ended.out, ended.err) == (0, f"{digest}  {shown}\n", "")


def test_json_tells_what_was_done(machine, tree):
    time.sleep(0.1)
    first = json.loads(machine.run("fingerprint", "t", "--json").out)
    assert {key: value for key, value in first.items() if key not in ("fingerprint", "seconds")} == {
        "schema_version": 1,
        "path": "t",
        "complete": True,
        "counts": {"file": 2, "executable": 1, "link": 1, "directory": 1, "other": 1, "unreadable": 0},
        "bytes": 7,
        "files_read": 3,
        "files_cached": 0,
        "unreadable": [],
        "unstable": [],
    }
    again = json.loads(machine.run("fingerprint", "t", "--json", "--list").out)
    assert (again["files_read"], again["files_cached"], again["fingerprint"]) == (0, 3, first["fingerprint"])
    assert [file["path"] for file in again["files"]] == ["a", "d/b", "d/c"]
    bare = json.loads(machine.run("fingerprint", "t", "--json", "--no-cache").out)
    assert (bare["files_read"], bare["files_cached"], bare["fingerprint"]) == (3, 0, first["fingerprint"])


def test_no_cache_writes_none(machine, tree):
    machine.run("fingerprint", "t", "--no-cache")
    assert not (machine.home / ".agents").exists()
    machine.run("fingerprint", "t")
    assert len(list((machine.home / ".agents/cache/fingerprints/v1").iterdir())) == 1


def test_the_cache_lives_where_the_settings_say(machine, tree):
    machine.settings("cache_directory: ../elsewhere\n", under=machine.home)
    assert machine.run("fingerprint", "t").code == 0
    assert len(list((machine.home / "elsewhere/fingerprints/v1").iterdir())) == 1


def test_an_edit_of_the_same_size_with_its_mtime_restored_is_seen(machine, tree):
    first = machine.run("fingerprint", "t").out
    path = tree + "/a"
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"jello")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert machine.run("fingerprint", "t").out != first


def test_list_is_what_b3sum_prints_and_checks(machine):
    b3sum = shutil.which("b3sum", path="/usr/bin:/bin")
    root = make(machine.project / "t", {name: name.encode() for name in ODD})
    ended = machine.run("fingerprint", "t", "--list")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "".join(
        sum_line(digest, name) + "\n"
        for name, digest in sorted((name.encode(), _digest(name.encode())) for name in ODD)
    )
    if b3sum is None:
        pytest.skip("b3sum is not installed")
    checked = subprocess.run(
        [b3sum, "--check"], check=False, input=ended.out.encode(), cwd=root, capture_output=True, env={}
    )
    assert checked.returncode == 0, checked
    names = sorted(name.encode() for name in ODD)
    said = subprocess.run([b3sum, "--", *names], cwd=root, capture_output=True, env={}, check=True)
    assert said.stdout == ended.out.encode()


def _digest(data):
    from blake3 import blake3

    return blake3(data).digest()


def test_a_name_that_is_not_utf8_is_printed_as_b3sum_prints_it_and_named(machine):
    root = make(machine.project / "t", {b"fo\xffo": b"x", b"\xe2\x82": b"y", b"a\xf0\x9f\nb": b"z"})
    ended = machine.run("fingerprint", "t", "--list")
    assert ended.code == 0
    assert [line.split("  ")[1] for line in ended.out.splitlines()] == ["a\ufffd\\nb", "fo\ufffdo", "\ufffd"]
    assert ended.err.count("b3sum --check refuses this name") == 3
    b3sum = shutil.which("b3sum", path="/usr/bin:/bin")
    if b3sum:
        names = sorted(os.listdir(os.fsencode(root)))
        said = subprocess.run([b3sum, "--", *names], cwd=root, capture_output=True, env={}, check=True)
        assert said.stdout == ended.out.encode()


@pytest.mark.parametrize(("made", "reason"), [(None, "No such file or directory"), (b"1", "Not a directory")])
def test_a_path_that_is_no_directory_is_one_line(machine, made, reason):
    if made:
        make(machine.project, {"t": made})
    ended = machine.run("fingerprint", "t")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"outfitter: error: cannot fingerprint: t: {reason}\n"
    spoken = json.loads(machine.run("fingerprint", "t", "--json").err)
    assert (spoken["kind"], spoken["exit"]) == ("effect-failed", 1)


def test_an_unknown_option_is_usage(machine):
    assert machine.run("fingerprint", "--nope").code == 2


def test_an_empty_list_prints_nothing(machine):
    make(machine.project / "t", {})
    ended = machine.run("fingerprint", "t", "--list")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
