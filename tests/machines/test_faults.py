"""A launch that is killed or refused at every single effect, then recovered: nothing durable is lost or half-written (spec/50).

Two grains. Host effects, one by one: the machine refuses (`OSError`), or the launcher is killed just before or just after.
System calls, one by one, in a child process: the launcher ends on the spot, and in the middle of every write.
"""

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pytest

from outfitter.model.outcome import ChildExit
from outfitter.model.projection import Report
from tests.machines.failing import Killed, failing
from tests.machines.launching import SCENES, Place, Scene, finish, go, make

NAMES = sorted(SCENES)
# Every point in CI, every third one elsewhere.
STRIDE = 1 if os.environ.get("CI") else 3


class Expected(NamedTuple):
    """Durable state before any launch, after one in which nothing happens, and after an undisturbed one."""

    before: dict[str, Any]
    idle: dict[str, Any]
    after: dict[str, Any]


@pytest.fixture(scope="module", params=NAMES)
def scene(request):
    return SCENES[request.param]


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    return tmp_path_factory.mktemp("faults").resolve() / "m"


def fresh(top, scene) -> Place:
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    return make(top, scene)


@pytest.fixture(scope="module")
def expected(top, scene) -> Expected:
    place = fresh(top, scene)
    before = place.durable()
    finish(place, scene)
    idle = place.durable()
    place = fresh(top, scene)
    report = go(place, scene)
    assert isinstance(report, Report)
    after = place.durable()
    assert len(set(after.items()) - set(idle.items())) >= 4, "the script must change durable state of several kinds"
    return Expected(before, idle, after)


def check(place: Place, scene: Scene, expected: Expected, where: str, *, whole: bool, written: bool = True) -> None:
    """What holds after recovery and one more launch. `whole`: all that the harness wrote must have become durable.

    `written`: it must at least be somewhere: durable, under `conflicts/`, or in a run directory that was left. A refusal
    before the harness starts may leave a bridge out of the plan, and says so.
    """
    ran = place.ran
    last = finish(place, scene)
    assert isinstance(last, Report), (where, last)
    assert last.ended == ChildExit(0), (where, last)
    assert place.leftovers() == [], where
    now = place.durable()
    if ran and whole:
        assert now == expected.after, (where, difference(now, expected.after))
        return
    for path, (mode, content) in now.items():
        known = [side[path] for side in expected if path in side]
        # A plan without a skill that could not be read links the directory: then the harness's own mode counts.
        if path in expected.before or whole:
            assert (mode, content) in known, (where, path, content[:80])
        assert content in [text for _, text in known], (where, path, content[:80])
    assert expected.before.keys() <= now.keys(), where
    if ran and written:
        there = {content for _, content in now.values()} | set(place.kept())
        lost = {
            path
            for path, (_, content) in expected.after.items()
            if not {content, own_part(path, content, expected)} & there and path != ".claude.json"
        }
        if not any(b'"b@x"' in content for content in there) and scene.harness == "claude":
            lost.add(".claude.json")
        assert not lost, (where, lost)


def own_part(path, content, expected):
    """What the harness itself wrote of a file: of one that it appended to, the end. A seed may be missing, that may not."""
    _, before = expected.before.get(path, (0, b""))
    return content.removeprefix(before)


def difference(one, other):
    return {
        path: (one.get(path), other.get(path)) for path in one.keys() | other.keys() if one.get(path) != other.get(path)
    }


def open_descriptors() -> set[int]:
    """Those that are still open after the listing's own is closed again."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(name))
        except OSError:
            continue
        found.add(int(name))
    return found


@contextmanager
def descriptors_restored() -> Iterator[None]:
    """A killed launcher's descriptors close with it; what this process opened meanwhile is closed the same way."""
    before = open_descriptors()
    yield
    for descriptor in open_descriptors() - before:
        os.close(descriptor)


def effects(place, scene) -> list[str]:
    seen: list[str] = []

    def note(name, call):
        seen.append(name)
        return call()

    go(place, scene, lambda host: failing(host, note))
    return seen


def at(number, act):
    """A rule that acts at one effect and lets all others be."""
    count = 0

    def rule(name, call):
        nonlocal count
        count += 1
        return act(name, call) if count == number + 1 else call()

    return rule


def refuse(name, call):
    """The machine refuses; a terminal cannot, its words are lost in silence."""
    if name.startswith("terminal."):
        return call()
    raise OSError(errno.EIO, "Input/output error", f"/{name}")


def kill_before(name, _call):
    raise Killed(name)


def kill_after(name, call):
    call()
    raise Killed(name)


@pytest.mark.slow
@pytest.mark.parametrize("act", [refuse, kill_before, kill_after])
def test_every_effect_of_a_launch(top, scene, expected, act, record_property, capsys):
    names = effects(fresh(top, scene), scene)
    assert len(names) > 30
    for number, name in list(enumerate(names))[::STRIDE]:
        place, where = fresh(top, scene), f"{act.__name__} {number} {name}"
        with descriptors_restored():
            try:
                go(place, scene, partial(failing, rule=at(number, act)))
            except Killed:
                assert act is not refuse, where
        check(place, scene, expected, where, whole=act is not refuse, written=number > names.index("processes.run"))
    points = len(names[::STRIDE])
    record_property("injected points", points)
    with capsys.disabled():
        print("\n" + f"{scene.harness}: {act.__name__} at {points} of {len(names)} effects", end=" ")


CALLS = {
    "open", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.chmod", "os.utime",
    "os.truncate", "os.listdir", "os.scandir", "fcntl.flock", "os.chown",
}  # fmt: skip


class Killer:
    """Ends a child process at its n-th system call; counts in the parent's stead when n is out of reach."""

    def __init__(self, number: int, half: bool) -> None:
        self.number, self.half, self.count, self.resting = number, half, 0, False
        self.write = os.write

    def install(self) -> None:
        if self.half:
            os.write = self.half_write
        else:
            sys.addaudithook(self.hook)

    def rest(self) -> None:
        """The harness's own doing is not the launcher's."""
        self.resting = not self.resting

    def hook(self, event, _args):
        if event in CALLS and not self.resting:
            self.step()

    def step(self) -> bool:
        self.count += 1
        if self.count == self.number + 1:
            os._exit(9)
        return True

    def half_write(self, descriptor, data):
        if not self.resting and descriptor > 2:
            if self.count == self.number:
                self.write(descriptor, bytes(data)[: len(data) // 2])
            self.step()
        return self.write(descriptor, data)


def in_child(place, scene, number, half) -> tuple[int, int]:
    """(exit status, system calls seen) of a launch in a child process that ends at the given call."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 8
        try:
            os.close(reader)
            killer = Killer(number, half)
            killer.install()
            outcome = go(place, scene, inside=killer.rest)
            killer.resting = True
            killer.write(writer, str(killer.count).encode())
            code = 0 if isinstance(outcome, Report) else 7
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as back:
        count = back.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), int(count or 0)


@pytest.mark.slow
@pytest.mark.parametrize("half", [False, True], ids=["call", "half a write"])
def test_every_system_call_of_a_launch(top, scene, expected, half, record_property, capsys):
    status, total = in_child(fresh(top, scene), scene, -2, half)
    assert status == 0
    assert total > (10 if half else 100)
    for number in range(0, total, STRIDE):
        place = fresh(top, scene)
        status, _ = in_child(place, scene, number, half)
        if status == 0:
            continue
        assert status == 9, (number, status)
        check(place, scene, expected, f"call {number} of {total}", whole=True)
    points = len(range(0, total, STRIDE))
    record_property("injected points", points)
    with capsys.disabled():
        print("\n" + f"{scene.harness}: killed at {points} of {total} {'writes' if half else 'system calls'}", end=" ")


def test_the_launch_under_test_is_quiet_and_leaves_nothing(top, scene, expected):
    place = fresh(top, scene)
    report = go(place, scene)
    assert report.ended == ChildExit(0)
    assert place.leftovers() == []
    assert place.durable() == expected.after
