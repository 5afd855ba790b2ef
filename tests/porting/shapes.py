"""Small repositories after the shapes that people really have: files by path, and the agents that each brings."""

import json

AGENT = "---\nname: {name}\ndescription: About {name}\n---\n\nYou are {name}.\n"


def agent(name, **front):
    lines = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\nname: {name}\ndescription: About {name}\n{lines}---\n\nYou are {name}.\n"


def skill(name, text="Do it well."):
    return f"---\nname: {name}\ndescription: About {name}\n---\n\n{text}\n"


def toml(name, **more):
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
    return (
        f'# keep me\nname = "{name}"\ndescription = "About {name}"\n{lines}'
        f'developer_instructions = """\nYou are {name}.\n"""\n'
    )


SERVERS = json.dumps({"mcpServers": {"docs": {"command": "docs-server"}, "web": {"url": "https://web.example/mcp"}}})

# name: (files, agents). A value that is a tuple ("->", target) is a link.
SHAPES = {
    "one claude agent": (
        {".claude/agents/reviewer.md": agent("reviewer", tools="Read, Grep", model="sonnet")},
        ["reviewer"],
    ),
    "claude with everything": (
        {
            ".claude/agents/reviewer.md": agent("reviewer"),
            ".claude/agents/planner.md": agent("planner", tools="Read, mcp__docs__search", color="blue"),
            ".claude/skills/craft/SKILL.md": skill("craft"),
            ".claude/skills/craft/scripts/run.sh": "#!/bin/sh\necho hi\n",
            ".claude/commands/ship.md": "---\ndescription: Ship\n---\nShip $ARGUMENTS\n",
            ".claude/commands/git/tag.md": "Tag it.\n",
            ".mcp.json": SERVERS,
            "CLAUDE.md": "Use tabs.\n",
        },
        ["planner", "reviewer"],
    ),
    "claude categories": (
        {
            ".claude/agents/core/api.md": agent("api"),
            ".claude/agents/core/web.md": agent("web"),
            ".claude/agents/README.md": "# Agents\n",
        },
        ["api", "web"],
    ),
    "claude display names": (
        {".claude/agents/code-reviewer.md": "---\nname: Code Reviewer\ndescription: Looks\n---\nLook.\n"},
        ["code-reviewer"],
    ),
    "claude near yaml": (
        {
            ".claude/agents/qa.md": "---\nname: qa\ndescription: Use when: a change is ready\ntools:\n  - Read\n  - Bash\n---\nTest.\n"
        },
        ["qa"],
    ),
    "claude inline servers and hooks": (
        {
            ".claude/agents/db.md": "---\nname: db\ndescription: D\nmcpServers:\n  - pg:\n      command: pg-server\n      env: {PG_PASSWORD: hunter2hunter2}\nhooks:\n  PreToolUse:\n    - matcher: Bash\n---\nQuery.\n",
            ".claude/settings.json": json.dumps(
                {"hooks": {"Stop": []}, "permissions": {"deny": ["Read(.env)"], "allow": []}}
            ),
        },
        ["db"],
    ),
    "claude crlf and bom": ({".claude/agents/win.md": "\ufeff" + agent("win").replace("\n", "\r\n")}, ["win"]),
    "claude skills linked into the tree": (
        {
            ".claude/agents/a.md": agent("a"),
            ".agents/skills/craft/SKILL.md": skill("craft"),
            ".claude/skills": ("->", "../.agents/skills"),
        },
        ["a"],
    ),
    "codex agents": (
        {
            ".codex/agents/reviewer.toml": toml(
                "reviewer", model="gpt-5", model_reasoning_effort="high", sandbox_mode="read-only"
            ),
            ".codex/agents/builder.toml": toml("builder", nickname_candidates=["Bo"]),
            ".codex/config.toml": '[mcp_servers.docs]\nurl = "https://docs.example/mcp"\nbearer_token_env_var = "DOCS_TOKEN"\n',
            "AGENTS.md": "Be brief.\n",
        },
        ["builder", "reviewer"],
    ),
    "codex agents in config": (
        {
            ".codex/config.toml": '[agents.scout]\ndescription = "Looks around"\nconfig_file = "agents/s.toml"\n',
            ".codex/agents/s.toml": 'developer_instructions = "Scout."\n',
        },
        ["scout"],
    ),
    "copilot agents": (
        {
            ".github/agents/Reviewer.agent.md": "---\ndescription: 'Reviews'\ntools: ['read', 'search', 'docs/*', 'githubRepo']\nmodel: GPT-5 (copilot)\n---\nReview.\n",
            ".github/agents/plain.md": agent("plain"),
            ".github/prompts/fix.prompt.md": "---\nmode: agent\n---\nFix it.\n",
            ".vscode/mcp.json": '{\n  // servers\n  "servers": {"docs": {"command": "docs-server", "env": {"K": "${input:key}"},}},\n}\n',
            ".github/copilot-instructions.md": "Write tests.\n",
        },
        ["plain", "reviewer"],
    ),
    "copilot chat modes": (
        {
            ".github/chatmodes/planner.chatmode.md": "---\ndescription: 'Plan'\ntools: ['codebase', 'fetch', 'usages']\n---\nPlan.\n"
        },
        ["planner"],
    ),
    "copilot instructions only": (
        {
            ".github/instructions/ts.instructions.md": "---\napplyTo: '**/*.ts'\n---\nUse types.\n",
            ".github/skills/x/SKILL.md": skill("x"),
        },
        [],
    ),
    "cursor": (
        {
            ".cursor/agents/verifier.md": "---\nname: verifier\ndescription: V\nmodel: fast\nreadonly: true\n---\nVerify.\n",
            ".cursor/rules/ts.mdc": "---\ndescription: TypeScript\nglobs: **/*.ts,**/*.tsx\nalwaysApply: false\n---\nUse types.\n",
            ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nBe kind.\n",
            ".cursor/commands/ship.md": "Ship it.\n",
            ".cursor/mcp.json": SERVERS,
        },
        ["verifier"],
    ),
    "old cursor rules": ({".cursorrules": "You write Go.\n"}, []),
    "opencode": (
        {
            ".opencode/agent/review.md": "---\ndescription: R\nmode: subagent\nmodel: openai/gpt-5\ntools:\n  write: false\n  bash: false\npermission:\n  edit: deny\n---\nReview.\n",
            ".opencode/agents/build.md": "---\ndescription: B\ntools:\n  '*': false\n  read: true\n---\nBuild.\n",
            ".opencode/command/t.md": "---\ndescription: T\n---\nTest.\n",
            "opencode.jsonc": '{\n  // local\n  "mcp": {"docs": {"type": "local", "command": ["docs-server", "--x"], "environment": {"A": "{env:B}"}}},\n  "agent": {"ask": {"description": "A", "prompt": "Ask."}},\n}\n',
        },
        ["ask", "build", "review"],
    ),
    "gemini": (
        {
            ".gemini/agents/scout.md": "---\nname: scout\ndescription: >\n  Looks\n  around\ntools:\n  - read_file\n  - glob\nmax_turns: 9\n---\nScout.\n",
            ".gemini/commands/git/commit.toml": 'description = "Commit"\nprompt = """\nCommit {{args}}\n"""\n',
            ".gemini/settings.json": '{"mcpServers": {"docs": {"httpUrl": "https://docs.example/mcp"}}, "theme": "x"}',
            "GEMINI.md": "Use metric units.\n",
        },
        ["scout"],
    ),
    "pi": (
        {
            ".pi/agents/reviewer.md": "---\nname: reviewer\ndescription: R\ntools: read, bash\nmodel: openai/gpt-5\nthinking: high\nskill: rubric\n---\nReview.\n",
            ".pi/skills/rubric/SKILL.md": skill("rubric"),
            ".pi/prompts/go.md": "Go on.\n",
            ".pi/SYSTEM.md": "You are Pi.\n",
            ".pi/extensions/x.ts": "export default 1\n",
        },
        ["reviewer"],
    ),
    "a plugin": (
        {
            ".claude-plugin/plugin.json": json.dumps({"name": "kit", "skills": "./more/", "hooks": "./hooks.json"}),
            "agents/kit-agent.md": agent("kit-agent"),
            "skills/one/SKILL.md": skill("one"),
            "more/two/SKILL.md": skill("two"),
            "commands/go.md": "Go.\n",
            ".mcp.json": json.dumps({"pack": {"command": "${CLAUDE_PLUGIN_ROOT}/server"}}),
        },
        ["kit-agent"],
    ),
    "a marketplace": (
        {
            ".claude-plugin/marketplace.json": json.dumps(
                {
                    "name": "m",
                    "plugins": [
                        {"name": "p", "source": "./plugins/p"},
                        {"name": "far", "source": {"source": "github", "repo": "x/y"}},
                    ],
                }
            ),
            "plugins/p/agents/inner.md": agent("inner"),
            "plugins/p/.claude-plugin/plugin.json": '{"name": "p"}',
        },
        ["inner"],
    ),
    "several tools": (
        {
            ".claude/agents/reviewer.md": agent("reviewer"),
            ".cursor/agents/reviewer.md": agent("reviewer", model="inherit"),
            ".codex/agents/other.toml": toml("other"),
            "CLAUDE.md": "@AGENTS.md\n",
            "AGENTS.md": "Shared.\n",
        },
        ["other", "reviewer"],
    ),
    "case folded names": ({".claude/agents/Api.md": agent("Api"), ".claude/agents/more/api.md": agent("api")}, ["Api"]),
}


def build(machine, files):
    """Write a shape's files into the project of a machine."""
    for path, content in files.items():
        if isinstance(content, tuple):
            place = machine.project / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(content[1])
        else:
            machine.put(path, content)
