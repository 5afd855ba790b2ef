"""Every reference to the contract, in code, tests and docs, resolves to a page, heading or row of docs/spec.

How to refer: `spec/50`, `spec/15 V28`, `spec/95 RUN-12`, `spec/60, "Warm comparison"`, `spec/harness-facts`, `seed 001`,
`006.5.14`, `006.5.12 to 16`.
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "docs/spec"
SOURCES = sorted(
    path
    for top in ("outfitter", "stages", "tests", "benchmarks", "docs")
    for path in (ROOT / top).rglob("*")
    if path.suffix in (".py", ".md", ".ts") and not {"node_modules", "__pycache__"} & set(path.parts)
)
PAGES = sorted(SPEC.glob("*.md"))

PAGE = re.compile(
    r"(?:spec/(?P<spec>\d\d\b|[a-z]+(?:-[a-z]+)+)|\b[Ss]eeds? (?P<seed>\d{3})\b(?: and (?P<other>\d{3})\b)?)"
)
HEADING = re.compile(r"(?:spec/|\b[Ss]eed )(?P<page>\d{2,3}),? \"(?P<heading>[^\"]+)\"")
LOOSE = re.compile(r"spec/(?P<page>\d\d),? (?P<word>`?[A-Za-z]+)")
CASES = re.compile(r"\b([A-Z]{3})-(\d\d)((?:,? (?:and |to )?\d\d\b)*)")
GROUP = re.compile(r"spec/95,? ([A-Z]{3})\b(?!-)")
VARIANTS = re.compile(r"\bV(\d{1,2})\b")
ITEMS = re.compile(r"\b006\.(\d+)(?:\.(\d+)\b((?:(?:,| and| to) \d{1,2}\b(?!\.\d))*))?")
# References of an earlier home of the contract, which name nothing in this repository.
FOREIGN = re.compile(r"\bdesign [A-Z]\b(?:\.\d)?|(?<!spec/)\bharness facts\b|\breadings of\b")
# Words that may follow a page without naming a part of it.
CONNECTING = {"and", "or", "to", "with", "that", "for", "differ"}
KINDS = {
    line.split(":")[0][3:] for line in (SPEC / "95-field-cases.md").read_text().splitlines() if line.startswith("## ")
}


def text_of(path):
    """A file's text on one line, without the comment signs at which a reference may be broken."""
    return re.sub(r"\s*\n\s*(?:# )?", " ", path.read_text())


def page(number):
    """The page that a number or a name stands for, None without one."""
    pages = [path for path in PAGES if path.stem == number or path.stem.startswith(f"{number}-")]
    return pages[0] if len(pages) == 1 else None


@cache
def headings(path):
    return [line.lstrip("#").strip().lower() for line in path.read_text().splitlines() if line.startswith("#")]


@cache
def rows(number, pattern):
    return set(re.findall(pattern, page(number).read_text(), re.MULTILINE))


def numbers(first, more):
    """`12`, ` to 16, 18` → 12, 13, 14, 15, 16, 18."""
    given = [int(first)]
    for joint, number in re.findall(r"(,|and|to|) ?(\d+)", more):
        given += range(given[-1] + 1, int(number) + 1) if joint == "to" else [int(number)]
    return given


def missing(text):
    """The references of a text that resolve to nothing."""
    yield from FOREIGN.findall(text)
    for ref in PAGE.finditer(text):
        if not all(page(number) for number in ref.groups() if number):
            yield ref.group()
    for ref in HEADING.finditer(text):
        if page(ref["page"]) and not any(ref["heading"].lower() in heading for heading in headings(page(ref["page"]))):
            yield ref.group()
    for ref in LOOSE.finditer(text):
        word = ref["word"]
        if (
            word not in CONNECTING
            and not (ref["page"] == "95" and word in KINDS)
            and word not in ("V", "spec", "OFTR", "seed", "seeds")
        ):
            yield f"{ref.group()} (put a heading in quotes)"
    for kind, first, more in CASES.findall(text):
        if kind in KINDS:
            yield from {f"{kind}-{n:02}" for n in numbers(first, more)} - rows("95", r"^\| ([A-Z]{3}-\d\d) \|")
    yield from set(GROUP.findall(text)) - KINDS
    yield from {f"V{n}" for n in VARIANTS.findall(text)} - rows("15", r"^\| (V\d+) \|")
    for section, first, more in ITEMS.findall(text):
        wanted = {f"006.{section}.{n}" for n in numbers(first, more)} if first else {f"OFTR-006.{section}"}
        yield from wanted - rows("006", r"^(?:\| |## )((?:OFTR-)?006\.\d+(?:\.\d+)?)\b")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_references_resolve(path):
    if path != Path(__file__):
        assert not list(missing(text_of(path)))


@pytest.mark.parametrize(
    "text",
    [
        "spec/51", "seed 003", 'spec/50, "No such heading"', "spec/95 RUN-99", "spec/95 CLN-01, 99", "spec/95 XXX",
        "spec/15 V99", "006.5.24", "006.5.12 to 24", "006.10", "design B.5", "spec/10 Models", "spec/no-such-page",
    ],
)  # fmt: skip
def test_a_broken_reference_is_found(text):
    assert list(missing(text))


@pytest.mark.parametrize(
    "text",
    [
        "(spec/50, spec/60)", "seeds 000 and 001", 'spec/50, "One rule"', "spec/95 CLN-01, 10, 11, FPT-13, 17", "spec/95 SLG, CRD",
        "spec/15 V20 to V26", "OFTR-006.5", "006.5.12 to 23 and", "spec/harness-facts",
    ],
)  # fmt: skip
def test_a_good_reference_resolves(text):
    assert not list(missing(text))


def test_the_contract_lists_its_pages():
    listed = re.findall(r"\]\(([\w.-]+\.md)\)", (SPEC / "README.md").read_text())
    assert set(listed) >= {path.name for path in PAGES} - {"README.md"}
