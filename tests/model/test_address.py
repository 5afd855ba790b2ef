"""Credentials in addresses: hidden and removed wherever they are, at no more than linear cost."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.syntax.address import has_credentials, hide_credentials, user_parts, without_credentials

ADDRESSES = [
    ("https://user:p@ss@host/x", "https://***@host/x", "https://host/x"),
    ("https://user:p:ss@host:8080/x", "https://***@host:8080/x", "https://host:8080/x"),
    ("https://us@er:pass@host", "https://***@host", "https://host"),
    ("https://token@host/x", "https://***@host/x", "https://host/x"),
    ("https://:token@host/x", "https://***@host/x", "https://host/x"),
    ("https://@host/x", "https://***@host/x", "https://host/x"),
    ("https://user:p/ss@host/x", "https://***@host/x", "https://host/x"),
    ("https://user:p?s#s@host/x", "https://***@host/x", "https://host/x"),
    ("https://user:1p/ss@host/x", "https://***@host/x", "https://host/x"),
    ("HTTPS://user:pass@[::1]:80/x", "HTTPS://***@[::1]:80/x", "HTTPS://[::1]:80/x"),
    ("ssh://git:secret@host/x", "ssh://***@host/x", "ssh://host/x"),
    ("git+https://user:pass@host", "git+https://***@host", "git+https://host"),
    ("https://host/x?token=abc", "https://host/x?token=***", "https://host/x?token="),
    ("https://host/x?token=a@b:c/d?e", "https://host/x?token=***", "https://host/x?token="),
    ("https://host/x?token=a://b&n=1", "https://host/x?token=***&n=1", "https://host/x?token=&n=1"),
    ("https://host?a=1&API_KEY=k&b=2", "https://host?a=1&API_KEY=***&b=2", "https://host?a=1&API_KEY=&b=2"),
    ("https://host/?X-Amz-Signature=s", "https://host/?X-Amz-Signature=***", "https://host/?X-Amz-Signature="),
    ("https://host/#access_token=t&n=1", "https://host/#access_token=***&n=1", "https://host/#access_token=&n=1"),
    ("https://u:p@host/?client_secret=s", "https://***@host/?client_secret=***", "https://host/?client_secret="),
    (
        "https://host/?next=https://u:p@other/?sig=1",
        "https://host/?next=https://***@other/?sig=***",
        "https://host/?next=https://other/?sig=",
    ),
    (
        "cannot reach 'https://u:p@ss@host/x?private_token=t': 403, not https://v:w@host",
        "cannot reach 'https://***@host/x?private_token=***': 403, not https://***@host",
        "cannot reach 'https://host/x?private_token=': 403, not https://host",
    ),
]
WITHOUT = [
    "",
    "user@example.org",
    "git@github.com:owner/repo.git",
    "ssh://git@host/x",
    "git+ssh://git@host/x",
    "https://host/@scope/name",
    "https://host:8080/a@b?c=d@e#f:g@h",
    "https://[::1]:8080/a@b",
    "https://${HOST}:${PORT}/a@b",
    "https://host/?sort=key&page=2",
    "file:///home/a@b",
    "see https://host: user@example.org",
    "?token=abc",
]


@pytest.mark.parametrize(("text", "hidden", "bare"), ADDRESSES)
def test_credentials_are_hidden_and_removed(text, hidden, bare):
    assert hide_credentials(text) == hidden
    assert without_credentials(text) == bare
    assert has_credentials(text)


@pytest.mark.parametrize("text", WITHOUT)
def test_text_without_credentials_stays_as_it_is(text):
    assert hide_credentials(text) == without_credentials(text) == text
    assert not has_credentials(text)


def test_user_parts_are_listed_whole():
    assert list(user_parts("a https://u:p@ss@host and https://host/?token=t and http://t@h")) == ["u:p@ss", "t"]


@given(st.text(st.characters(blacklist_categories=("Zs", "Zl", "Zp", "Cc", "Cs"), blacklist_characters="/?#*")))
def test_no_part_of_a_password_is_shown(password):
    assert hide_credentials(f"https://user:{password}@host/path") == "https://***@host/path"


@given(st.text("://@?&#=;token a1[]"))
def test_hiding_twice_hides_no_more(text):
    assert hide_credentials(hide_credentials(text)) == hide_credentials(text)


UNITS = (
    "a",
    "://",
    "://a:b",
    "://a:b/",
    "://@",
    "://a:1/",
    "?",
    "?=",
    "?token=",
    "?a=",
    "&key=",
    "@",
    ":",
    "key-",
    "'",
)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("before", ["", "x://", "x://a:b/"])
@pytest.mark.parametrize("after", ["", "@", "="])
def test_a_megabyte_takes_less_than_a_second(unit, before, after):
    text = before + unit * (1_000_000 // len(unit)) + after
    started = time.process_time()
    hide_credentials(text)
    assert time.process_time() - started < 1
