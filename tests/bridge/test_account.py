"""`oauthAccount`, merged alone and in place (spec/95 JSN; 006.5.15, 16)."""

import json
import os

import pytest

FILE = ".claude.json"
NATIVE = b'{\n  "big": 12345678901234567890123,\n  "f": 1.0,\n  "oauthAccount": {"id": 1},\n  "projects": {"/x": {"a": 1}}\n}\n'


@pytest.fixture
def signed_in(bench):
    b = bench()
    b.durable = b.put(FILE, NATIVE, 0o640)
    return b.age().launch()


def test_one_member_changes_and_every_other_byte_stays(signed_in):
    """JSN-07 and spec/40: order and spelling stay."""
    b = signed_in
    b.replace(FILE, '{"oauthAccount":{"id":2,"n":1.50},"junk":1}')
    b.settle()
    assert b.durable.read_bytes() == NATIVE.replace(b'{"id": 1}', b'{"id":2,"n":1.50}')
    assert b.durable.stat().st_mode & 0o777 == 0o640
    assert b.settlement.notices == ()
    assert not os.path.exists(f"{b.durable}.lock")


def test_an_account_that_did_not_change_is_not_written(signed_in):
    """JSN-07."""
    b = signed_in
    before = b.durable.stat()
    b.replace(FILE, '{"oauthAccount": {  "id":1 }, "numStartups": 2}')
    b.settle()
    assert b.durable.stat() == before
    assert b.outcome(FILE) == "bridged"
    assert b.settlement.notices == ()


def test_an_account_switch_meanwhile_is_preserved(signed_in):
    b = signed_in
    b.replace(FILE, '{"oauthAccount":{"id":2}}')
    theirs = NATIVE.replace(b'{"id": 1}', b'{"id": 3}')
    b.durable.write_bytes(theirs)
    b.settle()
    assert b.durable.read_bytes() == theirs
    assert b.warnings(FILE, "oauthAccount", "changed on both sides")


def test_other_changes_meanwhile_are_no_conflict(signed_in):
    b = signed_in
    b.replace(FILE, '{"oauthAccount":{"id":2}}')
    b.durable.write_bytes(NATIVE.replace(b'"a": 1', b'"a": 2'))
    b.settle()
    document = json.loads(b.durable.read_bytes())
    assert document["oauthAccount"] == {"id": 2}
    assert document["projects"] == {"/x": {"a": 2}}


@pytest.mark.parametrize("content", ["{}", '{"oauthAccount":null}', '{"oauthAccount":{}}', "", "{cut", "[]"])
def test_an_account_that_is_gone_is_nothing_to_carry(signed_in, content):
    b = signed_in
    b.replace(FILE, content)
    b.settle()
    assert b.durable.read_bytes() == NATIVE
    assert b.settlement.notices == ()


def test_a_deleted_state_file_is_nothing_to_carry(signed_in):
    b = signed_in
    b.delete(FILE)
    b.settle()
    assert b.durable.read_bytes() == NATIVE
    assert b.settlement.notices == ()


@pytest.mark.parametrize("content", [b'{"oauthAccount": {"id"', b"[]", b"null", b'"text"', b"", b"{}x", b"\xff{}"])
def test_malformed_durable_state_is_left_and_said(bench, content):
    """JSN-01, JSN-05."""
    b = bench()
    durable = b.put(FILE, content)
    b.launch()
    assert not (b.projection / FILE).exists()
    b.write(FILE, '{"oauthAccount":{"id":2}}')
    b.settle()
    assert durable.read_bytes() == content
    assert b.warnings(FILE, "not a JSON object")


def test_a_byte_order_mark_stays(bench):
    """JSN-04."""
    b = bench()
    durable = b.put(FILE, b"\xef\xbb\xbf" + NATIVE)
    b.launch()
    b.replace(FILE, '{"oauthAccount":{"id":2}}')
    b.settle()
    assert durable.read_bytes() == b"\xef\xbb\xbf" + NATIVE.replace(b'{"id": 1}', b'{"id":2}')


def test_a_first_account_makes_the_file(bench):
    b = bench()
    b.launch()
    b.write(FILE, '{"oauthAccount":{"id":2}, "projects": {}}')
    b.settle()
    durable = b.home / FILE
    assert json.loads(durable.read_bytes()) == {"oauthAccount": {"id": 2}}
    assert durable.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(bench):
    b = bench()
    real = b.put("dot/claude.json", NATIVE)
    (b.home / FILE).symlink_to(real)
    b.launch()
    b.replace(FILE, '{"oauthAccount":{"id":2}}')
    b.settle()
    assert (b.home / FILE).is_symlink()
    assert json.loads(real.read_bytes())["oauthAccount"] == {"id": 2}


def test_a_lock_held_by_the_program_is_waited_for_and_never_broken(bench, monkeypatch):
    from outfitter.bridge import account

    monkeypatch.setattr(account, "_LOCK_SECONDS", 0.1)
    b = bench()
    durable = b.put(FILE, NATIVE)
    b.launch()
    lock = b.home / ".claude.json.lock"
    lock.mkdir()
    os.utime(lock, (1, 1))
    b.replace(FILE, '{"oauthAccount":{"id":2}}')
    b.settle()
    assert lock.is_dir()
    assert durable.read_bytes() == NATIVE
    assert b.warnings(FILE, "lock")
