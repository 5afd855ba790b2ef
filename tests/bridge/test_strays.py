"""Which files beside the projection a run wrote: not those that Outfitter had put into it, moved as they were."""

import errno
import os
from types import SimpleNamespace

import pytest

from outfitter.bridge.notices import stray_notice, written_strays
from outfitter.model.outcome import GRANULARITY_NS, Identity, Row
from outfitter.run.stray_files import strays
from tests.state.standing import as_nobody

TAKEN = 10 * GRANULARITY_NS
OLD, RACY = TAKEN - 2 * GRANULARITY_NS, TAKEN - 1


def row(path, when=OLD, size=3, digest=b"", inode=7, tag="f"):
    return Row(path.encode(), tag, digest, size, 0o600, Identity(1, inode, when, when))


def told(found, *, now=None, error=None, baseline=()):
    def look(path, identity, digest):
        if error:
            raise error
        return None if now is None else SimpleNamespace(digest=now)

    snapshot = SimpleNamespace(tree=SimpleNamespace(rows=baseline, taken_ns=TAKEN))
    return bool(written_strays(SimpleNamespace(look=look), SimpleNamespace(root="/tmp/r"), snapshot, (found,)))


@pytest.mark.parametrize(
    ("found", "more", "new"),
    [
        (row("p/x"), {}, False),
        (row("p/x", inode=8), {}, True),
        (row("p/x", size=4), {}, True),
        (row("p/x", when=OLD + 1), {}, True),
        (row("p/x", when=RACY), {"now": b"seeded"}, False),
        (row("p/x", when=RACY), {"now": b"other"}, True),
        (row("p/x", when=RACY), {}, True),
        (row("p/x", when=RACY), {"error": OSError(errno.EACCES, "no")}, True),
        (row("p/x", tag="u", inode=0), {}, True),
    ],
    ids=["as it was", "inode", "size", "time", "racy, same", "racy, other", "racy, gone", "racy, shut", "unreadable"],
)
def test_a_moved_file_counts_if_it_may_have_changed(found, more, new):
    baseline = (row("x", digest=b"seeded"), row("x", when=RACY, digest=b"seeded"), row("d", tag="d", inode=8))
    assert told(found, baseline=baseline, **more) is new


def test_many_places_stand_in_one_short_line():
    record = SimpleNamespace(root="/tmp/r", projection="/tmp/r/projection")
    found = [row(f"n{number}/a/b") for number in range(9)] + [row("n1/c"), row("top")]
    notice = stray_notice(record, found, gone=False)
    assert notice.message.count("\n") == 0
    assert "/tmp/r/n0 (1 file), /tmp/r/n1 (2 files)" in notice.message
    assert notice.message.endswith(" and 5 more")


def test_a_directory_that_cannot_be_looked_into_may_hold_something():
    def job(top):
        (top / "shut/in").mkdir(parents=True)
        (top / "open").mkdir()
        os.chmod(top / "shut", 0)
        return [(one.path, one.tag) for one in strays(str(top), ["shut", "open", "gone"])]

    assert as_nobody(job) == [(b"shut", "u")]


def test_no_link_is_followed_and_names_are_kept_as_they_are(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x").write_text("1")
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    (root / "d/link").symlink_to(tmp_path / "outside")
    (root / "top").symlink_to(tmp_path / "outside")
    odd = os.path.join(os.fsencode(root), b"d/\xff\n")
    with open(odd, "wb") as file:
        file.write(b"1")
    assert [one.path for one in strays(str(root), ["d", "top"])] == [b"d/\xff\n"]
