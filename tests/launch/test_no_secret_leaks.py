"""No credential shows up where it should not: arguments, output, JSON, errors, journals, caches, evidence (spec/80).

Every kind of launch is made with planted secrets, and everything that Outfitter said or left is searched for them. A secret
may stand in three places: its native file, the child's environment, and a private file of the projection that needs it.
"""

import json
import os
import stat

import pytest

NATIVE, FRESH = "native-secret-7f31", "fresh-secret-90ac"
GATEWAY, HEADER, OTHER = "gateway-secret-22d8", "header-secret-5b1e", "other-secret-c3f9"
LITERAL, TYPED = "literal-secret-18e6", "typed-secret-6d02"
FROM_ENVIRONMENT = (GATEWAY, HEADER, OTHER)
SECRETS = (NATIVE, FRESH, *FROM_ENVIRONMENT, LITERAL)

LAUNCHES = {
    "pi": ("--harness", "pi"),
    "claude": ("--harness", "claude"),
    "isolated": ("--harness", "claude", "--isolated"),
    "codex": ("--harness", "codex"),
}
API = {
    "pi": "anthropic-messages",
    "claude": "anthropic-messages",
    "isolated": "anthropic-messages",
    "codex": "openai-responses",
}
ENV = {"GW_KEY": GATEWAY, "GW_HEADER": HEADER, "ANTHROPIC_API_KEY": OTHER, "OPENAI_API_KEY": OTHER, "WEB_TOKEN": OTHER}


def login(secret):
    return json.dumps(
        {"claudeAiOauth": {"accessToken": secret, "refreshToken": secret}, "mcpOAuth": {"x": {"accessToken": secret}}}
    )


@pytest.fixture
def planted(machine):
    """A machine with a secret of every kind; `machine.api` says which dialect its provider speaks."""
    machine.put(machine.home / ".claude/.credentials.json", login(NATIVE), 0o600)
    machine.put(
        machine.home / ".claude.json", json.dumps({"oauthAccount": {"emailAddress": "u@example.org"}, "key": NATIVE})
    )
    machine.put(
        machine.home / ".pi/agent/auth.json", json.dumps({"anthropic": {"type": "api_key", "key": NATIVE}}), 0o600
    )
    machine.put(machine.home / ".codex/auth.json", json.dumps({"OPENAI_API_KEY": NATIVE}), 0o600)
    machine.put(".agents/mcp.json", json.dumps({"mcpServers": {
        "docs": {"command": "docs-mcp", "env": {"API_TOKEN": LITERAL}},
        "web": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}},
    }}))  # fmt: skip
    machine.agent("a", model="gw/m1", mcp=["docs", "web"])
    return machine


def provider(machine, api):
    machine.put(".agents/models.json", json.dumps({"providers": {"gw": {
        "baseUrl": "http://127.0.0.1:9/v1", "api": api, "apiKey": "$GW_KEY", "headers": {"X-Team": "${GW_HEADER}"},
        "models": [{"id": "m1"}],
    }}}))  # fmt: skip


def left(machine):
    """Every file that Outfitter left on the machine: its state, its caches, evidence, run directories but for projections."""
    roots = [machine.home / ".local/state", machine.home / ".agents", machine.top / "evidence", machine.tmp]
    files = [path for root in roots for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if "projection" not in path.parts and "originals" not in path.parts]


def search(name, text, allowed=()):
    found = [secret for secret in SECRETS if secret in text and secret not in allowed]
    assert not found, f"{found} in {name}"


def check(machine, ended, allowed=()):
    search("stdout", ended.out)
    search("stderr", ended.err)
    for path in left(machine):
        if "conflicts" in path.parts and path.name != "index.json":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            continue
        search(path, path.read_bytes().decode("utf-8", "replace"))
    if ended.seen:
        search("the arguments", " ".join(ended.argv), allowed)
        for path, text in {**ended.seen["texts"], **projected(ended)}.items():
            if any(secret in text for secret in SECRETS):
                assert private(ended, path), f"{path} is readable by others"


def projected(ended):
    """The files of the projection; a stand-in without one looked at its working directory, which is the tree's own."""
    if "/projection" not in ended.seen["root"]:
        return {}
    return {path: entry["text"] for path, entry in ended.seen["entries"].items() if "text" in entry}


def private(ended, path):
    """Whether a file of the projection was private when the harness saw it (mode and name as recorded)."""
    entry = ended.seen["entries"].get(os.path.relpath(path, ended.seen["root"]) if os.path.isabs(path) else path)
    return entry is not None and ("link" in entry or entry["mode"] & 0o077 == 0)


# Codex takes a literal of the tree's servers on its command line, with a warning: it has no other way (006.6.3).
def allowed(name):
    return (LITERAL,) if name == "codex" else ()


JOURNALS = "cat ~/.local/state/outfitter/runs/*.json ../run.json"


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_that_works(planted, name):
    provider(planted, API[name])
    words = (
        "run",
        "a",
        *LAUNCHES[name],
        "--retain-projection",
        "--out",
        str(planted.top / "evidence"),
        "--",
        "-p",
        TYPED,
    )
    ended = planted.run(*words, env=ENV, script=[["run", JOURNALS + " >~/journals"], ["write", "odd.txt", "x"]])
    assert ended.code == 0, ended.err
    check(planted, ended, allowed(name))
    assert (planted.home / "journals").stat().st_size > 100 or name == "codex"
    search("the journals", (planted.home / "journals").read_text())
    kept = "".join(path.read_bytes().decode("utf-8", "replace") for path in left(planted))
    assert TYPED not in kept


@pytest.mark.parametrize("name", LAUNCHES)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_dry_run(planted, name, form):
    provider(planted, API[name])
    ended = planted.run(
        "run", "a", *LAUNCHES[name], "--dry-run", *form, "--out", str(planted.top / "evidence"), env=ENV
    )
    assert ended.code == 0, ended.err
    for secret in SECRETS:
        assert secret not in ended.err
        assert secret not in ended.out or (name == "codex" and secret == LITERAL)
    if name != "codex":
        check(planted, ended)


@pytest.mark.parametrize("name", LAUNCHES)
@pytest.mark.parametrize("debug", ["0", "1"])
@pytest.mark.parametrize("how", ["refused", "unset", "failed", "killed", "unexecutable"])
def test_a_launch_that_fails(planted, name, debug, how):
    provider(planted, API[name])
    words = ["--strict"] if how == "refused" else []
    env = {**ENV, "OUTFITTER_DEBUG": debug} | ({"GW_KEY": ""} if how == "unset" else {})
    if how == "unexecutable":
        (planted.bin / LAUNCHES[name][1]).chmod(0o644)
    script = {"failed": [["exit", 7]], "killed": [["die", "SIGKILL"]]}.get(how, [])
    ended = planted.run("run", "a", *LAUNCHES[name], *words, "--json", env=env, script=script)
    assert ended.code != 0 or how == "refused"
    check(planted, ended, allowed(name))


def test_credentials_on_the_way_back_and_in_conflict(planted):
    provider(planted, "anthropic-messages")
    script = [
        ["write", ".credentials.json", login(FRESH)],
        ["write", "~/.claude/.credentials.json", login(OTHER)],
        ["write", ".claude.json", json.dumps({"oauthAccount": {"token": FRESH}})],
    ]
    words = ("run", "a", *LAUNCHES["isolated"], "--retain-projection", "--out", str(planted.top / "evidence"))
    ended = planted.run(*words, env=ENV, script=script)
    assert ended.code == 0, ended.err
    check(planted, ended)
    (root,) = planted.run_directories()
    for words in (("diff", str(root)), ("diff", str(root), "--json"), ("diff", str(root), "--content"), ("conflicts", "list"),
                  ("conflicts", "list", "--json")):  # fmt: skip
        told = planted.run(*words)
        search(words, told.out + told.err)
    listed = json.loads(planted.run("conflicts", "list", "--json").out)
    for kept in next(value for value in listed.values() if isinstance(value, list)):
        shown = planted.run("conflicts", "show", kept["id"])
        search("conflicts show", shown.out + shown.err)


@pytest.mark.parametrize(
    "words", [("doctor",), ("doctor", "--json"), ("show", "a"), ("show", "a", "--json"), ("list", "--json"), ("validate",),
              ("settings", "--json"), ("settings", "--origin")],
    ids=" ".join,
)  # fmt: skip
def test_commands_that_only_look(planted, words):
    provider(planted, "anthropic-messages")
    ended = planted.run(*words, env=ENV)
    search(words, ended.out + ended.err)
    check(planted, ended)
