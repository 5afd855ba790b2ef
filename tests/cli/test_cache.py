"""spec/80, "Commands": what may go and what stays, and that launches do not notice."""

import json
import os
import threading

import pytest

from outfitter.edges import cache as own_cache


@pytest.fixture
def furnished(machine):
    machine.agent("a", skills=["notes"])
    machine.put(".agents/skills/notes/SKILL.md", "---\nname: notes\ndescription: d\n---\nx\n")
    machine.settings("default_agent: a\n")
    machine.put(machine.home / ".agents/cache/utilities/rg", "tool", 0o755)
    machine.put(machine.home / ".agents/cache/sources/abc/checkout/.agents/agents.md", "x")
    return machine


def cached(machine):
    cache = machine.home / ".agents/cache"
    return {path.relative_to(cache).parts[0] for path in cache.rglob("*") if path.is_file()}


def test_prune_takes_what_is_old_and_clean_every_short_cut(furnished):
    assert furnished.run("run").code == 0
    made = cached(furnished)
    assert {"documents", "sources", "utilities"} <= made
    assert json.loads(furnished.run("cache", "prune", "--json").out)["removed"] == {"files": 0, "size": 0}
    for path in (furnished.home / ".agents/cache").rglob("*"):
        os.utime(path, (0, 0), follow_symlinks=False)
    assert json.loads(furnished.run("cache", "prune", "--json").out)["removed"]["files"] > 0
    assert cached(furnished) <= {"sources", "utilities"} | (made - set(own_cache.SHORT_CUTS))
    assert furnished.run("run").code == 0
    assert furnished.run("cache", "clean").code == 0
    assert {"sources", "utilities"} <= cached(furnished)
    assert furnished.run("cache", "clean", "--sources").code == 0
    assert "sources" not in cached(furnished)
    assert "utilities" in cached(furnished)


@pytest.mark.parametrize("kind", ["prune", "clean"])
def test_launches_run_on_while_the_cache_is_emptied(furnished, kind):
    """Prune and clean go round and round under launches, reports of the tree and fingerprints: all are as they are without."""
    cache = str(furnished.home / ".agents/cache")
    expected = {words: furnished.run(*words) for words in (("run", "--strict"), ("list",), ("fingerprint", ".agents"))}
    over = threading.Event()
    rounds, removed = [0], [0]

    def empty():
        while not over.is_set():
            gone = own_cache.prune(cache, 1e12, 0) if kind == "prune" else own_cache.clean(cache, sources=False)
            rounds[0], removed[0] = rounds[0] + 1, removed[0] + gone.files

    sweeper = threading.Thread(target=empty)
    sweeper.start()
    try:
        for _ in range(4):
            started = [
                (words, furnished.start(*words, script=[["say", "done"]] if words[0] == "run" else ()))
                for words in expected
            ]
            for words, process in started:
                out, err = (text.decode() for text in process.communicate(timeout=60))
                assert (process.returncode, err) == (expected[words].code, expected[words].err)
                assert out == ("done\n" if words[0] == "run" else expected[words].out)
    finally:
        over.set()
        sweeper.join()
    assert rounds[0] > 10
    assert removed[0] > 0
    assert {"sources", "utilities"} <= cached(furnished)


def test_a_cache_that_is_a_link_elsewhere_or_is_not_there(furnished):
    """`clean` removes what a link's name stands for, never what it points at."""
    cache = furnished.home / ".agents/cache"
    outside = furnished.put(furnished.top / "outside/keep.txt", "x")
    furnished.run("list")
    furnished.run("cache", "clean")
    (cache / "documents").symlink_to(outside.parent)
    assert furnished.run("cache", "clean").code == 0
    assert furnished.run("cache", "prune", "--days", "0").code == 0
    assert outside.exists()
