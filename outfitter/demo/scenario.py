"""The writes of the demo, one of each kind, as data: what the harness does, and the expected outcomes.

Pure.
"""

import json
import shlex
from typing import Any, NamedTuple

AGENT = "guide"
TOKEN_VARIABLE = "DEMO_TOKEN"
TOKEN = "no-secret-at-all"
PROMPT = "Show me one write of each kind."
SAID = "Done: one write of each kind. Outfitter now shows the outcome of each."
STAND_IN = "stand-in"


class DemoWrite(NamedTuple):
    """One write below the configuration directory.

    `swap` renames a new file over the path, as many programs do. `ending` is the outcome that the diff must show. It is "" if the
    diff lists nothing, because the write went through a directory symlink: then the file must exist at `native`, relative to the
    home.
    """

    path: str
    ending: str
    meaning: str
    swap: bool = False
    native: str = ""
    text: str = "{}\n"


class Scenario(NamedTuple):
    """How one harness runs: dialect, arguments, settings, writes, and where its sessions end up.

    `variable` names its configuration directory; `sessions` is the native directory of transcripts, relative to the home;
    `model` is a name that the harness knows, so that it prints no warning about it.
    """

    api: str
    variable: str
    options: tuple[str, ...]
    arguments: tuple[str, ...]
    settings: str
    writes: tuple[DemoWrite, ...]
    sessions: str
    base: str = "/v1"
    model: str = "scripted-model"
    bridged: bool = False


PI = Scenario(
    api="openai-completions",
    variable="PI_CODING_AGENT_DIR",
    options=(),
    arguments=("-p", PROMPT),
    settings="state_persistence:\n  cache/: discard\n  mcp.json: warn\n",
    writes=(
        DemoWrite("settings.json", "durable", "a declared path, projected as a symlink: the write went through it to the native file"),
        DemoWrite("trust.json", "adopted", "a symlink that a new file replaced: its content was copied to the native file", True),
        DemoWrite("cache/thumbnail", "discarded", "`cache/: discard` in the settings: removed without a message"),
        DemoWrite("mcp.json", "warned", "`mcp.json: warn` in the settings: not kept, with a warning", text='{"mcpServers": {}}\n'),
        DemoWrite("notes.txt", "warned", "not a state path of the harness: not kept, with a warning", text="a note\n"),
    ),
    sessions=".pi/agent/sessions",
)  # fmt: skip
CLAUDE = Scenario(
    api="anthropic-messages",
    variable="CLAUDE_CONFIG_DIR",
    options=("--isolated",),
    arguments=("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "-p", PROMPT),
    settings="state_persistence:\n  debug/: discard\n  commands/: warn\n",
    writes=(
        DemoWrite("agents/helper.md", "", "in a symlinked directory: it is in the native one", native=".claude/agents/helper.md", text="---\nname: helper\ndescription: none\n---\n"),
        DemoWrite("settings.json", "adopted", "a symlink that a new file replaced: its content was copied to the native file", True, text='{"theme": "dark"}\n'),
        DemoWrite("debug/trace.txt", "discarded", "`debug/: discard` in the settings: removed without a message", text="x\n"),
        DemoWrite("commands/hello.md", "warned", "`commands/: warn` in the settings: not kept, with a warning", text="Say hello.\n"),
        DemoWrite("notes.txt", "warned", "not a state path of the harness: not kept, with a warning", text="a note\n"),
    ),
    sessions=".claude/projects",
    base="",
    model="sonnet",
    bridged=True,
)  # fmt: skip
CODEX = Scenario(
    api="openai-responses",
    variable="CODEX_HOME",
    options=(),
    arguments=("exec", "--skip-git-repo-check", "-s", "danger-full-access", PROMPT),
    settings="",
    writes=(),
    sessions=".codex/sessions",
    model="gpt-5",
)
SCENARIOS = {"pi": PI, "claude": CLAUDE, "codex": CODEX, STAND_IN: PI}


def model_script(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the model's turns: one shell command that makes every write, then a text."""
    lines = [f'cd "${scenario.variable}"'] if scenario.writes else ["true"]
    for write in scenario.writes:
        folder = write.path.rpartition("/")[0]
        target = write.path + ".new" if write.swap else write.path
        make_folder = f"mkdir -p {shlex.quote(folder)}; " if folder else ""
        rename = f"; mv {shlex.quote(target)} {shlex.quote(write.path)}" if write.swap else ""
        lines.append(f"{make_folder}printf %s {shlex.quote(write.text)} > {shlex.quote(target)}{rename}")
    return [{"shell": " && ".join(f"{{ {line}; }}" for line in lines)}, {"text": SAID}]


def tree_files(scenario: Scenario, url: str) -> dict[str, str]:
    """Return path → text of the files: agent and model in the home's tree, settings in the project's."""
    provider = {
        "name": "The scripted model on this machine",
        "baseUrl": url + scenario.base,
        "api": scenario.api,
        "apiKey": f"${TOKEN_VARIABLE}",
        "models": [{"id": scenario.model}],
    }
    return {
        "home/.agents/models.json": json.dumps({"providers": {"demo": provider}}, indent=2) + "\n",
        f"home/.agents/agents/{AGENT}/agent.md": (
            f"---\nname: {AGENT}\ndescription: Shows what Outfitter does with writes.\nmodel: demo/{scenario.model}\n---\n\n"
            "You show every kind of write that a harness makes.\n"
        ),
        "project/.git/HEAD": "ref: refs/heads/main\n",
        "project/.agents/settings.yml": f"default_agent: {AGENT}\n{scenario.settings}",
    }


def unmet(scenario: Scenario, changes: list[dict[str, Any]], natives: set[str]) -> list[str]:
    """Return the writes that did not end as expected; `natives` are the files in the home, relative to it."""
    outcomes = {change["path"]: change["outcome"] for change in changes}
    problems = [
        f"{write.path}: {outcomes.get(write.path, 'not listed')}, expected {write.ending}"
        for write in scenario.writes
        if write.ending and outcomes.get(write.path) != write.ending
    ]
    problems += [
        f"{write.native}: not found" for write in scenario.writes if write.native and write.native not in natives
    ]
    if not any(name.startswith(scenario.sessions + "/") and name.endswith(".jsonl") for name in natives):
        problems.append(f"no session under {scenario.sessions}")
    return problems
