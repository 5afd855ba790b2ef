"""Every command line and every settings file in the docs is run; every link leads somewhere."""

import json
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that need what a test machine has not: tested elsewhere.
ELSEWHERE = ("outfitter sync", "outfitter demo", "outfitter batch", "outfitter setup")


def blocks(language):
    return [(page.name, text) for page in PAGES for kind, text in BLOCK.findall(page.read_text()) if kind == language]


def commands():
    lines = [
        (page, line[2:]) for page, text in blocks("console") for line in text.splitlines() if line.startswith("$ ")
    ]
    found = [(page, line) for page, line in lines if line.startswith("outfitter ") and page != "README.md"]
    return [pytest.param(page, line, id=f"{page}:{line}") for page, line in found]


@pytest.fixture
def furnished(machine):
    machine.agent("reviewer", "You review changes.", tools={"allow": ["read", "grep"]})
    machine.settings("default_agent: reviewer\n")
    machine.put(".agents/skills/notes/SKILL.md", "---\nname: notes\ndescription: Takes notes\n---\nTake notes.\n")
    return machine


def kept(machine):
    """The id of something that could not be saved: a login that changed on both sides."""
    login = '{"claudeAiOauth": {"refreshToken": "%d"}}'
    machine.put(machine.home / ".claude/.credentials.json", login % 0)
    script = [["write", ".credentials.json", login % 1], ["write", "~/.claude/.credentials.json", login % 2]]
    machine.run("run", "reviewer", "--harness", "claude", "--isolated", script=script)
    return json.loads(machine.run("conflicts", "list", "--json").out)["conflicts"][0]["id"]


@pytest.mark.parametrize(("page", "line"), commands())
def test_a_command_in_the_docs_works(furnished, page, line):
    if line.startswith(ELSEWHERE):
        pytest.skip("needs what a test machine has not; has a test of its own")
    words = shlex.split(line, comments=True)[1:]
    if words[0] in ("diff", "evidence", "report", "recover", "conflicts"):
        furnished.run("run", "reviewer", "--retain-projection", "--out", str(furnished.project / "out-1"))
    if "ID" in words:
        words[words.index("ID")] = kept(furnished)
    ended = furnished.run(*words)
    assert ended.code == 0, f"{page}: {line}\n{ended.out}\n{ended.err}"


@pytest.mark.parametrize(
    ("page", "text"), [pytest.param(page, text, id=f"{page}-{i}") for i, (page, text) in enumerate(blocks("yaml"))]
)
def test_a_settings_file_in_the_docs_is_valid(furnished, page, text):
    under = furnished.home if text.startswith("# ~/") else furnished.project
    (furnished.project.parent / "team-catalog").mkdir(exist_ok=True)
    furnished.settings(text, under=under)
    ended = furnished.run("settings", "--json")
    assert (ended.code, ended.err) == (0, ""), f"{page}\n{text}\n{ended.err}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
