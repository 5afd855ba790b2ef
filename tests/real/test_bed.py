"""The bed itself: what is installed is what is pinned, and nothing of it comes from the machine's own environment."""

import json
from pathlib import Path

from tests.real.programs import PROGRAMS, pinned


def test_the_lock_file_names_no_place_to_fetch_from():
    lock = (Path(__file__).parent / "package-lock.json").read_text()
    assert "resolved" not in lock
    assert "://" not in lock
    packages = json.loads(lock)["packages"]
    assert all("integrity" in entry for name, entry in packages.items() if name and not entry.get("link"))


def test_the_programs_run_at_their_pinned_versions(real):
    assert real.programs.versions == pinned()
    for program in PROGRAMS:
        assert pinned()[program] in real.native(program, "--version").stdout
