"""The README's page is followed from top to bottom on an empty machine, as a newcomer would."""

import re
import shlex

from tests.docs.test_docs import BLOCK, ROOT

README = (ROOT / "README.md").read_text()


def test_every_command_works_in_its_order(machine):
    lines = [line[2:] for kind, text in BLOCK.findall(README) if kind == "console" for line in text.splitlines()]
    assert lines[0].startswith("outfitter setup")
    for line in lines:
        ended = machine.run(*shlex.split(line)[1:])
        assert ended.code == 0, f"{line}\n{ended.out}{ended.err}"
    assert ended.out.splitlines()[-1] == "no changes were observed"


def test_setup_writes_the_settings_that_are_shown(machine):
    (shown,) = [text for kind, text in BLOCK.findall(README) if kind == "yaml"]
    machine.run("setup", "--agent", "helper", "--project", "--yes")
    written = (machine.project / ".agents/settings.yml").read_text()
    assert written == "\n".join(line for line in shown.splitlines() if not line.startswith("#")) + "\n"


def test_it_opens_with_the_two_commands():
    commands = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    assert [command.split(" && ")[-1] for command in commands] == [
        ".venv/bin/outfitter demo",
        ".venv/bin/pytest -n auto",
    ]
    assert README.index(commands[1]) < README.index("\n## ")


def test_the_pictures_are_of_what_the_commands_print():
    for name in ("demo", "diff"):
        assert f"(docs/{name}.svg)" in README
        picture = (ROOT / f"docs/{name}.svg").read_text()
        text = re.sub(r"<[^>]*>", "", picture).replace("&#160;", " ")
        assert "notes.txt" in text
        assert "@font-face" not in picture
        assert "5 changes: 3 added, 1 modified, 1 replaced-link" in text
