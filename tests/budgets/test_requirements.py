"""The pages that are made from tests and adapters say what is true (docs/requirements.md, docs/adapters.md)."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# OFTR-006: how many numbered items each section has.
COUNTS = {1: 6, 2: 7, 3: 19, 4: 5, 5: 23, 6: 7, 7: 5, 8: 8, 9: 8}


def script(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / f"docs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


requirements = script("requirements")


def test_every_item_of_oftr_006_is_there():
    assert {section: len(wanted) for section, (_, wanted) in requirements.SECTIONS.items()} == COUNTS


def test_every_item_has_a_test_that_carries_its_number_or_a_reason():
    assert requirements.missing(requirements.tests()) == []


def test_the_page_of_requirements_names_them():
    page = (ROOT / "docs/requirements.md").read_text()
    for section, number in requirements.items():
        assert f"| 006.{section}.{number} |" in page
    for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", page):
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(), (
            f"{path}::{name} is gone: run docs/requirements.py"
        )


def test_the_support_matrix_is_what_the_adapters_do():
    ended = subprocess.run([sys.executable, "docs/matrix.py", "--check"], cwd=ROOT, check=False)
    assert ended.returncode == 0, "run docs/matrix.py"


@pytest.mark.parametrize(
    ("name", "docstring", "items"),
    [
        ("test_006_3_2_and_3_x", "", {(3, 2), (3, 3)}),
        ("test_006_7_1_to_3_x", "", {(7, 1), (7, 2), (7, 3)}),
        ("test_006_5_15_16_of", "", {(5, 15), (5, 16)}),
        ("test_006_9_3_and_006_3_11_x", "", {(9, 3), (3, 11)}),
        ("test_006_6_3_and_cdx_01_x", "", {(6, 3)}),
        ("test_x", "See 006.8.4 to 7, and OFTR-006.1.2.", {(8, 4), (8, 5), (8, 6), (8, 7), (1, 2)}),
        ("test_x", "", set()),
    ],
)
def test_how_a_test_carries_a_number(name, docstring, items):
    assert requirements.carried(name, docstring) == items
