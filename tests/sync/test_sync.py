"""spec/10: catalogs are fetched beside the last good checkout, over the user's own git; tested on real repositories."""

import json
import os
import shutil
import subprocess
import threading

import pytest

GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
}
WHO = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")


class Catalog:
    """A git repository with an `.agents` tree, served as a file or by a loopback `git daemon`."""

    def __init__(self, path):
        self.path = path
        path.mkdir()
        self.git("init", "--quiet")
        self.agent("shared", "You are shared, version one.")

    def git(self, *words):
        done = subprocess.run(["git", *WHO, *words], cwd=self.path, env=GIT, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def put(self, name, text):
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def agent(self, name, body):
        return self.put(f".agents/agents/{name}/agent.md", f"---\nname: {name}\n---\n{body}\n")

    @property
    def uri(self):
        return f"file://{self.path}"


@pytest.fixture
def catalog(tmp_path):
    return Catalog(tmp_path / "catalog")


def sources(machine, *entries, key="sources"):
    machine.settings(f"{key}: {json.dumps(list(entries))}\n")


def sync(machine, **env):
    ended = machine.run("sync", "--json", env=env)
    return ended.code, json.loads(ended.out)["sources"], ended


def test_a_catalog_is_fetched_then_unchanged_then_updated_and_its_agent_runs(machine, catalog):
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    code, rows, _ = sync(machine)
    assert (code, [row["status"] for row in rows]) == (0, ["updated"])
    assert "version one" in json.dumps(machine.run("run", "shared").seen["texts"])
    assert [row["status"] for row in sync(machine)[1]] == ["unchanged"]
    commit = catalog.agent("shared", "You are shared, version two.")
    _, rows, _ = sync(machine)
    assert (rows[0]["status"], rows[0]["commit"]) == ("updated", commit)
    assert "version two" in json.dumps(machine.run("run", "shared").seen["texts"])
    listed = json.loads(machine.run("sources", "--json").out)["sources"][2]
    assert (listed["commit"], listed["health"]) == (commit, "ok")


def test_a_tag_and_a_commit_can_be_asked_for(machine, catalog):
    first = catalog.git("rev-parse", "HEAD")
    catalog.git("tag", "v1")
    catalog.agent("shared", "later")
    sources(
        machine,
        {"uri": catalog.uri, "ref": "v1", "path": ".agents"},
        {"uri": catalog.uri, "ref": first, "path": ".agents"},
    )
    assert [row["commit"] for row in sync(machine)[1]] == [first, first]


def test_an_unreachable_source_keeps_the_last_good_one_and_stops_no_launch(machine, catalog, tmp_path):
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    sync(machine)
    catalog.path.rename(tmp_path / "away")
    code, rows, _ = sync(machine)
    assert (code, rows[0]["status"]) == (1, "failed")
    assert machine.run("run", "shared").code == 0
    machine.agent("a")
    sources(machine, {"uri": "file:///nowhere/at/all"})
    assert machine.run("run", "a").code == 0


def test_a_broken_catalog_never_replaces_a_good_one(machine, catalog):
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    sync(machine)
    catalog.git("rm", "-rq", ".agents")
    catalog.put("other.txt", "x")
    code, rows, _ = sync(machine)
    assert (code, rows[0]["status"]) == (1, "failed")
    assert ".agents" in rows[0]["reason"]
    assert machine.run("run", "shared").code == 0


def committed(machine):
    """What `outfitter sources` knows of each remote entry: its health and the first of its commit."""
    rows = json.loads(machine.run("sources", "--json").out)["sources"]
    return {row["source"].rpartition("/")[2]: (row["health"], row["commit"]) for row in rows if row["commit"]}


@pytest.mark.parametrize("turn", [1, -1], ids=["good-first", "bad-first"])
@pytest.mark.parametrize("other", [{"path": "two"}, {"path": "two", "ref": "main"}, {"ref": "main", "path": "./two/"}])
def test_entries_of_one_repository_stand_for_themselves(machine, catalog, turn, other):
    """A commit that has the one's tree and not the other's: the one goes on, the other stays as it was, and is named."""
    catalog.put("two/agents/second/agent.md", "You are second, version one.")
    sources(machine, *[{"uri": catalog.uri, "path": ".agents"}, {"uri": catalog.uri, **other}][::turn])
    assert [row["status"] for row in sync(machine)[1]] == ["updated"] * 2
    before = committed(machine)
    catalog.git("rm", "-rq", "two")
    catalog.agent("shared", "You are shared, version two.")
    code, rows, _ = sync(machine)
    assert (code, [row["status"] for row in rows][::turn]) == (1, ["updated", "failed"])
    failed = rows[::turn][1]
    assert failed["source"].endswith("#" + other["path"])
    assert failed["reason"] == f"has no directory {other['path']}"
    assert "version two" in json.dumps(machine.run("run", "shared").seen["texts"])
    assert "second, version one" in json.dumps(machine.run("run", "second").seen["texts"])
    after = committed(machine)
    assert {health for health, _ in after.values()} == {"ok"}
    assert sum(after[name] != before[name] for name in after) == 1
    lines = machine.run("sync").out
    assert f"#{other['path']}  has no directory {other['path']}; " in lines
    assert "stays in use" in lines


def test_a_path_that_was_never_there_leaves_the_others_usable(machine, catalog):
    entries = [{"uri": catalog.uri, "path": path} for path in ("nosuch", ".agents", "../out", "a.txt", "nested")]
    catalog.put("a.txt", "a file")
    catalog.put("nested/.agents/agents.md", "x")
    sources(machine, *entries)
    code, rows, _ = sync(machine)
    assert code == 1
    assert [(row["source"].rpartition("#")[2], row["status"], row["reason"]) for row in rows] == [
        ("nosuch", "failed", "has no directory nosuch"),
        (".agents", "updated", ""),
        ("../out", "failed", "../out leads out of the repository"),
        ("a.txt", "failed", "has no directory a.txt"),
        ("nested", "failed", "holds no .agents tree at nested: name one with `path`"),
    ]
    ended = machine.run("run", "shared")
    assert ended.code == 0
    assert "4 sources were never fetched" in ended.err


def test_a_ref_that_goes_away_and_a_pinned_one_leave_each_other_alone(machine, catalog):
    first = catalog.git("rev-parse", "HEAD")
    catalog.git("branch", "topic")
    entries = [{"uri": catalog.uri, "path": ".agents", **ref} for ref in ({"ref": first}, {"ref": "topic"}, {})]
    sources(machine, *entries)
    assert [row["commit"] for row in sync(machine)[1]] == [first] * 3
    catalog.git("branch", "-D", "topic")
    second = catalog.agent("shared", "You are shared, version two.")
    code, rows, _ = sync(machine)
    assert code == 1
    assert [(row["status"], row["commit"]) for row in rows] == [
        ("unchanged", first),
        ("failed", first),
        ("updated", second),
    ]
    assert "@topic" in rows[1]["source"]
    assert {health for health, _ in committed(machine).values()} == {"ok"}


@pytest.mark.parametrize("broken", ["a: [1\n", None], ids=["cut", "gone"])
def test_settings_and_a_tree_of_one_repository_stand_for_themselves(machine, catalog, broken):
    catalog.put("team.yml", "default_agent: shared\n")
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    machine.settings(f'remote_settings: [{{"uri": "{catalog.uri}", "path": "team.yml"}}]\n', under=machine.home)
    assert [row["status"] for row in sync(machine)[1]] == ["updated"] * 2
    if broken is None:
        catalog.git("rm", "-q", "team.yml")
    else:
        catalog.put("team.yml", broken)
    catalog.agent("shared", "You are shared, version two.")
    code, rows, _ = sync(machine)
    assert (code, [row["status"] for row in rows]) == (1, ["failed", "updated"])
    assert rows[0]["source"].endswith("#team.yml")
    assert "version two" in json.dumps(machine.run("run").seen["texts"])


def test_a_sync_killed_before_it_described_a_revision_is_made_good(machine, catalog):
    """The link is on a new revision, the description still names the old one, and the remote went back to that one."""
    first = catalog.git("rev-parse", "HEAD")
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    sync(machine)
    (place,) = (machine.home / ".agents/cache/sources").iterdir()
    described = (place / "state.json").read_bytes()
    catalog.agent("shared", "You are shared, version two.")
    sync(machine)
    (place / "state.json").write_bytes(described)
    catalog.git("reset", "--hard", "--quiet", first)
    assert [(row["status"], row["commit"]) for row in sync(machine)[1]] == [("updated", first)]
    assert "version one" in json.dumps(machine.run("run", "shared").seen["texts"])


def test_remote_settings_come_first_and_may_name_sources(machine, catalog, tmp_path):
    policy = Catalog(tmp_path / "policy")
    policy.put(
        "team.yml", f"state_persistence: {{unknown: error}}\nsources: [{{uri: '{catalog.uri}', path: .agents}}]\n"
    )
    sources(machine, {"uri": policy.uri, "path": "team.yml"}, key="remote_settings")
    refused = machine.run("run", "shared")
    assert refused.code == 125
    assert "outfitter sync" in refused.err
    code, rows, _ = sync(machine)
    assert (code, [row["status"] for row in rows]) == (0, ["updated", "updated"])
    assert machine.run("run", "shared", script=[["write", "odd", "1"]]).code == 121


def test_remote_settings_that_do_not_parse_are_refused(machine, catalog):
    catalog.put("team.yml", "a: [1\n")
    sources(machine, {"uri": catalog.uri, "path": "team.yml"}, key="remote_settings")
    code, rows, _ = sync(machine)
    assert (code, rows[0]["status"]) == (1, "failed")
    assert "team.yml" in rows[0]["reason"]


def test_credentials_are_shown_nowhere(machine):
    secret = "tok-0123456789"
    sources(machine, {"uri": f"http://user:{secret}@127.0.0.1:1/x.git", "path": ".agents"})
    code, rows, ended = sync(machine)
    assert (code, rows[0]["status"]) == (1, "failed")
    assert secret not in ended.out + ended.err
    assert secret not in machine.run("sources").out
    everything = "".join(str(path) for path in machine.home.rglob("*"))
    assert secret not in everything


@pytest.mark.parametrize("uri", ["--upload-pack=touch /tmp/x", "ext::sh -c touch%20/tmp/x"])
def test_an_address_that_is_a_command_is_refused(machine, uri):
    sources(machine, {"uri": uri, "path": ".agents"})
    assert sync(machine)[1][0]["status"] == "failed"


@pytest.mark.parametrize("uri", ["evil::x", "EVIL::x", "fd::0", "evil://host/x"])
def test_no_address_starts_a_transport_helper(machine, uri):
    for name in ("evil", "EVIL"):
        machine.put(machine.bin / f"git-remote-{name}", f"#!/bin/sh\ntouch {machine.top}/ran\nexit 1\n", 0o755)
    sources(machine, {"uri": uri, "path": ".agents"})
    _, (row,), _ = sync(machine)
    assert (row["status"], "not allowed" in row["reason"]) == ("failed", True)
    assert not (machine.top / "ran").exists()


@pytest.mark.parametrize(
    ("rule", "env", "status"),
    [
        ("[protocol]\nallow = never", {}, "failed"),
        ('[protocol "file"]\nallow = NEVER', {}, "failed"),
        ('[protocol]\nallow = never\n[protocol "file"]\nallow = always', {}, "updated"),
        ('[protocol "file"]\nallow = user', {"GIT_PROTOCOL_FROM_USER": "0"}, "failed"),
        ("", {"GIT_ALLOW_PROTOCOL": "https:ssh"}, "failed"),
        ("", {"GIT_ALLOW_PROTOCOL": ""}, "failed"),
        ("", {"GIT_ALLOW_PROTOCOL": "file"}, "updated"),
    ],
)
def test_a_stricter_rule_of_the_users_own_git_holds(machine, catalog, rule, env, status):
    machine.put(machine.home / ".gitconfig", rule)
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    assert sync(machine, **env)[1][0]["status"] == status


def test_what_a_killed_sync_left_beside_the_checkout_goes_at_the_next(machine, catalog):
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    sync(machine)
    (place,) = (machine.home / ".agents/cache/sources").iterdir()
    (place / ".checkout-0123456789ab").symlink_to("revisions/x")
    (place / ".0123456789ab.tmp").touch()
    sync(machine)
    assert sorted(path.name for path in place.iterdir()) == ["checkout", "lock", "revisions", "state.json"]


def test_no_hook_of_a_catalog_and_no_variable_of_another_repository_acts(machine, catalog, tmp_path):
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    code, _, _ = sync(
        machine, GIT_DIR=str(tmp_path / "elsewhere"), GIT_WORK_TREE=str(tmp_path), GIT_INDEX_FILE=str(tmp_path / "i")
    )
    assert code == 0
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "settings",
    ["[core]\nautocrlf = true\n", "[core]\neol = crlf\nattributesFile = ~/attributes\n"],
    ids=["autocrlf", "attributes"],
)
def test_a_catalog_has_its_own_bytes_whatever_the_users_line_ends_are(machine, catalog, settings):
    machine.put(machine.home / ".gitconfig", settings)
    machine.put(machine.home / "attributes", "* text eol=crlf\n")
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    assert sync(machine)[0] == 0
    assert "version one" in checkout(machine, ".agents/agents/shared/agent.md")
    assert "\r" not in checkout(machine, ".agents/agents/shared/agent.md")


def checkout(machine, path):
    (found,) = (machine.home / ".agents/cache/sources").glob(f"*/checkout/{path}")
    return found.read_bytes().decode()


def test_the_users_own_variables_reach_git_and_forbid_asking(machine, catalog):
    """A wrapper writes down its environment; what another repository set for itself does not come through."""
    real = shutil.which("git", path=GIT["PATH"])
    machine.put(machine.bin / "git", f'#!/bin/sh\nenv >>"{machine.top}/seen"\nexec {real} "$@"\n', 0o755)
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    theirs = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_TRACE2_PARENT_NAME": "me",
        "GIT_EDITOR": "ed",
    }
    code, _, _ = sync(machine, **theirs, GIT_PREFIX="x/", GIT_NAMESPACE="n", GIT_LITERAL_PATHSPECS="1")
    assert code == 0
    seen = (machine.top / "seen").read_text().splitlines()
    assert {f"{name}={value}" for name, value in theirs.items()} <= set(seen)
    assert not [line for line in seen if line.startswith(("GIT_PREFIX=", "GIT_NAMESPACE=n", "GIT_LITERAL"))]


def with_submodule(catalog, tmp_path, at=".agents/skills/s"):
    inner = Catalog(tmp_path / "inner")
    inner.put("SKILL.md", "---\nname: s\ndescription: d\n---\nFROM A SUBMODULE\n")
    catalog.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", inner.uri, at)
    catalog.put(".agents/agents/cat/agent.md", "---\nname: cat\nskills: [s]\n---\nx\n")
    return inner


def test_a_submodule_is_fetched_and_holds_nothing_of_git(machine, catalog, tmp_path):
    with_submodule(catalog, tmp_path)
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    code, (row,), _ = sync(machine)
    assert (code, row["status"], row["reason"]) == (0, "updated", "")
    assert "FROM A SUBMODULE" in checkout(machine, ".agents/skills/s/SKILL.md")
    assert "was not found" not in machine.run("run", "cat").err
    assert not list((machine.home / ".agents/cache/sources").glob("*/checkout/.agents/skills/s/.git"))
    assert sync(machine)[1][0]["status"] == "unchanged"


def test_a_submodule_that_cannot_be_fetched_is_named_and_comes_with_a_later_sync(machine, catalog, tmp_path):
    inner = with_submodule(catalog, tmp_path)
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    inner.path.rename(tmp_path / "away")
    code, (row,), _ = sync(machine)
    assert (code, row["status"]) == (0, "updated")
    assert row["reason"].startswith("submodule .agents/skills/s is missing: ")
    assert "submodule .agents/skills/s is missing" in machine.run("sync").out
    (tmp_path / "away").rename(inner.path)
    assert [(row["status"], row["reason"]) for row in sync(machine)[1]] == [("updated", "")]
    assert "FROM A SUBMODULE" in checkout(machine, ".agents/skills/s/SKILL.md")
    inner.path.rename(tmp_path / "away")
    assert [(row["status"], row["reason"]) for row in sync(machine)[1]] == [("unchanged", "")]


def test_a_submodule_outside_the_used_path_is_not_fetched(machine, catalog, tmp_path):
    with_submodule(catalog, tmp_path, at="site/theme").path.rename(tmp_path / "away")
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    assert [(row["status"], row["reason"]) for row in sync(machine)[1]] == [("updated", "")]


def test_a_filter_that_cannot_run_is_named(machine, catalog):
    machine.put(
        machine.home / ".gitconfig", '[filter "lfs"]\nprocess = git-lfs-absent filter-process\nrequired = true\n'
    )
    catalog.put(".agents/skills/s/data.bin", "x")
    catalog.put(".gitattributes", "*.bin filter=lfs\n")
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    code, (row,), _ = sync(machine)
    assert (code, row["status"]) == (1, "failed")
    assert "git-lfs-absent" in row["reason"]


def test_content_that_is_only_a_pointer_is_named(machine, catalog):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    catalog.put(".agents/skills/s/data.bin", pointer)
    catalog.put(".gitattributes", "*.bin filter=lfs\n")
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    code, (row,), _ = sync(machine)
    assert (code, row["status"]) == (0, "updated")
    assert row["reason"].startswith(".agents/skills/s/data.bin is only a Git LFS pointer")


def test_two_syncs_at_once_are_safe(machine, catalog):
    sources(machine, {"uri": catalog.uri, "path": ".agents"})
    ended = []
    threads = [threading.Thread(target=lambda: ended.append(machine.run("sync"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [done.code for done in ended] == [0] * 4
    place = next((machine.home / ".agents/cache/sources").iterdir())
    assert len([name for name in os.listdir(place / "revisions") if name.startswith("new-")]) == 0
    assert machine.run("run", "shared").code == 0


def test_a_catalog_over_a_loopback_daemon(machine, catalog):
    import socket
    import time

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        "git",
        "daemon",
        "--listen=127.0.0.1",
        f"--port={port}",
        "--export-all",
        f"--base-path={catalog.path.parent}",
        "--reuseaddr",
    ]
    daemon = subprocess.Popen(command, env=GIT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        sources(machine, {"uri": f"git://127.0.0.1:{port}/catalog", "path": ".agents"})
        assert sync(machine)[1][0]["status"] == "updated"
    finally:
        daemon.terminate()
        daemon.wait()


def test_nothing_to_fetch_says_so(machine):
    ended = machine.run("sync")
    assert (ended.code, "nothing to fetch" in ended.out) == (0, True)
