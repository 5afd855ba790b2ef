"""A dump as Claude Code or Codex reads it natively, so that a team can leave again. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.adapters.claude.gateway import leader_target
from outfitter.adapters.claude.tools import subagent_tools
from outfitter.adapters.codex.overrides import chosen_model
from outfitter.adapters.codex.overrides import effort as codex_effort
from outfitter.adapters.tools import portable_name
from outfitter.catalog.dump_text import RECORD, Dump, DumpFile
from outfitter.model.composition import Composition
from outfitter.model.request import Notice
from outfitter.porting import front_text

_ROOTS: Mapping[str, Mapping[str, str]] = {
    "claude": {"skills": ".claude/skills", "commands": ".claude/commands", "agents.md": "CLAUDE.md"},
    "codex": {"skills": ".codex/skills", "agents.md": "AGENTS.md"},
}
_WRITING = ("edit", "write", "bash")


def native_dump(form: str, dump: Dump, agents: Iterable[Composition]) -> Dump:
    """The files of a tree's dump under the names that a program reads.

    An agent's file for each composition; what is lost is said.
    """
    files: dict[str, DumpFile] = {}
    notices = list(dump.notices)
    lost: dict[str, int] = {}
    for file in dump.files:
        path = _place(form, file.path)
        if path:
            files.setdefault(path, file._replace(path=path))
        elif file.path not in (RECORD, "mcp.json") and not file.path.startswith("agents/"):
            top = file.path.partition("/")[0]
            lost[top] = lost.get(top, 0) + 1
    servers = _servers(dump, "mcp.json")
    for made in agents:
        writer = _claude_agent if form == "claude" else _codex_agent
        path, text, said = writer(made, _servers(dump, f"agents/{made.agent}/mcp.json"))
        files[path] = DumpFile(path, text.encode("utf-8", "surrogateescape"))
        notices += said
    if servers:
        shared = _claude_servers(servers) if form == "claude" else _codex_servers(servers)
        files[shared.path] = shared
    for name, count in sorted(lost.items()):
        text = f"{name}: {form} reads nothing like it; {count} {'file is' if count == 1 else 'files are'} left out"
        notices.append(Notice("warning", "dump-left-out", text))
    record = {"schema_version": 1, "kind": "dump", "as": form, "files": sorted(files)}
    files[RECORD] = DumpFile(RECORD, (json.dumps(record, indent=2) + "\n").encode())
    return Dump(tuple(files[path] for path in sorted(files)), tuple(dict.fromkeys(notices)))


def _place(form: str, path: str) -> str:
    """Where a tree's file goes, "" for one that has no place there.

    Private skills lie with the shared ones.
    """
    roots = _ROOTS[form]
    private = re.fullmatch(r"agents/[^/]+/(skills|commands)/(.+)", path)
    kind, rest = (private[1], private[2]) if private else path.partition("/")[::2]
    root = roots.get(kind)
    return root if root and not rest else f"{root}/{rest}" if root else ""


def _servers(dump: Dump, path: str) -> dict[str, Any]:
    found = next((file for file in dump.files if file.path == path and file.content), None)
    servers: dict[str, Any] = json.loads(found.content)["mcpServers"] if found else {}
    return {name: raw for name, raw in servers.items() if raw.get("enabled") is not False}


def _body(made: Composition) -> str:
    return "\n\n".join(part.content.strip() for part in made.fragments if part.kind in ("append", "body"))


def _claude_agent(made: Composition, own: Mapping[str, Any]) -> tuple[str, str, tuple[Notice, ...]]:
    target, lost = leader_target(made)
    tools = subagent_tools(made.tools, made.agent, tuple(server.id for server in made.servers))
    values: dict[str, Any] = {
        "name": made.agent,
        "description": " ".join(made.description.split()) or made.label,
        "tools": None if tools.allow is None else list(tools.allow),
        "disallowedTools": list(tools.deny) or None,
        "model": target.model if target is not None and target.kind != "registry" else None,
        "mcpServers": [{name: dict(raw)} for name, raw in own.items()] or None,
    }
    lines = "".join(f"{key}: {front_text.scalar(value)}\n" for key, value in values.items() if value is not None)
    return f".claude/agents/{made.agent}.md", f"---\n{lines}---\n\n{_body(made)}\n", (*lost, *tools.notices)


def _claude_servers(servers: Mapping[str, Any]) -> DumpFile:
    text = json.dumps({"mcpServers": servers}, indent=2, ensure_ascii=False) + "\n"
    return DumpFile(".mcp.json", text.encode("utf-8", "surrogateescape"))


def _codex_agent(made: Composition, own: Mapping[str, Any]) -> tuple[str, str, tuple[Notice, ...]]:
    import tomlkit

    chosen = chosen_model(made.model, made.agent)
    level, said = codex_effort(made.thinking, made.agent)
    document = tomlkit.document()
    document["name"] = made.agent
    document["description"] = " ".join(made.description.split()) or made.label
    if chosen.model:
        document["model"] = chosen.model
    if level:
        document["model_reasoning_effort"] = level
    notices = [*chosen.notices, *said]
    if _reads_only(made):
        document["sandbox_mode"] = "read-only"
    elif made.tools.allow is not None or made.tools.deny:
        text = f"agent {made.agent}: codex keeps no list of tools; the agent is not limited there"
        notices.append(Notice("warning", "dump-left-out", text))
    document["developer_instructions"] = tomlkit.string(f"\n{_body(made)}\n", multiline=True)
    if own:
        document["mcp_servers"] = {name: _codex_server(raw) for name, raw in own.items()}
    return f".codex/agents/{made.agent}.toml", tomlkit.dumps(document), tuple(notices)


def _reads_only(made: Composition) -> bool:
    """Whether an agent may neither write nor run commands: what a read-only sandbox keeps."""
    allow = None if made.tools.allow is None else {portable_name(word.partition("(")[0]) for word in made.tools.allow}
    deny = {portable_name(word) for word in made.tools.deny}
    return all(word in deny or (allow is not None and word not in allow) for word in _WRITING)


def _codex_servers(servers: Mapping[str, Any]) -> DumpFile:
    import tomlkit

    text = tomlkit.dumps({"mcp_servers": {name: _codex_server(raw) for name, raw in servers.items()}})
    return DumpFile(".codex/config.toml", text.encode("utf-8", "surrogateescape"))


def _codex_server(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A server in Codex's words: references to variables by the keys that it has for them."""
    made = {key: value for key, value in raw.items() if key not in ("type", "headers", "env") and value is not None}
    headers = dict(raw.get("headers") or {})
    bearer = re.fullmatch(r"Bearer \$\{(\w+)\}", str(headers.get("Authorization", "")))
    if bearer:
        made["bearer_token_env_var"] = bearer[1]
        del headers["Authorization"]
    named = {key: found[1] for key, value in headers.items() if (found := re.fullmatch(r"\$\{(\w+)\}", str(value)))}
    plain = {key: value for key, value in headers.items() if key not in named}
    env = dict(raw.get("env") or {})
    passed = [key for key, value in env.items() if value == f"${{{key}}}"]
    more = {
        "env_http_headers": named,
        "http_headers": plain,
        "env": {key: value for key, value in env.items() if key not in passed},
        "env_vars": passed,
    }
    return {**made, **{key: value for key, value in more.items() if value}}
