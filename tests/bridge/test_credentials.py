"""The credential bridge (spec/95 CRD; spec/00; 006.5.14)."""

import json
import os

import pytest

FILE = ".credentials.json"


def login(token="t", refresh="r", **more):
    return json.dumps(
        {"claudeAiOauth": {"accessToken": token, "refreshToken": refresh, "expiresAt": 1}, **more}
    ).encode()


def stub():
    return json.dumps(
        {
            "claudeAiOauth": {"accessToken": "", "refreshToken": "", "expiresAt": 0, "refreshTokenExpiresAt": 9},
            "mcpOAuth": {"x|1": {"accessToken": "", "expiresAt": 0}},
        }
    ).encode()


@pytest.fixture
def signed_in(bench):
    b = bench()
    b.durable = b.put(".claude/" + FILE, login("a"))
    return b.age().launch()


def test_changed_credentials_come_back_private(signed_in):
    b = signed_in
    assert (b.projection / FILE).stat().st_mode & 0o777 == 0o600
    b.replace(FILE, login("b"))
    b.settle()
    assert b.durable.read_bytes() == login("b")
    assert b.durable.stat().st_mode & 0o777 == 0o600
    assert b.outcome(FILE) == "bridged"
    assert b.settlement.notices == ()


def test_a_refresh_meanwhile_is_preserved(signed_in):
    """CRD-01."""
    b = signed_in
    b.write(FILE, login("c"))
    b.durable.write_bytes(login("b"))
    b.settle()
    assert b.durable.read_bytes() == login("b")
    (warning,) = b.warnings(FILE)
    assert "changed on both sides" in warning.message
    assert "MCP authorisations" in warning.message
    assert b.outcome(FILE) == "conflict"
    index = json.loads(b.kept()[login("c")])
    assert index["credential"] is True
    assert login("c").decode() not in b.told


def test_a_run_that_wrote_nothing_says_nothing(signed_in):
    """CRD-01, second half."""
    b = signed_in
    b.durable.write_bytes(login("b"))
    b.settle()
    assert b.durable.read_bytes() == login("b")
    assert b.settlement.notices == ()


def test_a_lost_refresh_ends_no_login(signed_in):
    """CRD-04."""
    b = signed_in
    b.write(FILE, stub())
    b.settle()
    assert b.durable.read_bytes() == login("a")
    assert b.warnings(FILE, "logged out", "login was kept")
    assert stub() in b.kept()


def test_a_lost_login_beside_live_servers_ends_no_login(signed_in):
    b = signed_in
    b.write(FILE, json.dumps({"mcpOAuth": {"x|1": {"accessToken": "live"}}}))
    b.settle()
    assert b.durable.read_bytes() == login("a")
    assert b.warnings(FILE, "logged out")


def test_a_server_gained_or_lost_is_carried(signed_in):
    b = signed_in
    new = login("a", mcpOAuth={"x|1": {"accessToken": "", "expiresAt": 0}})
    b.write(FILE, new)
    b.settle()
    assert b.durable.read_bytes() == new


@pytest.mark.parametrize(
    "content", [b"", b"  \n", b"{}", b'{"claudeAiOauth": {"acc', b"[]", b"null", b'"x"', b"\xff\xfe"]
)
def test_what_is_no_usable_object_never_replaces(signed_in, content):
    b = signed_in
    b.write(FILE, content)
    b.settle()
    assert b.durable.read_bytes() == login("a")
    assert len(b.warnings(FILE)) == 1
    assert not b.settlement.notices or b.settlement.saved


def test_a_deletion_is_never_carried_over(signed_in):
    """CRD-05."""
    b = signed_in
    b.delete(FILE)
    b.settle()
    assert b.durable.read_bytes() == login("a")
    assert b.settlement.notices == ()


def test_a_first_login_comes_back(bench):
    b = bench()
    b.launch()
    b.write(FILE, login("a"))
    b.settle()
    durable = b.native / FILE
    assert durable.read_bytes() == login("a")
    assert durable.stat().st_mode & 0o777 == 0o600


def test_two_first_logins(bench):
    """CRD-07."""
    b = bench()
    b.launch()
    b.write(FILE, login("c"))
    durable = b.put(".claude/" + FILE, login("d"))
    b.settle()
    assert durable.read_bytes() == login("d")
    assert b.warnings(FILE, "made on both sides")
    assert login("c") in b.kept()


def test_servers_of_both_sides(bench):
    """CRD-09."""
    b = bench()
    durable = b.put(".claude/" + FILE, login("a"))
    b.launch()
    b.write(FILE, login("a", mcpOAuth={"y|1": {"accessToken": "y"}}))
    durable.write_bytes(login("a", mcpOAuth={"x|1": {"accessToken": "x"}}))
    b.settle()
    assert b"x|1" in durable.read_bytes()
    assert b.warnings(FILE, "MCP authorisations from this run were not saved")


def test_private_from_creation_whatever_the_umask(signed_in, monkeypatch):
    """CRD-08: the temporary is exclusive, follows no link, and is never open to others, not even before its first byte."""
    b = signed_in
    seen = []
    real = os.open

    def watched(path, flags, mode=0o777, **more):
        descriptor = real(path, flags, mode, **more)
        if flags & os.O_CREAT:
            seen.append((flags, os.fstat(descriptor).st_mode & 0o777, os.fstat(descriptor).st_size))
        return descriptor

    b.write(FILE, login("b"))
    old = os.umask(0)
    monkeypatch.setattr(os, "open", watched)
    try:
        b.settle()
    finally:
        monkeypatch.undo()
        os.umask(old)
    assert b.durable.read_bytes() == login("b")
    assert seen
    for flags, mode, size in seen:
        assert flags & os.O_EXCL
        assert flags & os.O_NOFOLLOW
        assert (mode, size) == (0o600, 0)


def test_a_link_to_a_shared_login_stays_a_link(bench):
    """LNK-05."""
    b = bench()
    shared = b.put("shared/cred.json", login("a"))
    b.native.mkdir(parents=True)
    (b.native / FILE).symlink_to(shared)
    b.launch()
    b.replace(FILE, login("b"))
    b.settle()
    assert (b.native / FILE).is_symlink()
    assert shared.read_bytes() == login("b")
    assert shared.stat().st_mode & 0o777 == 0o600


def test_a_byte_order_mark_is_understood(signed_in):
    """JSN-04."""
    b = signed_in
    b.write(FILE, b"\xef\xbb\xbf" + login("b"))
    b.settle()
    assert b.durable.read_bytes() == b"\xef\xbb\xbf" + login("b")


def test_a_link_or_a_directory_in_its_place_is_said(signed_in):
    b = signed_in
    b.delete(FILE)
    (b.projection / FILE).symlink_to("/etc/passwd")
    b.settle()
    assert b.durable.read_bytes() == login("a")
    assert b.warnings(FILE, "link to /etc/passwd")


def test_credentials_are_no_unknown_write(signed_in):
    """CLS-01."""
    b = signed_in
    b.write(FILE, login("b"))
    b.write(".claude.json", '{"numStartups":1}')
    b.write(f"projects/{b.slug}/s.jsonl", "x")
    b.settle()
    assert {c.zone for c in b.settlement.changes} == {"declared"}
    assert {c.outcome for c in b.settlement.changes} == {"bridged"}
    assert b.settlement.notices == ()
    assert b.changes[FILE].strategy == "bridge"
