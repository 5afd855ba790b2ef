"""Files that are mostly holes cost what their data costs, wherever they are met (spec/60)."""

import errno
import os

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from outfitter import sparse
from outfitter.fingerprint.scan import TREES, scan
from outfitter.fs import copy_bytes, digest_of
from outfitter.run.copying import Copier
from outfitter.sparse import ask_for_room, copy_data, is_sparse, sparse_digest

HUGE = 1 << 40
MB = 1 << 20


def hollow(path, size=HUGE, **data):
    """A file of `size` bytes with the given bytes at the given offsets (`at_4096=b"x"`)."""
    with open(path, "wb") as file:
        file.truncate(size)
        for name, content in data.items():
            file.seek(int(name.removeprefix("at_")))
            file.write(content)
    return path


def opened(path):
    return os.open(path, os.O_RDONLY)


def digest(path):
    descriptor = opened(path)
    try:
        return sparse_digest(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from([b"\0" * 70_000, b"x", b"\0x\0", b"y" * 9000])), max_size=6
    ),
    size=st.integers(0, 45 * 8192),
)
def test_the_digest_depends_on_the_content_and_not_on_where_the_holes_are(tmp_path_factory, pieces, size):
    top = tmp_path_factory.mktemp("t")
    content = bytearray(50 * 8192)
    with open(top / "holes", "wb") as file:
        for place, data in pieces:
            file.seek(place * 8192)
            file.write(data)
            content[place * 8192 : place * 8192 + len(data)] = data
        file.truncate(size)
    (top / "full").write_bytes(bytes(content[:size].ljust(size, b"\0")))
    assert digest(top / "holes") == digest(top / "full")
    (top / "copy").touch()
    source, out = opened(top / "holes"), os.open(top / "copy", os.O_RDWR)
    copy_data(source, out, size)
    assert (top / "copy").read_bytes() == (top / "full").read_bytes()
    if size:
        (top / "full").write_bytes(bytes(content[: size - 1]) + b"z")
        assert digest(top / "holes") != digest(top / "full")
    os.close(source)
    os.close(out)


def test_the_size_counts(tmp_path):
    assert digest(hollow(tmp_path / "a", HUGE)) != digest(hollow(tmp_path / "b", HUGE + 1))


def test_a_terabyte_is_copied_with_its_holes_and_digested(tmp_path):
    source = hollow(tmp_path / "a", at_5000=b"one", at_999999999999=b"two")
    made = Copier().copy(str(source), str(tmp_path / "b"), keep_mtime=True)
    at = os.stat(tmp_path / "b")
    assert (at.st_size, at.st_blocks * 512 < MB, made.digest) == (HUGE, True, digest(source))
    with open(tmp_path / "c", "wb") as out:
        descriptor = opened(source)
        assert copy_bytes(descriptor, out.fileno(), HUGE) == digest(source) == digest_of(descriptor, HUGE)
        os.close(descriptor)
    assert digest(tmp_path / "c") == digest(source)


def test_the_scan_of_a_projection_does_not_read_holes(tmp_path):
    hollow(tmp_path / "a", at_5000=b"one")
    (tmp_path / "b").write_bytes(b"x")
    tree = TREES.scan(str(tmp_path), (), 0, False)
    assert [row.digest for row in tree.rows] == [digest(tmp_path / "a"), blake3(b"x").digest()]


def test_the_fingerprint_of_any_directory_is_still_that_of_the_bytes(tmp_path):
    hollow(tmp_path / "a", 80 * MB)
    (row,) = scan(str(tmp_path), (), 0, False).rows
    assert row.digest == blake3(bytes(80 * MB)).digest()


def test_room_is_asked_for_before_a_byte_is_read(tmp_path, monkeypatch):
    source = tmp_path / "a"
    source.write_bytes(b"x" * 3 * MB)
    monkeypatch.setattr(sparse.os, "fstatvfs", lambda _: os.statvfs_result((4096, 4096, 9, 9, 2, 9, 9, 9, 0, 255)))
    descriptor, out = opened(source), os.open(tmp_path / "b", os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError, match="No space left") as raised:
        copy_bytes(descriptor, out, 3 * MB)
    assert raised.value.errno == errno.ENOSPC
    with pytest.raises(OSError, match="No space left"):
        Copier().copy(str(source), str(tmp_path / "c"))
    assert not (tmp_path / "c").exists()
    ask_for_room(0, os.stat(__file__))


def test_small_files_are_never_sparse(tmp_path):
    assert not is_sparse(os.stat(hollow(tmp_path / "a", 60 * MB)))
    assert is_sparse(os.stat(hollow(tmp_path / "b", 70 * MB)))
