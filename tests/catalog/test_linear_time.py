"""Whatever a text holds, it is read in time linear in its length: a megabyte of each reader's worst text takes under a second."""

import time

import pytest

from outfitter.adapters.claude.gateway import levels
from outfitter.adapters.claude.state import knows, recorded_directory
from outfitter.adapters.codex.mcp import _first_reference
from outfitter.adapters.pi.runtime import _defaulted, keybindings
from outfitter.catalog.agents import _HEADING
from outfitter.catalog.dump_text import literal_credentials, server_map
from outfitter.catalog.lint import of_notice
from outfitter.catalog.mcp_form import normal_form
from outfitter.catalog.model_rules import credential, faults, host, normal, variables
from outfitter.catalog.native import _is_off_text
from outfitter.catalog.skill_files import _PathPattern
from outfitter.edges.documents import _holds_credentials
from outfitter.model.composition import Server
from outfitter.model.request import Notice
from outfitter.syntax.parse import parse

SIZE = 1_000_000


def worst(piece: str, start: str, end: str) -> str:
    """A megabyte of a piece between a start that an expression takes and an end that it does not."""
    return start + piece * (SIZE // len(piece)) + end


def server(text: str) -> Server:
    return Server("s", {"type": "stdio", "command": "c", "args": [text]}, "/x", "home")


READERS = {
    "an argument of a server": lambda text: normal_form({"command": "c", "args": [text]}),
    "a variable of a server": lambda text: normal_form({"command": "c", "env": {"API_KEY": text}}),
    "a key of a server": lambda text: normal_form({"command": "c", "env": {text: "x"}}),
    "the address of a server": lambda text: normal_form({"url": text}),
    "the servers of a dump": lambda text: server_map((server(text),)),
    "the credentials of a dump": lambda text: literal_credentials((server(text),)),
    "the key of a provider": lambda text: (list(faults({"apiKey": text})), credential({"apiKey": text})),
    "the address of a provider": lambda text: (list(faults({"baseUrl": text})), host(text)),
    "a header of a provider": lambda text: list(faults({"headers": {"Authorization": text}})),
    "a header's name": lambda text: list(faults({"headers": {text: "x"}})),
    "the variables of a provider": lambda text: variables({"headers": {"x": text}}),
    "the references of a provider": lambda text: normal({"headers": {"x": text}}),
    "an agent's heading": _HEADING.search,
    "a command's switch": _is_off_text,
    "a notice's place": lambda text: of_notice(Notice("warning", "x", text)),
    "a document with addresses": lambda text: _holds_credentials(text.encode()),
    "front matter": lambda text: parse(text.encode(), "markdown"),
    "JSON": lambda text: parse(text.encode(), "json"),
    "a reference for Codex": _first_reference,
    "a default for Pi": lambda text: _defaulted(text, {}),
    "key bindings of Pi": lambda text: keybindings([("/k", text.encode())]),
    "the levels of Claude Code": levels,
    "a flag of Claude Code": lambda text: knows(text, "--effort"),
    "a transcript": lambda text: recorded_directory(text.encode()),
}
ADDRESSES = (
    ("a", "", ""),
    ("a", "", "://"),
    ("a://", "", ""),
    ("a://b:c", "", "@"),
    ("a://b:@", "", ""),
    (":@", "a://", "\0"),
)
REFERENCES = (
    ("${A:-", "", ""),
    ("${A:-", "${A}", ""),
    ("${A", "", "}"),
    ("$A", "", ""),
    ("}", "${A:-", ""),
    ("$", "", "A"),
)
BLANKS = ((" ", "a", "b"), ("\t", "bearer", "$"), ("_key", "", "x"))
HEADINGS = ((" ", "# a", "b"), (" #", "# a", "b"), ("#", "", " "), ("\n", "", "# "), ("# \n", "", ""))
FRONT_MATTER = (
    *HEADINGS,
    (" a\n", "---\na: b: c\n", "---\n"),
    ("<!--", "", ""),
    ("<!---->\n", "", "x"),
    ("<!---->", "", "\n---\na: b\n"),
    ("---\n", "", ""),
    ("--- ", "---\n", ""),
    ("- [\n", "---\n", "---\n"),
    (" ", "---\nenabled", "\n---\n"),
    (" ", "---\nenabled:", "\n---\n"),
)
WORST = {
    "an argument of a server": (*ADDRESSES, *REFERENCES),
    "a variable of a server": (*ADDRESSES, *REFERENCES),
    "a key of a server": BLANKS,
    "the address of a server": (*ADDRESSES, *REFERENCES),
    "the servers of a dump": ADDRESSES,
    "the credentials of a dump": ADDRESSES,
    "the key of a provider": (*REFERENCES, *BLANKS),
    "the address of a provider": (*ADDRESSES, ("1", "a://b:", "x"), (".", "a://[", "x")),
    "a header of a provider": (*REFERENCES, *BLANKS, ("a-", "a", " $")),
    "a header's name": BLANKS,
    "the variables of a provider": REFERENCES,
    "the references of a provider": REFERENCES,
    "an agent's heading": HEADINGS,
    "a command's switch": FRONT_MATTER,
    "a notice's place": (("a", "/", ""), (":1", "/a", ": x"), (".", "/a: ", ":x"), ("\n", "/a: b: ", "")),
    "a document with addresses": (*ADDRESSES, *BLANKS),
    "front matter": FRONT_MATTER,
    "JSON": (
        ("[", "", ""),
        ('"', "", ""),
        ('\\"', '"', ""),
        ("1", "", ""),
        (" ", "", "x"),
        ('"a":1,', "{", "}"),
        ("1,", "[", "]"),
    ),
    "a reference for Codex": REFERENCES,
    "a default for Pi": REFERENCES,
    "key bindings of Pi": (("/*", "", ""), ("/* */", "", "x"), ("//", "", ""), ("*/", "/", ""), ("//\n", "", "/*")),
    "the levels of Claude Code": (
        ("--effort <a> ", "", ""),
        (" ", "--effort", "<a>"),
        ("a, ", "--effort <a> (", "1)"),
        ("(", "--effort <a>", ""),
    ),
    "a flag of Claude Code": (("--effort", "", ""), ("--effort-", "", "")),
    "a transcript": (
        ("\n", "", ""),
        ('"cwd":', "", ""),
        ('\\"', '"cwd":"', ""),
        (" ", '"cwd"', "x"),
        ('"cwd"\n', "", ""),
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_megabyte_of_the_worst_text_is_read_in_a_second(reader):
    for piece, first, last in WORST[reader]:
        text = worst(piece, first, last)
        start = time.process_time()
        READERS[reader](text)
        assert time.process_time() - start < 1, (piece, first, last)


def test_a_pattern_of_many_stars_is_matched_in_a_second():
    pattern = _PathPattern("**/" * 12 + "*a" * 60 + "b")
    start = time.process_time()
    assert not pattern.matches("/".join(["a" * 200] * 20))
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("docs/*.md", ["docs/a.md"], ["docs/x/a.md", "docs/a.mdx", "a.md"]),
        ("docs/**/*.md", ["docs/a.md", "docs/x/y/a.md"], ["a.md", "docs/a.txt"]),
        ("docs/**", ["docs/a", "docs/x/y"], ["docs", "doc/a"]),
        ("**/a", ["a", "x/y/a"], ["ab", "a/b"]),
        ("a?[!b-d]", ["axa", "ab-"], ["axc", "ax"]),
        ("[z-a]*", [], ["z", "a"]),
        ("a[", ["a["], ["a"]),
    ],
)
def test_patterns_match_whole_paths(pattern, matching, other):
    matcher = _PathPattern(pattern)
    assert [path for path in (*matching, *other) if matcher.matches(path)] == matching
