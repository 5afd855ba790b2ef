"""A dump of files that cannot be read would pass on a part as if it were the whole: it is refused (spec/30)."""

import pytest


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("agents/b/agent.md", b"---\nname: b\n---\n\xff"),
        ("agents/b/agent.md", b"---\ntools: [\n---\nx\n"),
        ("mcp.json", b"{"),
        ("models.json", b"[" * 5000),
    ],
)
def test_it_names_the_file_and_writes_nothing(machine, path, content):
    machine.agent("a")
    machine.put(f".agents/{path}", content)
    ended = machine.run("dump", "--out", "made")
    assert (ended.code, f".agents/{path}:" in ended.err) == (1, True)
    assert not (machine.project / "made").exists()
