"""What a user sees of every command: each case of `cases`, played by `runner.py` (which says how to write them again)."""

import pytest

from tests.messages.runner import CASES, play, write

PATHS = sorted(CASES.rglob("*.txt"))


@pytest.mark.parametrize("path", PATHS, ids=[str(path.relative_to(CASES).with_suffix("")) for path in PATHS])
def test_what_is_said(machine, path, updating):
    intro, held, played = play(machine, path)
    if updating:
        write(path, intro, played)
    assert updating or played == held
