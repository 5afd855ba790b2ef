"""No notice, finding or kind of error goes unseen: the codes in the source against those in the transcripts beside this file."""

import ast
import builtins
import re
from pathlib import Path
from typing import get_args

from outfitter.bridge.context import FailureKind, Topic
from outfitter.bridge.notices import FAILURE_CODES
from outfitter.model.errors import LaunchError
from tests.messages.runner import transcripts

ROOT = Path(__file__).resolve().parents[2]
LEVELS = {"notice", "warning", "error", "note"}
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Codes made of parts: every topic and every kind of trouble, not each pair; every zone with every strategy that tells.
STATE = {
    "state-declared-warn",
    "state-declared-error",
    "state-declared-prompt",
    "state-unknown-warn",
    "state-unknown-error",
    "state-unknown-prompt",
    "state-generated-warn",
}
# Modules that say things in parts; a new one must be looked at here.
IN_PARTS = {"outfitter/bridge/notices.py"}


def text(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def codes_of(call):
    """The code that stands after a level in a call's arguments; that of `warn` and of `Remark`."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name == "Remark" and call.args:
        return {text(call.args[0])}
    if name == "warn" and len(call.args) > 1:
        return {text(call.args[1])}
    found = set()
    for level, code in zip(call.args, call.args[1:], strict=False):
        levels = {text(level.body), text(level.orelse)} if isinstance(level, ast.IfExp) else {text(level)}
        if levels & LEVELS and text(code) and CODE.fullmatch(text(code)):
            found.add(text(code))
    return found


def calls():
    for folder in ("outfitter", "stages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    yield path.relative_to(ROOT).as_posix(), node


def said():
    return {code for _, call in calls() for code in codes_of(call) if code}


def seen():
    """The codes in the last line of each transcript."""
    lines = [line for text in transcripts() for line in re.findall(r"^--- codes: (.*)$", text, re.MULTILINE)]
    return {code for line in lines for code in line.split()}


def test_every_code_in_the_source_is_seen():
    assert sorted(said() - seen()) == []


def test_every_kind_of_error_is_seen():
    kinds = {re.sub(r"(?<!^)([A-Z])", r"-\1", error.__name__).lower() for error in get_args(LaunchError)}
    assert sorted(kinds - seen()) == []


def test_every_ending_of_a_write_is_seen():
    assert sorted(STATE - seen()) == []


def test_every_topic_and_trouble_is_seen():
    seen_parts = {part for code in seen() for part in (code.rpartition("-")[0], code.rpartition("-")[2])}
    wanted = {
        *(topic.replace(" ", "-") for topic in get_args(Topic)),
        *(FAILURE_CODES.get(kind, kind) for kind in get_args(FailureKind) if kind),
    }
    assert sorted(wanted - seen_parts) == []


def test_a_notice_has_a_plain_code_or_comes_from_a_module_known_here():
    """A code that is computed cannot be found above: it must be one of those that are spelled out."""
    odd = {
        path
        for path, call in calls()
        if getattr(call.func, "id", "") == "Notice" and call.args and not codes_of(call) and len(call.args) > 1
    }
    assert odd <= IN_PARTS | {
        "outfitter/catalog/fields.py",
        "outfitter/edges/documents.py",
        "outfitter/porting/in_place.py",
        "outfitter/render.py",
    }


def test_no_message_speaks_of_python():
    """No trace back and no name of an exception class, Python's or ours (issue 8)."""
    names = {
        name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
    }
    words = {word for text in transcripts() for word in re.findall(r"[A-Za-z_]+", text)}
    assert len(transcripts()) > 100
    assert words & (names | {"Traceback", "NamedTuple", *(error.__name__ for error in get_args(LaunchError))}) == set()
