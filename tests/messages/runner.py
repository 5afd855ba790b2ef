"""Plays one case of `tests/messages/cases`: files and commands in order, each command with what a user sees of it.

A case is a text in sections, after a first line that says what it shows:

    -- PATH --            the file's content; relative to the project, or below ~ or /M (the machine's top)
    -- sh --              a shell script, run in the project
    -- harness --         what the stand-in harness does in the next command, one JSON step a line
    -- answers --         the next command gets a terminal: [question, answer], one a line
    -- needs MODULE --    the case is skipped where MODULE is not installed
    -- $ outfitter ... -- a command, NAME=VALUE before it as in a shell (PWD is where it runs), and its transcript

A transcript holds the exit code, stdout, stderr, and the code of each notice and the kind of each error that was said.
`/M` in a case stands for the machine's top, and `\\xff` in a header for that byte. To write all transcripts again:

    pytest tests/messages --update-messages
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pexpect
import pytest

CASES = Path(__file__).parent / "cases"
UNREACHABLE = Path(__file__).parent / "unreachable.txt"
HEADER = re.compile(r"^-- (.+) --$", re.MULTILINE)
# Commands that start programs or processes of their own, or take signals; all others run in the process of the tests.
OUTSIDE = {"", "run", "batch", "recover", "sync", "doctor", "demo"}
# Runs the real command, and notes what was said for `SPOKEN`.
DRIVER = """
import json, os, sys
from tests.messages.runner import listening
from outfitter.main import main
with listening() as codes:
    code = main(sys.argv[1:])
sys.stdout.flush()
with open(os.environ["SPOKEN"], "w") as file:
    json.dump(codes, file)
os._exit(code)
"""
FILTERS = (
    (re.compile(r"(outfitter-[\w.-]+-(?:pi|claude|codex)-)[\w]{8}\b"), r"\1XXXXXXXX"),
    (re.compile(r"(outfitter-demo-)\w+"), r"\1XXXXXXXX"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "<commit>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r" +[\d.]+ ms\b"), " N ms"),
    (re.compile(r"\b\d+ s\b"), "N s"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?"), "<time>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"(choose from )([^)]*)"), lambda match: match[1] + match[2].replace("'", "")),
    (re.compile(r"Python \d+\.\d+\.\d+\S*, \w+ \w+"), "Python 3.x, System machine"),
    (re.compile(r"\b\d{8}T\d{6}-\w{8}\b"), "<attempt>"),
    (re.compile(r"(?<=cache, )\d+ bytes|(?<=files, )\d+ bytes(?=, from)|(?<=file, )\d+ bytes(?=, from)"), "N bytes"),
    (re.compile(r'"seconds": [\d.]+'), '"seconds": 0'),
)


class Section(NamedTuple):
    """One header and the text below it, up to the next header."""

    header: str
    text: str


def read(path):
    """The first lines and the sections of a case."""
    parts = HEADER.split(path.read_text("utf-8"))
    headers, bodies = parts[1::2], parts[2::2]
    return parts[0], [Section(header, body[1:]) for header, body in zip(headers, bodies, strict=True)]


def write(path, intro, sections):
    """The inverse of `read`."""
    path.write_text(intro + "".join(f"-- {header} --\n{text}" for header, text in sections), "utf-8")


def play(machine, path):
    """The sections of a case with the transcripts that its commands have now, beside those that it holds."""
    intro, sections = read(path)
    played = list(_played(machine, sections, path.parent.name == "usage"))
    return intro, sections, played


def _played(machine, sections, inside):
    script, answers = (), ()
    for header, text in sections:
        now = text
        if header.startswith("$ "):
            env, cwd, words = _command(machine, header[2:])
            now = spoken(machine, words, script, env, cwd, answers, inside)
            script, answers = (), ()
        elif header == "harness":
            script = [json.loads(line) for line in _placed(machine, text).splitlines()]
        elif header == "answers":
            answers = [json.loads(line) for line in text.splitlines()]
        elif header == "sh":
            _shell(machine, _placed(machine, text))
        elif header.startswith("needs "):
            pytest.importorskip(header[6:])
        else:
            path = _placed(machine, re.sub("^~", "/M/home", header))
            machine.put(_bytes(path), _placed(machine, text))
        yield Section(header, now)


def _command(machine, line):
    """(environment, working directory, words) of a command line."""
    words = [_bytes(_placed(machine, word)) for word in shlex.split(line)]
    before = words.index("outfitter")
    env = dict(word.split("=", 1) for word in words[:before])
    return env, env.pop("PWD", str(machine.project)), words[before + 1 :]


def _placed(machine, text):
    slug = machine.slug()
    return re.sub(r"(?<![\w.])/M(?=/|\b)", str(machine.top), text).replace("-M-project", slug)


def _bytes(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: os.fsdecode(bytes.fromhex(match[1])), text)


def _shell(machine, script):
    subprocess.run(
        ["/bin/sh", "-euc", script],
        cwd=machine.project,
        env=machine.env(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null"),
        check=True,
        timeout=60,
        capture_output=True,
    )


def spoken(machine, words, script, env, cwd, answers, inside):
    """The transcript of one command."""
    note = machine.top / "spoken.json"
    env = machine.env(script, **{"SPOKEN": str(note), "COLUMNS": "80", **env})
    name = next((word for word in words if not word.startswith("-")), "")
    if answers:
        return transcript(machine, *_on_terminal(machine, words, env | {"TERM": "dumb"}, answers), "", _codes(note))
    if inside or (name not in OUTSIDE and words[0] == name):
        return transcript(machine, *_in_this_process(words, env, cwd))
    ended = subprocess.run(
        [sys.executable, "-c", DRIVER, *words],
        cwd=cwd,
        env={**env, "PYTHONPATH": str(CASES.parents[2])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return transcript(machine, ended.returncode, _text(ended.stdout), _text(ended.stderr), _codes(note))


def _text(data):
    return data.decode(errors="backslashreplace")


def _codes(note):
    codes = json.loads(note.read_text()) if note.exists() else []
    note.unlink(missing_ok=True)
    return codes


@contextmanager
def listening():
    """Note the code of each notice and finding and the kind of each error at the moment it is written."""
    from outfitter.cli import validate
    from outfitter.edges.console import Console
    from outfitter.model.errors import kind

    codes = []

    def noting(function, code_of):
        def noted(*given, **named):
            codes.append(code_of(given))
            return function(*given, **named)

        return noted

    with (
        mock.patch.object(Console, "say", noting(Console.say, lambda given: given[1].code)),
        mock.patch.object(Console, "error", noting(Console.error, lambda given: kind(given[1]))),
        mock.patch.object(validate, "_line", noting(validate._line, lambda given: given[0].code)),
    ):
        yield codes


def _in_this_process(words, env, cwd):
    """(exit code, stdout, stderr, codes) of `main`, which is given the descriptors and the environment of a process of its own."""
    from outfitter.main import main

    before = os.getcwd()
    with _descriptors() as files, mock.patch.dict(os.environ, env, clear=True), listening() as codes:
        os.chdir(cwd)
        try:
            code = main(list(words))
        finally:
            os.chdir(before)
            sys.stdout.flush()
            sys.stderr.flush()
        return code, *(_text(Path(file.name).read_bytes()) for file in files), codes


@contextmanager
def _descriptors():
    """Descriptors 1 and 2 on two files, 0 on nothing, with Python's streams over them."""
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err, open(os.devnull) as nothing:
        kept = [os.dup(number) for number in range(3)]
        for number, file in enumerate((nothing, out, err)):
            os.dup2(file.fileno(), number)
        streams = [os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2)]
        try:
            with mock.patch.object(sys, "stdout", streams[0]), mock.patch.object(sys, "stderr", streams[1]):
                yield out, err
        finally:
            for number, file in enumerate(kept):
                os.dup2(file, number)
                os.close(file)


def _on_terminal(machine, words, env, answers):
    """(exit code, what the screen showed) of a command on a terminal, each answer typed after its question."""
    child = pexpect.spawn(
        sys.executable,
        ["-c", DRIVER, *words],
        cwd=str(machine.project),
        env={**env, "PYTHONPATH": str(CASES.parents[2])},
        encoding="utf-8",
        timeout=30,
        dimensions=(40, 400),
    )
    seen = ""
    for question, answer in answers:
        child.expect_exact(question)
        seen += child.before + child.after
        child.send(answer)
    child.expect(pexpect.EOF)
    seen += child.before
    child.close()
    return child.exitstatus, seen


def said(machine, out, notices):
    """The transcript of notices that a test made, as the console writes them, after some data."""
    from outfitter.edges.console import console

    with _descriptors() as (_, err):
        for notice in notices:
            console({}).say(notice)
        text = _text(Path(err.name).read_bytes())
    return transcript(machine, None, out, text, [notice.code for notice in notices])


def transcript(machine, code, out, err, codes):
    """What a case holds of one command."""
    parts = [] if code is None else [f"exit {code}"]
    parts += [filtered(machine, out)] if out else []
    parts += ["--- stderr", filtered(machine, err)] if err else []
    codes = sorted({*codes, *re.findall(r'"code": "([a-z0-9-]+)"', out)})
    return "\n".join([*parts, *(["--- codes: " + " ".join(codes)] if codes else [])]) + "\n"


def filtered(machine, text):
    """Without what differs from one run, machine or Python to the next."""
    top = str(machine.top)
    text = text.replace(top, "/M").replace(sys.executable, "/python").replace("\r\n", "\n")
    for folder in (top.replace("/", "-"), re.sub(r"[^A-Za-z0-9]", "-", top)):
        text = text.replace(folder, "-M")
    for pattern, put in FILTERS:
        text = pattern.sub(put, text)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def transcripts():
    """Every transcript there is."""
    cases = [section for path in CASES.rglob("*.txt") for section in read(path)[1]]
    return [text for header, text in cases if header.startswith("$ ")] + [UNREACHABLE.read_text("utf-8")]
