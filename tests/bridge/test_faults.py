"""Durable sides that cannot be written, writers that come in between, and killed launchers (spec/95 LNK-06, SES; spec/50)."""

import os
import resource
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from attrs import evolve

from outfitter.bridge.durable import real_durable
from outfitter.host import Durable, Host, Processes, Projecting, Runs, Terminal
from stages.bridge import bridge
from tests.bridge.bench import Bench
from tests.bridge.other_uid import as_nobody, open_directory
from tests.effects import fake, methods

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which needs root")
LOGIN = b'{"claudeAiOauth": {"accessToken": "a"}}'
NEW = b'{"claudeAiOauth": {"accessToken": "b"}}'


@root_only
@pytest.mark.other_uid
def test_read_only_credentials_are_left_and_said():
    """LNK-06."""

    def job():
        b = Bench(top)
        durable = b.put(".claude/.credentials.json", LOGIN, 0o444)
        b.launch()
        b.replace(".credentials.json", NEW)
        b.native.chmod(0o555)
        with pytest.raises(PermissionError):
            (b.native / "x").touch()
        b.settle()
        b.native.chmod(0o755)
        warned = b.warnings(".credentials.json", "Permission denied")
        return durable.read_bytes(), len(warned), NEW in b.kept(), b.temporaries(), b.settlement.saved

    with open_directory() as top:
        assert as_nobody(job) == (LOGIN, 1, True, [], True)


@root_only
@pytest.mark.other_uid
def test_a_chain_through_a_read_only_folder():
    """LNK-03: nothing is attempted in the middle."""

    def job():
        b = Bench(top, "pi")
        final, middle = b.put("rw/final.json", "old"), b.home / "ro/middle.json"
        middle.parent.mkdir()
        middle.symlink_to(final)
        b.native.mkdir(parents=True)
        (b.native / "settings.json").symlink_to(middle)
        middle.parent.chmod(0o555)
        b.launch()
        b.replace("settings.json", "new")
        b.settle()
        middle.parent.chmod(0o755)
        return final.read_bytes(), os.listdir(middle.parent), b.settlement.notices

    with open_directory() as top:
        assert as_nobody(job) == (b"new", ["middle.json"], ())


@root_only
@pytest.mark.other_uid
def test_one_folder_that_cannot_be_written_stops_no_other():
    def job():
        b = Bench(top)
        bad, good = b.history("bad/a.jsonl", b"a\n"), b.history("good/b.jsonl", b"b\n")
        b.launch()
        for name in ("bad/a.jsonl", "bad/new.jsonl", "good/b.jsonl"):
            b.write(f"projects/{b.slug}/{name}", b"+\n", append=True)
        bad.parent.chmod(0o555)
        b.settle()
        bad.parent.chmod(0o755)
        warned = b.warnings("bad/a.jsonl", "bad/new.jsonl")
        return bad.read_bytes(), good.read_bytes(), len(warned), set(b.kept()), b.settlement.saved

    with open_directory() as top:
        assert as_nobody(job) == (b"a\n", b"b\n+\n", 1, {b"a\n+\n", b"+\n"}, True)


@root_only
@pytest.mark.other_uid
def test_with_no_place_to_keep_it_either_the_projection_stays():
    def job():
        b = Bench(top)
        b.history()
        b.launch()
        b.write(f"projects/{b.slug}/s1.jsonl", b"+\n", append=True)
        folder = b.native / "projects" / b.slug
        folder.chmod(0o555)
        b.home.chmod(0o555)
        b.settle()
        b.home.chmod(0o755)
        folder.chmod(0o755)
        return b.settlement.saved, len(b.warnings("s1.jsonl", "Permission denied", str(b.projection))), b.kept()

    with open_directory() as top:
        assert as_nobody(job) == (False, 1, {})


@root_only
@pytest.mark.other_uid
def test_an_unreadable_transcript_stays_in_the_projection():
    def job():
        b = Bench(top)
        b.launch()
        b.write(f"projects/{b.slug}/s1.jsonl").chmod(0)
        b.write("odd").chmod(0)
        b.settle()
        return (
            b.outcome(f"projects/{b.slug}/s1.jsonl"),
            b.outcome("odd"),
            b.settlement.saved,
            len(b.warnings("odd (unreadable)")),
        )

    with open_directory() as top:
        assert as_nobody(job) == ("unreadable", "unreadable", False, 1)


def meddle(bench, monkeypatch, name, path, content):
    """Let another program write `content` to the durable `path` at the last moment: as our call of `os.<name>` begins."""
    real, durable = getattr(os, name), bench.native / "projects" / bench.slug / path

    def call(source, target, *args, **kwargs):
        if os.path.basename(str(target)) == os.path.basename(path):
            with open(durable, "ab") as file:
                file.write(content)
        return real(source, target, *args, **kwargs)

    monkeypatch.setattr(os, name, call)
    return durable


def test_an_append_just_before_the_rename_survives(bench, monkeypatch):
    """SES-04."""
    b = bench()
    b.history("s1.jsonl", b"one\n")
    b.history("s2.jsonl", b"two\n")
    b.age().launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "mine\n", append=True)
    b.write(f"projects/{b.slug}/s2.jsonl", "mine\n", append=True)
    durable = meddle(b, monkeypatch, "replace", "s1.jsonl", b"theirs\n")
    b.settle()
    monkeypatch.undo()
    assert durable.read_bytes() == b"one\ntheirs\n"
    assert (durable.parent / "s2.jsonl").read_bytes() == b"two\nmine\n"
    assert b"one\nmine\n" in b.kept()
    assert len(b.warnings("s1.jsonl", "changed meanwhile")) == 1
    assert b.temporaries() == []


def test_a_file_made_just_before_ours_survives(bench, monkeypatch):
    b = bench()
    b.launch()
    b.write(f"projects/{b.slug}/new.jsonl", "mine\n")
    durable = meddle(b, monkeypatch, "link", "new.jsonl", b"theirs\n")
    b.settle()
    monkeypatch.undo()
    assert durable.read_bytes() == b"theirs\n"
    assert b"mine\n" in b.kept()
    assert b.temporaries() == []


def test_data_is_flushed_before_the_rename_and_the_folder_after(bench, monkeypatch):
    """SES-21."""
    events = []

    def flush(descriptor):
        place = os.readlink(f"/proc/self/fd/{descriptor}")
        events.append(("flush", "folder" if os.path.isdir(place) else "data"))

    b = bench()
    h = b.history()
    b.age().launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    real = os.replace

    def replace(*args, **kwargs):
        events.append(("rename", ""))
        real(*args, **kwargs)

    monkeypatch.setattr(os, "replace", replace)
    b.settle(host=b.host(flush))
    monkeypatch.undo()
    assert h.read_bytes().endswith(b"more\n")
    assert events == [("flush", "data"), ("rename", ""), ("flush", "folder")]


def test_many_files_are_flushed_together_and_each_before_its_rename(bench, monkeypatch):
    b = bench()
    for index in range(50):
        b.history(f"{index}.jsonl")
    b.age().launch()
    for index in range(50):
        b.write(f"projects/{b.slug}/{index}.jsonl", "more\n", append=True)
    renamed: list[str] = []
    folders: list[int] = []

    def flush(descriptor):
        status = os.fstat(descriptor)
        (folders if os.path.isdir(f"/proc/self/fd/{descriptor}") else flushed_list).append(status.st_ino)

    flushed_list: list[int] = []
    real = os.replace

    def replace(source, target, **where):
        inode = os.stat(source, dir_fd=where["src_dir_fd"]).st_ino
        assert inode in flushed_list
        renamed.append(target)
        real(source, target, **where)

    monkeypatch.setattr(os, "replace", replace)
    b.settle(host=b.host(flush))
    monkeypatch.undo()
    assert len(renamed) == 50
    assert len(folders) == 1
    assert all(content.endswith(b"more\n") for _, content in b.durable_tree(b.native / "projects").values())


@pytest.mark.parametrize("bad", [0, 7, 40])
def test_a_flush_that_fails_is_that_file_s_alone(bench, bad):
    b = bench()
    for index in range(40):
        b.history(f"{index}.jsonl")
    b.age().launch()
    for index in range(40):
        b.write(f"projects/{b.slug}/{index}.jsonl", "more\n", append=True)
    calls = []

    def flush(descriptor):
        calls.append(descriptor)
        if len(calls) == bad + 1 and not os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(28, "No space left on device")

    b.settle(host=b.host(flush))
    saved = [
        name for name, (_, content) in b.durable_tree(b.native / "projects").items() if content.endswith(b"more\n")
    ]
    if bad < 40:
        assert len(saved) == 39
        (warning,) = b.warnings("No space left on device")
        assert len(b.kept()) == 1
        assert warning.message.count(".jsonl") == 1
    else:
        assert len(saved) == 40
    assert b.temporaries() == []


def test_a_folder_that_cannot_be_flushed_is_said(bench):
    b = bench()
    h = b.history()
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)

    def flush(descriptor):
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(5, "Input/output error")

    b.settle(host=b.host(flush))
    assert h.read_bytes().endswith(b"more\n")
    assert b.warnings("power cut", str(h.parent))
    assert b.settlement.saved


def test_what_a_killed_launcher_left_is_never_seeded_and_is_cleared(bench):
    """SES-21, second half."""
    b = bench()
    b.history()
    b.history(".outfitter-0123456789ab.tmp", b"half")
    b.history(".outfitter-0123456789ab.tmp2", b"the user's own")
    b.launch()
    seeded = {p.name for p in (b.projection / "projects" / b.slug).iterdir()}
    assert ".outfitter-0123456789ab.tmp" not in seeded
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    b.settle()
    assert {p.name for p in (b.native / "projects" / b.slug).iterdir()} == {"s1.jsonl", ".outfitter-0123456789ab.tmp2"}


def test_a_live_launcher_s_temporary_is_left_alone(bench):
    import fcntl

    b = bench()
    b.history()
    live = b.history(".outfitter-0123456789ab.tmp", b"half")
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    with open(live) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        b.settle()
    assert live.exists()


def test_a_folder_that_somebody_holds_is_waited_for_once(bench, monkeypatch):
    import fcntl

    from outfitter.bridge import durable

    monkeypatch.setattr(durable, "LOCK_SECONDS", 0.3)
    b = bench()
    for index in range(20):
        b.history(f"{index}.jsonl")
    b.launch()
    for index in range(20):
        b.write(f"projects/{b.slug}/{index}.jsonl", "more\n", append=True)
    held = os.open(b.native / "projects" / b.slug, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    b.settle()
    os.close(held)
    assert len(b.warnings("another process holds")) == 1
    assert len(b.kept()) == 1, "all twenty hold the same"
    assert b.settlement.saved
    assert b.temporaries() == []


def test_a_full_disk_loses_nothing(bench):
    """A write that fails half-way: the durable file is whole, the content kept, no temporary left."""
    b = bench()
    h = b.history("s1.jsonl", b"one\n")
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", b"x" * 100_000, append=True)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
            b.settle()
            small = b.warnings("s1.jsonl", "File too large")
            code = 0 if small and not b.settlement.saved else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert h.read_bytes() == b"one\n"
    assert b.temporaries() == []
    b.settle()
    assert h.read_bytes() == b"one\n" + b"x" * 100_000


def test_a_large_transcript_is_streamed(bench):
    """SES-14, smaller: 64 MiB through at most a few MiB of memory."""
    b = bench()
    b.launch()
    place = b.projection / "projects" / b.slug / "big.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    chunk = os.urandom(1 << 20)
    with open(place, "wb") as file:
        file.writelines(chunk for _ in range(64))
    tracemalloc.start()
    b.settle()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (b.native / "projects" / b.slug / "big.jsonl").read_bytes() == place.read_bytes()
    assert peak < 16 << 20


LAUNCHER = """
import sys
from tests.bridge.bench import Bench
b = Bench(sys.argv[1], number=int(sys.argv[2]))
b.launch()
print("launched", flush=True)
sys.stdin.readline()
b.write(f"projects/{b.slug}/own-{sys.argv[2]}.jsonl", sys.argv[2])
if int(sys.argv[2]) <= 200:
    b.write(f"projects/{b.slug}/shared.jsonl", "by " + sys.argv[2], append=True)
b.settle()
print(len(b.warnings("shared.jsonl")), len(b.settlement.notices), flush=True)
"""


def test_eight_launchers_at_once(bench):
    """SES-19: each adds its own transcript, two append to one file; that conflict is told by one of them."""
    b = bench()
    shared = b.history("shared.jsonl", b"shared\n")
    root = Path(__file__).parents[2]
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(b.top), str(number * 100)],
            cwd=root,
            env={"PATH": "/usr/bin:/bin", "HOME": str(b.home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(1, 9)
    ]
    for run in runs:
        assert run.stdout
        assert run.stdout.readline() == "launched\n"
    for run in runs:
        assert run.stdin
        run.stdin.write("go\n")
        run.stdin.flush()
    told = [[int(word) for word in run.communicate(timeout=60)[0].split()] for run in runs]
    assert sum(warned for warned, _ in told) == 1
    assert sum(notices for _, notices in told) == 2, "the warning, and how much is kept"
    folder = b.native / "projects" / b.slug
    assert {p.name for p in folder.iterdir()} == {"shared.jsonl", *(f"own-{n * 100}.jsonl" for n in range(1, 9))}
    winner = shared.read_bytes()
    assert winner in (b"shared\nby 100", b"shared\nby 200")
    assert set(b.kept()) == {b"shared\nby 100", b"shared\nby 200"} - {winner}
    assert b.temporaries() == []


def test_merged_whatever_failed_before_it(bench):
    """A bridge that fails for one file gives every other its ending."""
    b = bench()
    b.history()
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    b.write(f"projects/{b.slug}/s2.jsonl", "new\n")
    host = b.host()

    def look(path, *known):
        if path.endswith("s1.jsonl"):
            raise OSError(5, "Input/output error", path)
        return real_durable(str(b.state)).look(path, *known)

    b.settle(host=evolve(host, durable=fake(Durable, host.durable, look=look)))
    assert (b.native / "projects" / b.slug / "s2.jsonl").read_bytes() == b"new\n"
    assert b.warnings("s1.jsonl", "Input/output error")
    assert b'{"n":1}\nmore\n' in b.kept()


def test_the_bridge_is_handed_nothing_that_could_remove():
    """Everything that the types of the stage's parameters reach, fields and methods, transitively."""
    reached: dict[str, Any] = {}

    def reach(kind: Any, path: str) -> None:
        for part in get_args(kind):
            reach(part, path)
        if not isinstance(kind, type) or kind.__module__ not in ("outfitter.host", "outfitter.bridge.context"):
            return
        if getattr(kind, "_is_protocol", False):
            reached.update({f"{path}.{name}": kind for name in methods(kind)})
        elif path.count(".") < 5:
            for name, inner in get_type_hints(kind).items():
                reached[f"{path}.{name}"] = inner
                reach(inner, f"{path}.{name}")

    hints = get_type_hints(bridge)
    for name, kind in hints.items():
        reach(kind, name)
    assert {"using.durable.replace", "using.user.ask", "using.files.read"} <= reached.keys(), "the walk finds methods"
    forbidden = ("remove", "unlink", "truncate", "delete", "forget", "sweep", "clean", "close")
    assert not [path for path in reached if any(word in path for word in forbidden)]
    assert not {Host, Runs, Projecting, Processes, Terminal} & {*hints.values(), *reached.values()}


def test_a_test_that_wraps_what_the_bridge_is_handed_is_held_to_its_types():
    """The fakes of this folder cannot drift from the Protocols."""
    with pytest.raises(AssertionError, match="has no remove"):
        fake(Durable, remove=print)
    with pytest.raises(TypeError, match="too many positional"):
        fake(Durable, read=lambda: b"")
    with pytest.raises(TypeError, match="nonsense"):
        fake(Durable, read=print).read("/x", nonsense=1)
