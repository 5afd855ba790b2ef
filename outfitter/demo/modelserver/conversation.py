"""What every dialect's request comes down to, and the script that answers it. Pure.

A script is a JSON list; each step is one turn of the model:

    {"text": "done"}                                  say this
    {"shell": "echo hi"}                              call the shell tool that the client offers
    {"write": {"path": "/x", "content": "hi"}}        call its tool for writing files, else its shell
    {"tool": "name", "input": {"a": 1}}               call this very tool
    {"calls": [{"shell": "a"}, {"shell": "b"}]}       several calls in one turn

Where the conversation stands is read off the request itself: the server keeps no state, so clients may retry, ask aside, and
run side by side. What is past the last step, and a request that does not offer a step's tool, gets the fixed text.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell")
WRITERS = ("Write", "write")
COMMAND_KEYS = ("command", "cmd")
PATH_KEYS = ("file_path", "path")


class Tool(NamedTuple):
    """A tool as the client offers it: `space` groups tools in the Responses dialect, `custom` takes plain text there."""

    name: str
    properties: Mapping[str, Any] = {}
    space: str = ""
    custom: bool = False


class Mark(NamedTuple):
    """A turn of the model's that the conversation already holds: the id of a call, or a text."""

    kind: Literal["call", "text"]
    value: str


class Conversation(NamedTuple):
    """A request, whatever its dialect: the model asked for, whether to stream, the tools by name, the turns so far."""

    model: str
    stream: bool
    tools: Mapping[str, Tool]
    marks: tuple[Mark, ...]


class Call(NamedTuple):
    """A call in a reply; `input` is an object, or a text for a custom tool."""

    id: str
    tool: Tool
    input: Any


class Reply(NamedTuple):
    """What the model answers: a text, or calls. `step` is the script's, None for the fixed text."""

    text: str
    calls: tuple[Call, ...] = ()
    step: int | None = None


class ScriptError(ValueError):
    """A script that is not one; the message names the step."""


def check(script: Any) -> tuple[Mapping[str, Any], ...]:
    """A parsed script, if it is one. Raises `ScriptError`."""
    if not isinstance(script, list):
        raise ScriptError("a script is a list of steps")
    for number, step in enumerate(script):
        calls = step.get("calls") if isinstance(step, dict) else None
        parts = calls if isinstance(calls, list) and calls and set(step) == {"calls"} else [step]
        if not all(_is_call(part) for part in parts) and not _is_text(step):
            raise ScriptError(f"step {number}: wants one of text, shell, write, tool, calls; got {step!r}")
    return tuple(script)


def answer(script: Sequence[Mapping[str, Any]], asked: Conversation, fixed: str, server: str) -> Reply:
    """The next step of the script for this conversation; `server` begins the ids of this server's calls."""
    position = _position(script, asked.marks, server)
    if position >= len(script):
        return Reply(fixed)
    step = script[position]
    if "text" in step:
        return Reply(step["text"], (), position)
    found = [_resolve(part, asked.tools) for part in step.get("calls", [step])]
    calls = [Call(f"{server}_{position}_{n}", *pair) for n, pair in enumerate(found) if pair is not None]
    return Reply("", tuple(calls), position) if len(calls) == len(found) else Reply(fixed)


def _position(script: Sequence[Mapping[str, Any]], marks: tuple[Mark, ...], server: str) -> int:
    position = 0
    for mark in marks:
        name, _, rest = mark.value.partition("_")
        if mark.kind == "call" and name == server:
            position = max(position, int(rest.split("_")[0]) + 1)
        elif mark.kind == "text" and position < len(script) and script[position].get("text") == mark.value:
            position += 1
    return position


def _resolve(part: Mapping[str, Any], tools: Mapping[str, Tool]) -> tuple[Tool, Any] | None:
    if "tool" in part:
        named = tools.get(part["tool"])
        return None if named is None else (named, part.get("input", {}))
    command = part.get("shell", "")
    if "write" in part:
        path, content = part["write"]["path"], part["write"].get("content", "")
        writer = next((tools[name] for name in WRITERS if name in tools), None)
        if writer is not None:
            key = next((key for key in PATH_KEYS if key in writer.properties), "path")
            return writer, {key: path, "content": content}
        command = f"printf %s {shlex.quote(content)} > {shlex.quote(path)}"
    shell = next((tools[name] for name in SHELLS if name in tools), None)
    return None if shell is None else (shell, _shell_input(shell, command))


def _shell_input(shell: Tool, command: str) -> dict[str, Any]:
    key = next((key for key in COMMAND_KEYS if key in shell.properties), "command")
    schema = shell.properties.get(key)
    listed = isinstance(schema, Mapping) and schema.get("type") == "array"
    given: dict[str, Any] = {key: ["sh", "-c", command] if listed else command}
    return given | ({"description": "a scripted command"} if "description" in shell.properties else {})


def _is_text(step: Any) -> bool:
    return isinstance(step, dict) and set(step) == {"text"} and isinstance(step["text"], str)


def _is_call(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    if "tool" in part:
        return isinstance(part["tool"], str) and set(part) <= {"tool", "input"}
    if "write" in part:
        target = part["write"]
        return set(part) == {"write"} and isinstance(target, dict) and isinstance(target.get("path"), str)
    return set(part) == {"shell"} and isinstance(part["shell"], str)
