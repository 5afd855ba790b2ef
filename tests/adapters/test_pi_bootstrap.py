"""The extension of interactive Pi launches, as far as it can be told without Pi; the rest is in tests/real (OFTR-006.4, 006.8)."""

from __future__ import annotations

from pathlib import Path

import outfitter.adapters.pi.plan as pi
from tests.adapters.samples import composed, planned, request

SOURCE = (Path(pi.__file__).parent / "bootstrap.ts").read_text()
PAGE = (Path(pi.__file__).parents[3] / "docs/adapters.md").read_text()


def test_006_4_3_the_extension_reads_what_was_decided_and_decides_no_path() -> None:
    plan = planned("pi", composed(), request(stdin_tty=True, stdout_tty=True))
    assert [file.path for file in plan.generated if file.path.endswith("launch.json")] == ["outfitter/launch.json"]
    assert "PI_CODING_AGENT_DIR" not in SOURCE
    assert "process.env" not in SOURCE


def test_the_extension_is_package_data_that_is_copied() -> None:
    plan = planned("pi", composed(), request(stdin_tty=True, stdout_tty=True))
    assert Path(plan.copied[0].source).read_text() == SOURCE


def test_006_8_6_plan_mode_lets_through_what_it_names_and_nothing_else() -> None:
    """Fail closed: a list of what may run, not of what may not."""
    assert 'const READ_ONLY = ["read", "grep", "find", "ls"];' in SOURCE
    assert 'mode !== "plan" || READ_ONLY.includes(event.toolName)' in SOURCE


def test_006_4_5_the_page_lists_the_warnings_for_what_start_up_order_makes_impossible() -> None:
    _, _, rest = PAGE.partition("### What start-up order makes impossible")
    section = rest.partition("\n## ")[0]
    for word in ("next launch", "not written back", "harness_defaults.pi", "sessions/", "auth.json", "control"):
        assert word in section
