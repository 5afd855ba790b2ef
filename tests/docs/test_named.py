"""Every command and option that the docs, the messages and the helps name is one that the parsers take."""

import argparse
import ast
import re
from functools import cache
from pathlib import Path

import pytest

from outfitter.cli import argv
from outfitter.cli.commands import COMMANDS
from outfitter.cli.completion import whole_parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = [path for folder in ("outfitter", "stages") for path in sorted((ROOT / folder).rglob("*.py"))]
# A command as a text names it: `outfitter`, then words that are no prose. The name of the program alone is no command.
NAMED = re.compile(r"(?<![\w/.~-])outfitter((?: +(?:--?[a-z][\w-]*(?:=\S+)?|[\w./~{}<>|'-]+))+)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b")
WORD = re.compile(r"[a-z]+")
GLOBAL = {*argv.GLOBAL_FLAGS, "--color", "--version", "--help", "-h"}
# What a sentence may go on with after the program's name, where it speaks of it and not of a command.
PROSE = {"launches", "help"}


def inner(parser):
    """Action → its parser, of a command that has actions."""
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return found[0].choices if found else {}


@cache
def commands():
    return inner(whole_parser())


def options_of(parser):
    return {option for action in parser._actions for option in action.option_strings}


def fault(text):
    """Why a named command cannot be given, "" if it can. `text` is what stands after the program's name."""
    named = [word.strip(".,:;)'") for word in text.split()]
    while named and named[0].startswith("-"):
        option = named.pop(0).partition("=")[0]
        if option in (*argv.FLAGS, "-p", "--"):
            return ""
        if option not in GLOBAL | set(argv.VALUED):
            return f"{option} does not stand before a command"
        named = named[1:] if option == "--color" else named
    if not named or not WORD.fullmatch(named[0]) or named[0] in PROSE:
        return ""
    return fault_of(named[0], named[1:]) if named[0] in COMMANDS else f"{named[0]} is no command"


def fault_of(name, rest):
    """The same of a command's own words."""
    parser = commands()[name]
    actions = inner(parser)
    if actions and rest and WORD.fullmatch(rest[0]):
        if rest[0] not in actions:
            return f"{name} has no action {rest[0]}"
        parser, rest = actions[rest[0]], rest[1:]
    for word in rest:
        if name == "run" and word in ("--", "-p", "--print"):
            break
        if word.startswith("--") and word.partition("=")[0] not in options_of(parser):
            return f"{name} has no option {word}"
    return ""


def spans(page):
    """The code spans and the lines of code blocks of a page."""
    text = page.read_text()
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [*(line for block in blocks for line in block.splitlines()), *re.findall(r"`([^`]+)`", prose)]


def texts(path):
    """Every text of a module, its f-strings with `{}` for what is filled in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def faults(found):
    return sorted({f"outfitter{rest}: {why}" for text in found for rest in NAMED.findall(text) if (why := fault(rest))})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists(page):
    assert faults(spans(page)) == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_a_text_of_the_program_names_exists(path):
    assert faults(texts(path)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_that_a_page_names_is_ours_or_one_that_we_pass_on(page):
    """Ours is what a parser takes; a harness's is spelled out in an adapter or in what the docs say is passed through."""
    ours = GLOBAL | {option for one in walk(commands()) for option in options_of(one)}
    sources = [*SOURCES, *(ROOT / "benchmarks").glob("*.py")] if page.name == "benchmarks.md" else SOURCES
    known = ours | {option for path in sources for text in texts(path) for option in OPTION.findall(text)}
    named = {option for span in spans(page) for option in OPTION.findall(span)}
    assert sorted(named - known - OTHERS) == []


# Options of other programs and of the test suite that the docs name, and the one of an example.
OTHERS = {"--check", "--continue", "--some-flag", "--update-messages"}


def walk(parsers):
    for parser in parsers.values():
        yield parser
        yield from walk(inner(parser))


def test_no_two_options_of_a_command_say_the_same_and_each_says_something():
    for name, parser in commands().items():
        for one in (parser, *walk(inner(parser))):
            helps = [action.help for action in one._actions if action.option_strings and action.dest != "help"]
            assert one.description, f"{name}: its help does not say what it does"
            assert all(helps), f"{name}: an option without a help"
            assert len(set(helps)) == len(helps), f"{name}: {helps}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" lst", "lst is no command"),
        (" conflicts take", "conflicts has no action take"),
        (" recover --listing shows", "recover has no option --listing"),
        (" --loud list", "--loud does not stand before a command"),
        (" list agents shows them", ""),
        (" --dry-run", ""),
        (" run a -p --anything", ""),
    ],
)
def test_a_command_that_does_not_exist_is_found(text, why):
    assert fault(text) == why


def test_every_check_of_doctor_is_in_the_docs():
    page = (ROOT / "docs/troubleshooting.md").read_text()
    named = {
        node.args[0].value
        for name in ("cli/doctor.py", "doctor/directories.py", "doctor/harnesses.py")
        for node in ast.walk(ast.parse((ROOT / "outfitter" / name).read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Check", "writable") and node.args
        if isinstance(node.args[0], ast.Constant)
    }
    assert len(named) > 8
    assert sorted(name for name in named if f"`{name}`" not in page) == []
