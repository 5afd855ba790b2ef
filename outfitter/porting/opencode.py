"""OpenCode: agents with maps of tools and permissions, commands, skills and `opencode.json`. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from outfitter.porting import front_text
from outfitter.porting.growing import Growing
from outfitter.porting.instructions import read_by_all
from outfitter.porting.markdown_agents import Reworded, add_agent, add_agents
from outfitter.porting.reading import NativeFiles
from outfitter.porting.translation import Translation

_PORTABLE: Mapping[str, tuple[str, ...]] = {
    "read": ("read",),
    "write": ("write",),
    "edit": ("edit", "write"),
    "patch": ("edit",),
    "multiedit": ("edit",),
    "bash": ("bash",),
    "grep": ("grep",),
    "glob": ("find",),
    "list": ("ls",),
    "ls": ("ls",),
    "webfetch": ("web_fetch",),
    "websearch": ("web_search",),
    "task": ("Agent",),
    "skill": ("Skill",),
    "todowrite": ("TodoWrite",),
    "todoread": (),
}
_FILE = re.compile(r"\{file:([^}]+)\}")


def translate(files: NativeFiles, only: str = "") -> Translation:
    """The tree of one `.opencode` directory with the project's `opencode.json`.

    `only` reads no other agent's file.
    """
    spot = files.spot
    growing = Growing(files)
    for name in ("skills", "skill"):
        growing.skills(f"{spot.directory}/{name}")
    for name in ("commands", "command"):
        growing.commands(f"{spot.directory}/{name}")
    configs = [(path, found[0]) for path in _places(files) if (found := files.json(path)) is not None]
    for path, values in configs:
        growing.add_servers(path, _servers(values.get("mcp")))
    for name in ("agents", "agent", "modes"):
        add_agents(growing, f"{spot.directory}/{name}", ".md", _reworded, only)
    for path, values in configs:
        _of_config(growing, path, values, only)
    read_by_all(growing)
    return growing.done("opencode")


def _places(files: NativeFiles) -> tuple[str, ...]:
    spot = files.spot
    folders = (spot.directory,) if spot.home else (spot.around, spot.directory)
    return tuple(f"{folder}/opencode.{ending}" for folder in folders for ending in ("json", "jsonc"))


def _servers(value: Any) -> dict[str, Any]:
    """`mcp` entries: a local one's command is a list, a remote one has an address."""
    found: dict[str, Any] = {}
    for name, raw in value.items() if isinstance(value, Mapping) else ():
        if not isinstance(raw, Mapping):
            continue
        rest = {key: item for key, item in raw.items() if key not in ("type", "command", "environment")}
        words = raw.get("command")
        if isinstance(words, list) and words:
            rest = {"command": str(words[0]), "args": [str(word) for word in words[1:]], **rest}
        elif isinstance(words, str):
            rest = {"command": words, **rest}
        if isinstance(raw.get("environment"), Mapping):
            rest["env"] = {str(key): str(item) for key, item in raw["environment"].items()}
        found[str(name)] = rest
    return found


def _reworded(growing: Growing, source: str, values: Mapping[str, Any]) -> Reworded:
    added: dict[str, Any] = {}
    dropped: dict[str, str] = {}
    allow, deny = _tools(values.get("tools"))
    asked, refused = _permissions(values.get("permission"))
    if isinstance(values.get("tools"), Mapping):
        dropped["tools"] = "now in portable words"
    if refused:
        dropped["permission"] = "denied tools are now in tools"
    deny = tuple(dict.fromkeys((*deny, *refused)))
    if asked:
        said = f"permission {', '.join(asked)}: a rule that asks or holds a pattern, which only OpenCode applies"
        growing.native.note("named", source, said, "write tools: {deny: […]} where it must hold everywhere")
    if allow is not None or deny:
        limits = {} if allow is None else {"allow": list(allow)}
        added["tools"] = {**limits, **({"deny": list(deny)} if deny else {})}
    if str(values.get("disable") or "").lower() == "true":
        added["enabled"] = False
    steps = [key for key in ("maxSteps", "steps") if values.get(key) is not None]
    if steps:
        growing.native.note(
            "named", source, f"{', '.join(steps)}: kept in the agent's file; only OpenCode acts upon it"
        )
    return Reworded(added, dropped, {}, allow is None, allow or ())


def _tools(value: Any) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """A map of tool to true or false: what is false is denied.

    With `*: false`, what is true is all that is allowed.
    """
    if not isinstance(value, Mapping):
        return None, ()
    off = [str(name) for name, on in value.items() if str(on).lower() == "false"]
    on = [str(name) for name, on in value.items() if str(on).lower() == "true"]
    if "*" in off:
        return tuple(word for name in on for word in _PORTABLE.get(name, (name,))), ()
    denied = (word for name in off for word in _PORTABLE.get(name, (_server_word(name),)))
    return None, tuple(dict.fromkeys(denied))


def _server_word(name: str) -> str:
    """A tool of a server, which OpenCode spells `server_tool` or `server*`."""
    return f"mcp__{name.rstrip('*_')}" if name.endswith("*") else name


def _permissions(value: Any) -> tuple[list[str], tuple[str, ...]]:
    if not isinstance(value, Mapping):
        return [], ()
    denied = [name for name, rule in value.items() if str(rule).lower() == "deny"]
    asked = [str(name) for name, rule in value.items() if isinstance(rule, Mapping) or str(rule).lower() == "ask"]
    return asked, tuple(word for name in denied for word in _PORTABLE.get(str(name), (str(name),)))


def _of_config(growing: Growing, path: str, values: Mapping[str, Any], only: str) -> None:
    """Agents and commands that `opencode.json` itself defines."""
    many: list[str] = []
    agents = values.get("agent")
    for name, raw in agents.items() if isinstance(agents, Mapping) else ():
        taken = ("agents", str(name).casefold()) in growing.taken
        if not isinstance(raw, Mapping) or taken or (only and only != name):
            continue
        body = _prompt(growing, path, str(raw.get("prompt") or ""))
        if not body:
            growing.native.note("named", path, f"agent.{name} has no prompt of its own; it is left out")
            continue
        front = {"name": str(name), **{key: item for key, item in raw.items() if key != "prompt"}}
        text = front_text.written(front, {}, body)
        add_agent(growing, str(name), path, text, front, _reworded, many)
    commands = values.get("command")
    for name, raw in commands.items() if isinstance(commands, Mapping) else ():
        template = raw.get("template") if isinstance(raw, Mapping) else None
        made = growing.take("commands", str(name), f"{path}#{name}") if isinstance(template, str) else ""
        if made:
            front = {key: item for key, item in raw.items() if key != "template"}
            text = front_text.written(front, {}, str(template)) if front else f"{template}\n"
            growing.text(f"commands/{made}.md", path, text)
    kept = [key for key in ("instructions", "plugin", "provider", "permission") if values.get(key)]
    if kept:
        growing.native.note("named", path, f"{', '.join(kept)}: OpenCode's own settings; not copied")


def _prompt(growing: Growing, path: str, prompt: str) -> str:
    """A prompt, with a file that it names in its place."""
    found = _FILE.fullmatch(prompt.strip())
    if not found:
        return prompt
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1].strip()))
    if not place.startswith(posixpath.dirname(path) + "/"):
        growing.native.note("skipped", path, f"prompt file {found[1]!r} is outside {posixpath.dirname(path)}; left out")
        return ""
    return (growing.native.alone(place) or b"").decode("utf-8", "replace")
