"""Files read with a bound and written at once, and the one codec of paths."""

import os
import socket
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.fs import is_temporary, read_regular, temporary_name, write_atomic
from outfitter.model.outcome import path_bytes, path_text


@pytest.mark.parametrize("exclusive", [False, True])
def test_a_new_file_is_private_and_leaves_no_temporary(tmp_path, exclusive):
    path = tmp_path / "file"
    write_atomic(str(path), (b"one", b"two"), exclusive=exclusive)
    assert path.read_bytes() == b"onetwo"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_is_replaced_but_not_by_an_exclusive_write(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write_atomic(str(path), b"new", exclusive=True)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])
    write_atomic(str(path), b"new")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new", ["file"])


def test_an_exclusive_write_needs_no_hard_links(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "file"
    write_atomic(str(path), b"first", exclusive=True)
    with pytest.raises(FileExistsError):
        write_atomic(str(path), b"second", exclusive=True)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"first", ["file"])


def test_an_exact_mode_is_not_narrowed_by_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        write_atomic(str(tmp_path / "exact"), b"", mode=0o664, exact_mode=True)
        write_atomic(str(tmp_path / "narrowed"), b"", mode=0o664)
    finally:
        os.umask(before)
    assert [os.stat(tmp_path / name).st_mode & 0o777 for name in ("exact", "narrowed")] == [0o664, 0o600]


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(descriptor):
        raise OSError(5, "cannot be flushed")

    with pytest.raises(OSError, match="flushed"):
        write_atomic(str(path), b"new", sync=fail)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])


def test_a_named_temporary_of_a_killed_process_is_overwritten(tmp_path):
    (tmp_path / ".mine.tmp").write_bytes(b"a longer text that was not finished")
    write_atomic(str(tmp_path / "file"), b"new", temporary=".mine.tmp")
    assert ((tmp_path / "file").read_bytes(), os.listdir(tmp_path)) == (b"new", ["file"])


def test_a_name_of_255_bytes_is_written(tmp_path):
    write_atomic(str(tmp_path / ("n" * 255)), b"x")
    assert os.listdir(tmp_path) == ["n" * 255]


def test_what_is_not_a_regular_file_or_too_large_is_not_read(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    listener.close()
    assert read_regular(str(tmp_path / "link"), 5) == b"12345"
    for name, limit in (("file", 4), ("fifo", 5), ("socket", 5), (".", 5), ("absent", 5)):
        with pytest.raises(OSError):
            read_regular(str(tmp_path / name), limit)
    with pytest.raises(OSError):
        read_regular(str(tmp_path / "link"), 5, follow=False)


def test_a_file_that_tells_no_size_is_read_to_its_end():
    with open("/proc/self/cmdline", "rb") as file:
        assert read_regular("/proc/self/cmdline") == file.read()


def test_only_names_of_temporaries_are_taken_for_them():
    assert is_temporary(temporary_name())
    for name in (
        ".outfitter-.tmp",
        ".outfitter-0123456789ag.tmp",
        ".outfitter-0123456789ab",
        "0123456789ab.tmp",
        ".tmp",
    ):
        assert not is_temporary(name)


@given(st.binary())
def test_every_raw_path_survives_the_codec(raw):
    assert path_bytes(path_text(raw)) == raw


def test_a_path_outside_an_ascii_locale_is_spelled_in_utf_8():
    program = "from outfitter.model.outcome import path_bytes as b, path_text as t; print(b('\\xe9'), t(b(t(b'\\xff'))) == t(b'\\xff'))"
    env = {"PATH": os.environ["PATH"], "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout == "b'\\xc3\\xa9' True\n"
