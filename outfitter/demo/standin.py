"""The demo's stand-in for Pi: a script of its own that uses the standard library only.

It reads `models.json` of PI_CODING_AGENT_DIR as Pi does, sends the prompt to that provider, runs the shell commands that the
model asks for, and leaves a session in PI_CODING_AGENT_SESSION_DIR.
"""

import json
import os
import subprocess
import sys
import urllib.request
from typing import Any

TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "run a command",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}


def main() -> int:
    """Run one turn; the prompt is the last argument."""
    if "--version" in sys.argv or "--help" in sys.argv:
        sys.stdout.write("the stand-in of outfitter demo; no real harness\n")
        return 0
    root = os.environ["PI_CODING_AGENT_DIR"]
    with open(os.path.join(root, "models.json"), encoding="utf-8") as file:
        provider = json.load(file)["providers"][_value("--provider")]
    messages: list[dict[str, Any]] = [{"role": "user", "content": sys.argv[-1]}]
    system = _value("--system-prompt")
    if system:
        with open(system, encoding="utf-8") as file:
            messages.insert(0, {"role": "system", "content": file.read()})
    while True:
        message = _ask(provider, messages)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        messages += [_run(call) for call in message["tool_calls"]]
    _keep(root, messages)
    sys.stdout.write(f"{message['content']}\n")
    return 0


def _value(option: str) -> str:
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else ""


def _ask(provider: dict[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    body = {"model": _value("--model"), "messages": messages, "tools": [TOOL]}
    headers = {"Content-Type": "application/json"}
    key = provider.get("apiKey", "")
    if key:
        headers["Authorization"] = "Bearer " + os.environ.get(key.lstrip("$"), key)
    request = urllib.request.Request(provider["baseUrl"] + "/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        reply: dict[str, Any] = json.load(response)["choices"][0]["message"]
    return reply


def _run(call: dict[str, Any]) -> dict[str, Any]:
    command = json.loads(call["function"]["arguments"])["command"]
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, timeout=30)
    return {"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr}


def _keep(root: str, messages: list[dict[str, Any]]) -> None:
    folder = os.environ.get("PI_CODING_AGENT_SESSION_DIR") or os.path.join(root, "sessions")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "stand-in.jsonl"), "a", encoding="utf-8") as file:
        file.writelines(json.dumps(message) + "\n" for message in messages)


sys.exit(main())
