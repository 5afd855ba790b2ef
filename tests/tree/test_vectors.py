"""The test vectors of spec/60, "Test vectors"."""

import pytest

from outfitter.fingerprint.scan import scan
from tests.tree.trees import make

VECTORS = {
    "empty directory": ({}, "0e7dee574111a192fabd3065f2e79a8a682495412bff9193da0321f2e005b4d1"),
    "one file": ({"a": b"hello\n"}, "1476bb1d9ddb936547d0129134b608d53f877844790b45010f79611b45ab9b5b"),
    "executable": ({"a": (b"hello\n", 0o755)}, "9d3bb25511a3e9c8cf831505d31a1212331328988f69174250fb8955752077c4"),
    "empty subdirectory": ({"d": None}, "2a8c3d7d9d231cb0d3a0747f968446d3e1adc9c80cced79536bde42f1468d123"),
    "nested": ({"d/b": b"", "a": b"hello\n"}, "f6dedabe42402c90f411fa31f9cd537d39871745713bb0eb457d001096d57664"),
    "link": ({"l": "link:nowhere/else"}, "361fbff8630efa5a96843fec8938a55cf967b5cbadfe103076856bc8019a4c6a"),
    "fifo": ({"p": "fifo"}, "8e2c6598a92df2977a77dc1181aae5661bf76c2e0cfce65bca104aed7af5d6d6"),
    "order": (
        {"A": b"A", "a-": b"a-", "a/c": b"c"},
        "33ccefe4d7aced04e96e25f04be69d7d48d9f0f183ff2ff9974b1e4b8f256e84",
    ),
    "no UTF-8": ({b"fo\xffo": b"x"}, "b8bcb4101439a8f9bd130007840b75b659b335ac496407265365d87107487578"),
    "large": (
        {"projects/-home-u-p/s.jsonl": b"0123456789" * 100_000},
        "abc62871c1150ea8e9c73ce980bee22c6cfb5b670162d22f08453d291dc60364",
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vector(name, tmp_path):
    entries, digest = VECTORS[name]
    tree = scan(make(tmp_path / "t", entries), (), 0, trusted=False)
    assert tree.digest.hex() == digest
    assert tree.complete
