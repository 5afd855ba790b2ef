"""What the requests of every dialect have in common, and the script that answers them. Pure.

A script is a JSON list; each step is one turn of the model:

    {"text": "done"}                                  say this
    {"shell": "echo hi"}                              call the shell tool that the client offers
    {"write": {"path": "/x", "content": "hi"}}        call its tool for writing files, else its shell
    {"tool": "name", "input": {"a": 1}}               call the tool of this name
    {"calls": [{"shell": "a"}, {"shell": "b"}]}       several calls in one turn

The request itself shows which step is next: the server keeps no state, so clients may retry, ask aside and run in parallel.
The fixed text answers requests after the last step, and requests that do not offer a step's tool.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell")
WRITERS = ("Write", "write")
COMMAND_KEYS = ("command", "cmd")
PATH_KEYS = ("file_path", "path")


class Tool(NamedTuple):
    """A tool that the client offers.

    In the Responses dialect, `space` groups tools, and a `custom` tool takes plain text.
    """

    name: str
    properties: Mapping[str, Any] = {}
    space: str = ""
    custom: bool = False


class Mark(NamedTuple):
    """An earlier turn of the model in the conversation: the id of a call, or a text."""

    kind: Literal["call", "text"]
    value: str


class Conversation(NamedTuple):
    """A request in any dialect: the model, whether to stream, the tools by name, the turns so far."""

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
    """The model's answer: a text, or calls; `step` is the script's step, None for the fixed text."""

    text: str
    calls: tuple[Call, ...] = ()
    step: int | None = None


class ScriptError(ValueError):
    """An invalid script; the message names the step."""


def check(script: Any) -> tuple[Mapping[str, Any], ...]:
    """Return a parsed script if it is valid. Raises `ScriptError`."""
    if not isinstance(script, list):
        raise ScriptError("expected a list of steps")
    for number, step in enumerate(script):
        calls = step.get("calls") if isinstance(step, dict) else None
        parts = calls if isinstance(calls, list) and calls and set(step) == {"calls"} else [step]
        if not all(_is_call(part) for part in parts) and not _is_text(step):
            raise ScriptError(f"step {number}: expected text, shell, write, tool or calls, got {step!r}")
    return tuple(script)


def answer(script: Sequence[Mapping[str, Any]], asked: Conversation, fixed: str, server: str) -> Reply:
    """Return the script's next step for this conversation; `server` prefixes this server's call ids."""
    position = _position(script, asked.marks, server)
    if position >= len(script):
        return Reply(fixed)
    step = script[position]
    if "text" in step:
        return Reply(step["text"], (), position)
    resolved = [_resolve(part, asked.tools) for part in step.get("calls", [step])]
    calls = [Call(f"{server}_{position}_{n}", *pair) for n, pair in enumerate(resolved) if pair is not None]
    return Reply("", tuple(calls), position) if len(calls) == len(resolved) else Reply(fixed)


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
    values: dict[str, Any] = {key: ["sh", "-c", command] if listed else command}
    return values | ({"description": "a scripted command"} if "description" in shell.properties else {})


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
