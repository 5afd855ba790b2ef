"""Taking a native program's lock directory, and giving back what a killed launcher held (spec/40)."""

import os
import subprocess
import sys

import pytest

from outfitter.bridge import native_lock
from outfitter.bridge.native_lock import locked

HOLDER = """
import sys, time
from outfitter.bridge.native_lock import locked
locked(sys.argv[1], 0)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def lock(tmp_path):
    return tmp_path / ".claude.json.lock"


def test_a_lock_is_taken_and_given_back(lock):
    release = locked(str(lock), 0)
    assert release is not None
    assert lock.is_dir()
    assert locked(str(lock), 0) is None
    release()
    assert not lock.exists()
    again = locked(str(lock), 0)
    assert again is not None
    again()


def test_another_programs_lock_is_never_removed(lock, monkeypatch):
    monkeypatch.setattr(native_lock, "_SETTLED_NS", 0)
    lock.mkdir()
    os.utime(lock, (0, 0))
    assert locked(str(lock), 0.1) is None
    assert lock.is_dir()


def test_a_killed_launchers_lock_is_taken_over_and_a_live_ones_is_not(lock, monkeypatch):
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.getcwd(), "PYTHONDONTWRITEBYTECODE": "1"}
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], env=env, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        monkeypatch.setattr(native_lock, "_SETTLED_NS", 0)
        assert locked(str(lock), 0.1) is None
    finally:
        holder.kill()
        holder.communicate()
    assert lock.is_dir()
    monkeypatch.setattr(native_lock, "_SETTLED_NS", 3600 * 10**9)
    assert locked(str(lock), 0) is None, "one that young may be about to be flocked"
    monkeypatch.setattr(native_lock, "_SETTLED_NS", 0)
    release = locked(str(lock), 0)
    assert release is not None
    release()
    assert not lock.exists()


def test_what_took_its_place_meanwhile_is_not_removed_on_release(lock):
    release = locked(str(lock), 0)
    assert release is not None
    os.rename(lock, str(lock) + ".moved")
    lock.mkdir()
    release()
    assert lock.is_dir()


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        locked(str(tmp_path / "nowhere/x.lock"), 0)
