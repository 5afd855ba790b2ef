"""Pi's flags and variables for what is not a file: model, thinking, tools, extensions, jobs.

And whether a launch is interactive. Pure.
"""

from __future__ import annotations

import re
from itertools import pairwise

from outfitter.adapters.models import selection
from outfitter.adapters.tools import limits, shut_notices, unknown_notices, unnamed_servers
from outfitter.model.composition import Composition, Controls
from outfitter.model.request import Ambient, Notice
from outfitter.model.value import NamedTuple

JOBS = "DEEPWORK_ADDITIONAL_JOBS_FOLDERS"
THINKING = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
DIALECTS = (
    "anthropic-messages",
    "azure-openai-responses",
    "bedrock-converse-stream",
    "google-generative-ai",
    "google-vertex",
    "mistral-conversations",
    "openai-codex-responses",
    "openai-completions",
    "openai-responses",
    "pi-messages",
)
# Words that make Pi answer and leave, or speak to a program (006.8.8).
_LEAVES = ("-p", "--print", "-h", "--help", "-v", "--version", "--list-models", "--export")


class Flags(NamedTuple):
    """Arguments in order, and what to say about what they leave out."""

    arguments: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


def model_flags(composition: Composition) -> Flags:
    """Return `--provider`, `--model` and `--thinking` (006.3.9, 006.9.3).

    An extension may add a dialect that Pi itself does not speak.
    """
    agent = composition.agent
    spoken = (*DIALECTS, composition.model.api) if composition.model and composition.extensions else DIALECTS
    target, notices = selection(composition.model, agent, "pi", spoken)
    arguments: list[str] = []
    if target is not None:
        arguments += ["--provider", target.provider] if target.provider else []
        arguments += ["--model", target.model]
    level = composition.thinking.strip().lower()
    if level in THINKING:
        arguments += ["--thinking", level]
    elif level:
        message = f"agent {agent}: pi has no thinking level {composition.thinking!r}; skipped"
        notices = (*notices, Notice("warning", "thinking-unknown", message))
    return Flags(tuple(arguments), notices)


def tool_flags(composition: Composition) -> Flags:
    """Return an allow list, a deny list, or `--no-tools` if nothing is left (spec/15 V12).

    The limits are never wider than written.
    """
    servers = tuple(server.id for server in composition.servers)
    found = limits(composition.tools, "pi", servers)
    if composition.extensions:
        # An extension may bring them.
        found = found._replace(unknown=())
    shut = shut_notices(composition.agent, unnamed_servers(found.allow, servers))
    notices = (*unknown_notices(found, composition.agent, "pi"), *shut)
    deny = found.deny
    for word in found.patterns:
        whole = limits(composition.tools._replace(allow=None, deny=(word.partition("(")[0],)), "pi", servers).deny
        deny = (*deny, *whole)
        message = f"agent {composition.agent}: pi cannot deny {word!r} alone; the whole tool is denied"
        notices = (*notices, Notice("warning", "tool-pattern", message))
    arguments: list[str] = []
    if found.allow is not None:
        left = [name for name in found.allow if name not in deny]
        arguments += ["--no-tools", *(("--tools", ",".join(map(pi_tool, left))) if left else ())]
    if deny:
        arguments += ["--exclude-tools", ",".join(dict.fromkeys(map(pi_tool, deny)))]
    return Flags(tuple(arguments), notices)


def pi_tool(name: str) -> str:
    """Return a tool in Pi's spelling.

    A tool of an MCP server is `mcp__server__tool` with `_` for all other characters, a whole server a pattern.
    """
    if not name.startswith("mcp__"):
        return name
    clean = re.sub(r"[^A-Za-z0-9_*]", "_", name)
    return clean if "__" in name[5:] else clean + "__*"


def jobs_variable(composition: Composition, controls: Controls, ambient: Ambient) -> tuple[str, tuple[Notice, ...]]:
    """Return the DeepWork job folders for the child, "" for none (006.3.13 to 16).

    They are the agent's own, the shared ones that it names, and an allowed inherited value.
    """
    wanted = controls.deepwork_jobs
    notices: list[Notice] = []
    own = [root for root in composition.job_roots if not root.names]
    shared = [root for root in composition.job_roots if set(root.names) & set(wanted)]
    found = {name for root in composition.job_roots for name in (*root.names, *root.held)}
    for name in wanted:
        if name not in found:
            message = f"agent {composition.agent}: DeepWork job {name!r} is in no layer's deepwork/jobs/"
            notices.append(Notice("warning", "job-missing", message))
    paths = [root.path for root in (*own, *shared)]
    for path in [path for path in paths if ":" in path]:
        notices.append(
            Notice("warning", "job-path", f"{path}: a path with a colon cannot be passed in {JOBS}; skipped")
        )
    given = [controls.environment.get(JOBS, "")]
    if controls.extra.get("allow_external_deepwork_jobs") is True:
        given.append(ambient.env.get(JOBS, ""))
    parts = [path for path in paths if ":" not in path] + [value for value in given if value]
    return ":".join(dict.fromkeys(parts)), tuple(notices)


def is_interactive(ambient: Ambient, words: tuple[str, ...]) -> bool:
    """Whether Pi will draw its own screen: both ends are terminals, and no word asks for an answer alone."""
    options = words[: words.index("--")] if "--" in words else words
    modes = {after for word, after in pairwise(options) if word == "--mode"}
    return ambient.stdin_tty and ambient.stdout_tty and not modes & {"json", "rpc"} and not set(options) & set(_LEAVES)
