"""The real host: where it caches before settings are known, and what it does not load before a harness starts."""

import os

import pytest

from outfitter.cli.context import Context
from outfitter.cli.reading import read_settings
from outfitter.edges.console import Console
from outfitter.edges.environment import ambient
from outfitter.edges.real import early_cache_directory, real_host
from outfitter.railway import fold
from outfitter.settings.scopes import cache_directory


def late(home):
    """What the merged settings say."""
    here = ambient({"HOME": str(home), "PATH": "/usr/bin:/bin"})
    console = Console(False, False)
    return fold(
        read_settings(Context(here, console, lambda remember=True: real_host(here, console, remember))),
        lambda settings: cache_directory(settings, here),
        lambda error: error,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cache_directory: /var/x\n",
        "default_agent: a\ncache_directory: 'sub/x'\n",
        'cache_directory: "~/x y"\n',
        "cache_directory: ~\n",
        "cache_directory: '~'\n",
        "cache_directory: ../elsewhere  # why\n",
        "cache_directory:\n",
        "cache_directory: null\n",
        "custom_settings:\n  cache_directory: /not/this\n",
    ],
)
def test_the_early_answer_is_the_late_one(tmp_path, monkeypatch, text):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    home = tmp_path / "home"
    (home / ".agents").mkdir(parents=True)
    (home / ".agents/settings.yml").write_text(text)
    assert early_cache_directory(str(home)) == late(home)


def test_the_local_file_comes_first(tmp_path):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents/settings.yml").write_text("cache_directory: /shared\n")
    (tmp_path / ".agents/settings.local.yml").write_text("cache_directory: /mine\n")
    assert early_cache_directory(str(tmp_path)) == "/mine"


@pytest.mark.parametrize(
    "text", ["cache_directory: >\n  /folded\n", "{cache_directory: /flow}\n", "cache_directory: [\n"]
)
def test_any_other_spelling_means_the_default_for_a_while(tmp_path, text):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents/settings.yml").write_text(text)
    assert early_cache_directory(str(tmp_path)) == str(tmp_path / ".agents/cache")


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("gone", path)])
def test_a_settings_file_of_another_kind_stops_nothing_here(tmp_path, make):
    (tmp_path / ".agents").mkdir()
    make(tmp_path / ".agents/settings.yml")
    assert early_cache_directory(str(tmp_path)) == str(tmp_path / ".agents/cache")
