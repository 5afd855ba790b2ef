"""docs/troubleshooting.md names the checks that doctor makes and the keys that it and the demo print."""

from pathlib import Path

from outfitter.cli.demo import HARNESSES
from outfitter.doctor.directories import VERDICTS, Check
from tests.doctor.test_doctor import ORDER

PAGE = (Path(__file__).resolve().parents[2] / "docs/troubleshooting.md").read_text()


def test_every_check_stands_in_the_table():
    for name in ORDER:
        first = name.split()[0]
        assert f"`{name}`" in PAGE or f"| `{first} pi`, `claude`, `codex` |" in PAGE, name
    for name in ("neighbours", "conflicts", "late messages"):
        assert f"`{name}`" in PAGE


def test_every_key_and_verdict_is_named():
    assert all(f"`{word}`" in PAGE for word in (*VERDICTS, *Check._fields, *HARNESSES))


def test_the_script_is_one():
    import json

    from outfitter.demo.modelserver.conversation import check

    assert check(json.loads(PAGE.split("```json")[1].split("```")[0]))
