"""Generated stacks of layers and inheritance graphs, written as plain files."""

import json

from hypothesis import strategies as st

AGENTS = ("a", "b", "c")
SKILLS = ("s1", "s2", "s3", "cat/s4", "kit/s1", "cat/s1")
SERVERS = ("m1", "m2", "m3")
LAYERS = ("project/.agents", "home/.agents", "one", "two")
SOURCES = "sources: [{path: ../../one}, {path: ../../two}]\n"

words = st.text("abc xyzäß…:#-'\"\n", max_size=12).map(lambda text: text.replace("---", "--"))
slugs = st.lists(st.sampled_from(["s1", "s2", "s3", "s4", "kit/s1", "none"]), max_size=4)


@st.composite
def fronts(draw, name):
    """The front matter of one agent: parents only of later names, so that there is no circle."""
    later = [other for other in AGENTS if other > name]
    keys = {
        "label": words,
        "description": words,
        "inherits": st.lists(st.sampled_from(later), max_size=3) if later else st.just([]),
        "skills": slugs,
        "subagents": st.lists(st.sampled_from(AGENTS), max_size=2),
        "mcp": st.lists(st.sampled_from([*SERVERS, "none"]), max_size=3),
        "extensions": st.lists(st.sampled_from(["npm:x@1", "git:h/o/r", "e"]), max_size=3),
        "plugins": st.lists(st.sampled_from(["p", "q"]), max_size=2),
        "model": st.sampled_from(["m", "inherit", "openai/x"]),
        "thinking": st.sampled_from(["low", "high"]),
        "tools": st.fixed_dictionaries({}, optional={"allow": _tools, "deny": _tools}),
        "system_prompt": st.just({"file": "prompts/p.md"}),
        "append_system_prompt": st.just([{"file": "prompts/p.md"}, {"repo_file": "NOTES.md"}]),
        "controls": st.fixed_dictionaries(
            {},
            optional={
                "environment": st.dictionaries(st.sampled_from(["X", "Y"]), words.filter(str.isprintable), max_size=2),
                "args": st.lists(st.sampled_from(["--x", "-y"]), max_size=2),
                "pi": st.just({"args": ["-z"], "deepwork": {"jobs": ["j"]}}),
            },
        ),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(keys)), unique=True, max_size=6))
    return {key: draw(keys[key]) for key in chosen}


_tools = st.lists(st.sampled_from(["read", "Bash", "edit", "mcp__m1__t"]), max_size=3)


@st.composite
def layers(draw, folder):
    """The files of one layer, by path below the machine."""
    files = {f"{folder}/prompts/p.md": draw(words)}
    for name in draw(st.sets(st.sampled_from(AGENTS))):
        front = "".join(f"{key}: {json.dumps(value)}\n" for key, value in draw(fronts(name)).items())
        files[f"{folder}/agents/{name}/agent.md"] = f"---\n{front}---\n{draw(words)}\n"
        for skill in draw(st.sets(st.sampled_from(["s1", "s3"]), max_size=1)):
            files[f"{folder}/agents/{name}/skills/{skill}/SKILL.md"] = _manifest(draw)
        if draw(st.booleans()):
            files[f"{folder}/agents/{name}/mcp.json"] = _servers(draw)
        if draw(st.booleans()):
            files[
                f"{folder}/agents/{name}/pi/{draw(st.sampled_from(['x', 'y/z', 'auth.json', 'settings.json', '.mcp.json']))}"
            ] = draw(words)
        if draw(st.booleans()):
            files[f"{folder}/agents/{name}/config.json"] = json.dumps(
                {"thinking": "max", "controls": {"args": [folder]}}
            )
        if draw(st.booleans()):
            files[f"{folder}/agents/{name}/deepwork/jobs/own/job.yml"] = draw(words)
    files.update(draw(shared(folder)))
    return files


@st.composite
def shared(draw, folder):
    """What a layer has beside agents."""
    files = {}
    for skill in draw(st.sets(st.sampled_from(SKILLS))):
        files[f"{folder}/skills/{skill}/SKILL.md"] = _manifest(draw)
        files[f"{folder}/skills/{skill}/scripts/x.sh"] = draw(words)
    for name in ("agents.md", "system-prompt.md", "commands/fix.md", "knowledge/k.md", "deepwork/jobs/j/job.yml"):
        if draw(st.booleans()):
            files[f"{folder}/{name}"] = draw(words)
    if draw(st.booleans()):
        files[f"{folder}/mcp.json"] = _servers(draw)
    if draw(st.booleans()):
        provider = {"api": "openai-responses", "baseUrl": "http://127.0.0.1/v1", "models": [{"id": "x"}]}
        files[f"{folder}/models.json"] = json.dumps({"providers": {draw(st.sampled_from(["openai", "p2"])): provider}})
    return files


def _manifest(draw):
    extra = draw(st.sampled_from(["", "references: {file: prompts/p.md}\n", "license: MIT\n", "name: other\n"]))
    return f"---\ndescription: {json.dumps(draw(words))}\n{extra}---\n{draw(words)}\n"


def _servers(draw):
    names = draw(st.sets(st.sampled_from(SERVERS)))
    commands = st.sampled_from(
        [{"command": "x"}, {"url": "https://h/mcp"}, {"command": "y", "enabled": False}, {"command": 1}]
    )
    return json.dumps({"mcpServers": {name: draw(commands) for name in sorted(names)}})


@st.composite
def stacks(draw):
    """Files of a project, a home and two sources, with the settings that name them."""
    files = {"project/NOTES.md": draw(words), "home/.agents/settings.yml": SOURCES}
    defaults = draw(st.fixed_dictionaries({}, optional={"skills": slugs, "extensions": st.just(["d"])}))
    if defaults:
        files["project/.agents/settings.yml"] = f"agent_defaults: {json.dumps(defaults)}\n"
    for folder in LAYERS:
        files.update(draw(layers(folder)))
    return files


@st.composite
def graphs(draw, size=7):
    """Inheritance as name → parents; circles and missing parents included."""
    names = [f"n{number}" for number in range(size)]
    parents = st.lists(st.sampled_from([*names, "gone"]), max_size=3, unique=True)
    return {name: draw(parents) for name in names}
