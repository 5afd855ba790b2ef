"""Strategies that watch: what is said, once a state path, however much was written (spec/95 CLS, FPT; spec/50)."""

import os
import tracemalloc

import pytest

from outfitter.render import one_line


@pytest.mark.parametrize("strategy", ["warn", "error", "discard"])
def test_a_watched_path(bench, strategy):
    b = bench("pi", {"plugins/": strategy})
    b.launch()
    b.write("plugins/p/x", "1")
    b.write("plugins/p/y", "1")
    b.settle()
    assert b.outcome("plugins/p/x") == {"warn": "warned", "error": "failed", "discard": "discarded"}[strategy]
    assert not list(b.native.glob("plugins/**/x"))
    if strategy == "discard":
        assert b.settlement.notices == ()
    else:
        (notice,) = b.settlement.notices
        assert notice.level == {"warn": "warning", "error": "error"}[strategy]
        assert "plugins/: 2 added" in notice.message
        assert "plugins/p/x" in notice.message


def test_a_watched_file_starts_as_the_durable_one_and_never_goes_back(bench):
    b = bench("pi", {"settings.json": "error"})
    durable = b.put(".pi/agent/settings.json", '{"theme":"x"}')
    b.launch()
    assert (b.projection / "settings.json").read_bytes() == b'{"theme":"x"}'
    b.write("settings.json", "{}")
    b.settle()
    assert durable.read_bytes() == b'{"theme":"x"}'
    assert b.outcome("settings.json") == "failed"


@pytest.mark.slow
def test_undeclared_writes_are_one_line(bench):
    b = bench("pi")
    b.launch()
    for index in range(45_000):
        if index % 500 == 0:
            (b.projection / f"junk/{index // 500}").mkdir(parents=True)
        os.close(os.open(b.projection / f"junk/{index // 500}/{index}", os.O_CREAT | os.O_WRONLY))
    tracemalloc.start()
    b.settle()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (notice,) = b.settlement.notices
    assert "45000 added" in notice.message
    assert "and 44995 more" in notice.message
    assert len(notice.message) < 400
    assert peak < 120 * 2**20


def test_undeclared_writes_under_prompt_say_why_nobody_is_asked(bench):
    b = bench("pi", {"unknown": "prompt"}, interactive=True)
    b.launch()
    b.write("odd", "x")
    b.settle(settings=b.settings())
    (notice,) = b.settlement.notices
    assert "no durable destination" in notice.message
    assert b.questions == []
    assert b.outcome("odd") == "warned"


def test_special_files_are_named(bench):
    b = bench("pi")
    b.launch()
    os.mkfifo(b.projection / "pipe")
    (b.projection / "loop").symlink_to("loop")
    b.settle()
    (notice,) = b.settlement.notices
    assert "pipe (fifo)" in notice.message
    assert "loop (link to loop)" in notice.message


def test_touching_is_no_change(bench):
    """FPT-06, FPT-07."""
    b = bench("pi", {"unknown": "error", "settings.json": "error"}, {"prompts/a.md": b"a"})
    b.put(".pi/agent/settings.json", '{"a":1,"b":2}')
    b.launch()
    for place in (b.projection / "settings.json", b.projection / "prompts/a.md"):
        os.utime(place)
        place.chmod(0o644)
    b.replace("settings.json", '{"a":1,"b":2}')
    b.settle()
    assert b.settlement.changes == ()
    b.replace("settings.json", '{"b":2,"a":1}')
    b.settle()
    assert b.outcome("settings.json") == "failed"


def test_the_execute_bit_is_a_change(bench):
    """FPT-14."""
    b = bench("pi", generated={"hooks/h.sh": b"#!/bin/sh\n"})
    b.launch()
    (b.projection / "hooks/h.sh").chmod(0o700)
    b.settle()
    change = b.changes["hooks/h.sh"]
    assert (change.change, change.zone, change.outcome) == ("mode", "generated", "warned")


@pytest.mark.parametrize(
    ("handling", "outcome"), [("symlink", "discarded"), ("warn", "warned"), ("error", "failed"), ("prompt", "warned")]
)
def test_a_generated_file_at_a_declared_path_is_one_run(bench, handling, outcome):
    b = bench("pi", {"mcp.json": handling}, {"mcp.json": b"{}"}, interactive=True)
    b.launch()
    b.write("mcp.json", '{"x":1}')
    b.settle(settings=b.settings())
    change = b.changes["mcp.json"]
    assert (change.zone, change.state_path, change.outcome) == ("declared", "mcp.json", outcome)
    assert b.questions == []


def test_without_a_terminal_prompt_is_skipped_and_says_so(bench):
    """CLS-07."""
    b = bench("pi", {"mcp.json": "prompt"})
    b.launch()
    b.write("mcp.json", "{}")
    b.settle(settings=b.settings())
    assert any(n.level == "notice" and "prompt skipped: non-interactive" in n.message for n in b.settlement.notices)
    assert b.warnings("mcp.json")
    assert b.outcome("mcp.json") == "warned"


def test_names_cannot_break_out_of_a_line(bench):
    b = bench("pi")
    b.launch()
    b.write("a\nb\x1b[31m", "x")
    b.settle()
    (notice,) = b.settlement.notices
    assert "\n" not in one_line(notice.message)


@pytest.mark.parametrize("strategy", ["warn", "prompt"])
def test_no_strategy_is_promised_to_keep_what_is_written_to_a_generated_file(bench, strategy):
    b = bench("pi", {"mcp.json": strategy}, generated={"mcp.json": b'{"mcpServers": {}}'})
    b.launch()
    b.write("mcp.json", "{}")
    b.settle()
    (notice,) = b.settlement.notices
    assert ("mcp.json: 1 modified" in notice.message, notice.hint) == (True, "")
