"""A launch in which one open, list, stat or read is refused, at every such call in turn: nothing is lost, and the code stays (spec/50).

The call fails once, as with no descriptor left or a disk that stumbles. Before the harness starts, the launch may end with an
error; afterwards its exit code is the harness's, and what could not be looked at is kept or stays and is recovered.
"""

import errno
import json
import os
import sys

import pytest

from outfitter.model.outcome import ChildExit
from outfitter.model.projection import Report
from tests.machines.launching import go
from tests.machines.test_faults import STRIDE, check, expected, fresh, scene, top  # noqa: F401 - fixtures

LISTS = {"os.listdir", "os.scandir"}
STATS = ("stat", "lstat", "fstat", "readlink")
READS = ("read", "pread", "preadv")
# Outside CI a prime step meets all kinds of calls.
STEP = 1 if STRIDE == 1 else 23


class Refuser:
    """Refuses the n-th look of this process at the machine in one directory, by a path or by a descriptor."""

    def __init__(self, below, number, refusal):
        self.top, self.number, self.refusal = str(below), number, refusal
        self.count, self.resting, self.what = 0, False, ""

    def install(self):
        sys.addaudithook(self.hook)
        for name in (*STATS, *READS):
            setattr(os, name, self.wrapped(name, getattr(os, name)))

    def rest(self):
        """The harness's own doing is not the launcher's."""
        self.resting = not self.resting

    def hook(self, event, given):
        if (
            event == "open" and isinstance(given[2], int) and not given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        ) or event in LISTS:
            self.step(event, given[0])

    def wrapped(self, name, real):
        def call(what, *given, **named):
            self.step(name, what)
            return real(what, *given, **named)

        return call

    def step(self, name, what):
        if self.resting or not self.ours(what):
            return
        self.count += 1
        if self.count == self.number + 1:
            self.what = f"{name} {what!r}"
            raise OSError(self.refusal, os.strerror(self.refusal), what if isinstance(what, str) else None)

    def ours(self, what):
        if isinstance(what, int):
            return what > 2
        path = os.fsdecode(what)
        return not os.path.isabs(path) or path.startswith(self.top)


def in_child(place, kind, number, refusal):
    """What a launch in a child process ended as: its exit code, its error, the number of looks, and the refused one."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            refuser = Refuser(place.top, number, refusal)
            refuser.install()
            ended = go(place, kind, inside=refuser.rest)
            refuser.resting = True
            end = ended.ended if isinstance(ended, Report) else ended
            told = {
                "code": end.code if isinstance(end, ChildExit) else None,
                "error": "" if isinstance(end, ChildExit) else repr(end),
                "count": refuser.count,
                "what": refuser.what,
            }
            with os.fdopen(writer, "w") as out:
                json.dump(told, out)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as back:
        told = back.read()
    os.waitpid(child, 0)
    return json.loads(told)


@pytest.mark.slow
@pytest.mark.parametrize("refusal", [errno.EIO, errno.EMFILE, errno.EACCES], ids=["EIO", "EMFILE", "EACCES"])
def test_every_look_of_a_launch(top, scene, expected, refusal, record_property, capsys):  # noqa: F811
    undisturbed = in_child(fresh(top, scene), scene, -2, refusal)
    assert undisturbed["error"] == ""
    assert undisturbed["count"] > 100
    points = range(0, undisturbed["count"], STEP)
    for number in points:
        place = fresh(top, scene)
        told = in_child(place, scene, number, refusal)
        where = f"look {number} of {undisturbed['count']}: {told['what']}: {told['error']}"
        assert told["code"] == 0 if place.ran else told["error"], where
        check(place, scene, expected, where, whole=False)
    record_property("injected points", len(points))
    with capsys.disabled():
        print("\n" + f"{scene.harness}: refused {len(points)} of {undisturbed['count']} looks", end=" ")
