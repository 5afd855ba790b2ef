"""The user stories of seed 001, each with its settings as written there, through the real command."""

import json

import pytest

from tests.machine import Machine
from tests.sync.test_sync import Catalog

LOGIN = """\
state_persistence:
  auth.json: symlink # Keep provider login/auth metadata durable.
  models.json: symlink # Keep discovered/configured model metadata durable.
"""
CATALOG = """\
state_persistence:
  mcp.json: symlink # Keep intentional tool/server config durable.
  unknown: warn # Report unexpected writes instead of silently sharing them.
"""
CI = """\
state_persistence:
  settings.json: error # Settings drift means the composition is incomplete.
  mcp.json: error # Tool config drift should fail the job.
  plugins/: error # Plugin installs/updates should be explicit in the tree.
  unknown: error # Any undeclared write is a reproducibility problem.
"""
CLIENTS = """\
state_persistence:
  sessions/: discard # Throw away conversation/session state after the run.
  cache/: discard # Throw away cache data tied to this run.
  tmp/: discard # Throw away temporary runtime artifacts.
  unknown: warn # Still report surprising writes for investigation.
"""
EXPERIMENT = """\
state_persistence:
  plugins/: warn # Allow plugin changes, but do not persist silently.
  unknown: warn # Surface other writes that may need a policy.
"""


def native(machine, name):
    return machine.home / ".pi/agent" / name


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


class TestKeepLoginWorking:
    @pytest.mark.parametrize("verb", ["write", "swap"])
    def test_the_next_launch_remembers_the_login(self, machine, verb):
        """Whether the harness writes through the link or renames a new file over it."""
        machine.agent("a")
        machine.settings(LOGIN)
        login, models = '{"anthropic": {"type": "oauth"}}', '{"providers": {}}'
        first = machine.run("run", "a", script=[[verb, "auth.json", login], [verb, "models.json", models]])
        assert (first.code, first.err) == (0, "")
        assert (native(machine, "auth.json").read_text(), native(machine, "models.json").read_text()) == (login, models)
        second = machine.run("run", "a", script=[["run", 'cp "$PI_CODING_AGENT_DIR/auth.json" ~/seen']])
        assert (second.code, second.err) == (0, "")
        assert (machine.home / "seen").read_text() == login
        assert second.seen["entries"]["auth.json"]["link"] == str(native(machine, "auth.json"))

    def test_in_another_project_and_in_the_program_itself_too(self, machine):
        machine.agent("a", under=machine.home)
        machine.settings(LOGIN, under=machine.home)
        machine.run("run", "a", script=[["write", "auth.json", '{"x": {}}']])
        other = machine.top / "other"
        other.mkdir()
        machine.run("run", "a", cwd=other, script=[["run", 'cp "$PI_CODING_AGENT_DIR/auth.json" ~/seen']])
        assert (machine.home / "seen").read_text() == native(machine, "auth.json").read_text() == '{"x": {}}'

    def test_with_an_isolated_claude_too(self, machine):
        machine.agent("a")
        login = '{"claudeAiOauth": {"accessToken": "1", "refreshToken": "2"}}'
        words = ("run", "a", "--harness", "claude", "--isolated")
        first = machine.run(*words, script=[["write", ".credentials.json", login]])
        assert (first.code, first.err) == (0, "")
        assert (machine.home / ".claude/.credentials.json").read_text() == login
        assert machine.run(*words).seen["entries"][".credentials.json"]["text"] == login


class TestKeepSharedCatalogsClean:
    @pytest.fixture
    def catalog(self, tmp_path):
        made = Catalog(tmp_path / "catalog")
        made.put(".agents/mcp.json", json.dumps({"mcpServers": {"tracker": {"command": "tracker", "args": ["serve"]}}}))
        made.put(".agents/agents/reviewer/agent.md", "---\nname: reviewer\nmcp: [tracker]\n---\nYou review.\n")
        made.put(".agents/agents/plain/agent.md", "---\nname: plain\n---\nYou write.\n")
        return made

    @pytest.fixture
    def member(self, machine, catalog):
        sources = json.dumps([{"uri": catalog.uri, "path": ".agents"}])
        machine.settings(f"sources: {sources}\n{CATALOG}", under=machine.home)
        assert machine.run("sync").code == 0
        return machine

    def test_servers_come_from_the_catalog_and_random_files_never_reach_it(self, member, catalog):
        cached = member.home / ".agents/cache/sources"
        before, head = member.tree(cached), catalog.git("rev-parse", "HEAD")
        assert before
        script = [["write", "odd/notes.txt", "x"], ["swap", "trust.json", "{}"], ["write", "skills/own/SKILL.md", "x"]]
        ended = member.run("run", "reviewer", script=script)
        servers = json.loads(ended.seen["entries"]["mcp.json"]["text"])["mcpServers"]
        assert servers["tracker"]["command"] == "tracker"
        assert ended.code == 0
        assert "odd/notes.txt" in ended.err
        assert "undeclared writes" in ended.err
        assert member.tree(cached) == before
        assert (catalog.git("status", "--porcelain"), catalog.git("rev-parse", "HEAD")) == ("", head)
        assert [
            path for path in files(member.home) if path.name in ("notes.txt", "SKILL.md") and ".pi" in path.parts
        ] == []

    def test_what_a_member_keeps_is_that_members_own(self, member, catalog, tmp_path):
        ended = member.run("run", "plain", script=[["write", "mcp.json", '{"mcpServers": {"mine": {"command": "m"}}}']])
        assert (ended.code, ended.err) == (0, "")
        assert "mine" in native(member, "mcp.json").read_text()
        (tmp_path / "second").mkdir()
        second = Machine(tmp_path / "second")
        try:
            sources = json.dumps([{"uri": catalog.uri, "path": ".agents"}])
            second.settings(f"sources: {sources}\n{CATALOG}", under=second.home)
            assert second.run("sync").code == 0
            started = second.run("run", "plain", script=[["run", 'cat "$PI_CODING_AGENT_DIR/mcp.json" > ~/seen']])
            assert "mine" not in (second.home / "seen").read_text()
            assert started.code == 0
        finally:
            second.close()

    def test_a_choice_made_at_a_prompt_is_never_written_into_the_catalog(self, machine, catalog):
        """Settings that come from a repository: the checkout of them is as clean after `always` as before."""
        catalog.put("settings.yml", "state_persistence: {mcp.json: prompt}\n")
        machine.settings(f"remote_settings: {json.dumps([{'uri': catalog.uri, 'path': 'settings.yml'}])}\n")
        assert machine.run("sync").code == 0
        machine.agent("a")
        before = machine.tree(machine.home / ".agents/cache/sources")
        ended = machine.run("run", "a", script=[["write", "mcp.json", "{}"]])
        assert "prompt skipped: non-interactive" in ended.err
        assert machine.tree(machine.home / ".agents/cache/sources") == before
        assert catalog.git("status", "--porcelain") == ""


class TestMakeCiReproducible:
    @pytest.fixture
    def ci(self, machine):
        machine.agent("task", "Do the task.")
        machine.settings(f"default_agent: task\n{CI}")
        return machine

    def test_a_complete_composition_passes_again_and_again(self, ci):
        for _ in range(2):
            ended = ci.run("run", "--strict", script=[["write", "sessions/s.jsonl", "{}\n"], ["say", "done"]])
            assert (ended.code, ended.out, ended.err) == (0, "done\n", "")

    @pytest.mark.parametrize("path", ["settings.json", "mcp.json", "plugins/new/plugin.json", "surprise.txt"])
    def test_each_kind_of_drift_fails_the_job_and_is_named(self, ci, path):
        ended = ci.run("run", script=[["write", path, '{"drift": true}']])
        assert ended.code == 121
        assert path in ended.err
        assert not native(ci, path).exists() or "drift" not in native(ci, path).read_text()
        assert ci.run("run").code == 0

    def test_changing_what_was_there_fails_as_well_and_leaves_it(self, ci):
        ci.put(native(ci, "settings.json"), '{"theme": "dark"}')
        assert ci.run("run", script=[["swap", "settings.json", '{"theme": "light"}']]).code == 121
        assert native(ci, "settings.json").read_text() == '{"theme": "dark"}'

    def test_a_failing_task_keeps_its_own_code_and_drift_is_still_told(self, ci):
        ended = ci.run("run", script=[["write", "surprise.txt", "x"], ["exit", 3]])
        assert ended.code == 3
        assert "surprise.txt" in ended.err

    def test_the_same_tree_is_the_same_plan_on_every_machine(self, ci, tmp_path):
        (tmp_path / "second").mkdir()
        second = Machine(tmp_path / "second")
        try:
            second.agent("task", "Do the task.")
            second.settings(f"default_agent: task\n{CI}")
            second.put(second.home / ".pi/agent/settings.json", '{"theme": "light"}')
            plans = [json.loads(one.run("run", "--dry-run", "--json").out) for one in (ci, second)]
        finally:
            second.close()
        assert plans[0]["plan_digest"] == plans[1]["plan_digest"]

    def test_the_evidence_says_what_failed(self, ci):
        ci.run("run", "--out", "out", script=[["write", "surprise.txt", "x"]])
        result = json.loads((ci.project / "out/result/final_result.json").read_text())
        assert result["verdict"] == "veto"
        assert ci.run("evidence", "verify", "out").code == 0


class TestAvoidCrossProjectLeakage:
    @pytest.fixture
    def consultant(self, machine):
        machine.agent("a", under=machine.home)
        machine.settings(CLIENTS, under=machine.home)
        for name in ("client-a", "client-b"):
            (machine.top / name / ".git").mkdir(parents=True)
        return machine

    def test_nothing_of_one_client_shows_up_at_another(self, consultant):
        one, two = consultant.top / "client-a", consultant.top / "client-b"
        left = [["write", f"{folder}/secret-of-a.txt", "A's"] for folder in ("sessions", "cache", "tmp")]
        first = consultant.run("run", "a", cwd=one, script=[*left, ["write", "odd.txt", "A's"]])
        assert first.code == 0
        assert "odd.txt" in first.err
        assert "secret-of-a" not in first.err
        second = consultant.run("run", "a", cwd=two)
        assert second.code == 0
        assert "secret-of-a" not in json.dumps(second.seen["entries"])
        assert [path for path in files(consultant.top) if path.name in ("secret-of-a.txt", "odd.txt")] == []

    def test_sessions_stay_in_the_run_directory(self, consultant):
        """The default session directory gives way to the strategy (seed 001, "Stories")."""
        script = [
            [
                "run",
                'd=${PI_CODING_AGENT_SESSION_DIR:-$PI_CODING_AGENT_DIR/sessions}; mkdir -p "$d"; echo A > "$d/s.jsonl"',
            ]
        ]
        assert consultant.run("run", "a", cwd=consultant.top / "client-a", script=script).code == 0
        assert [path for path in files(consultant.home) if path.name == "s.jsonl"] == []

    def test_an_isolated_claude_sees_the_history_of_its_own_project_alone(self, consultant):
        one, two = consultant.top / "client-a", consultant.top / "client-b"
        for place in (one, two):
            consultant.put(consultant.home / f".claude/projects/{consultant.slug(place)}/s.jsonl", f'"{place.name}"\n')
        ended = consultant.run("run", "a", "--harness", "claude", "--isolated", cwd=two)
        assert consultant.slug(one) not in json.dumps(ended.seen["entries"])
        assert f"projects/{consultant.slug(two)}/s.jsonl" in ended.seen["entries"]


class TestExperimentWithoutLosingVisibility:
    @pytest.fixture
    def engineer(self, machine):
        machine.agent("a")
        machine.settings(EXPERIMENT)
        return machine

    def test_the_experiment_runs_and_is_reported_but_not_kept(self, engineer):
        script = [["write", "plugins/new/plugin.json", "{}"], ["write", "node/x.js", "1"], ["say", "worked"]]
        ended = engineer.run("run", "a", script=script)
        assert (ended.code, ended.out) == (0, "worked\n")
        assert "plugins/new/plugin.json" in ended.err
        assert "node/x.js" in ended.err
        assert not native(engineer, "plugins/new").exists()
        assert engineer.run_directories() == []
        assert engineer.run("run", "a", "--strict", script=script).code == 121

    def test_a_retained_run_can_be_looked_at_and_made_durable_later(self, engineer):
        script = [["write", "plugins/new/plugin.json", '{"name": "new"}']]
        ended = engineer.run("run", "a", "--retain-projection", script=script)
        (kept,) = engineer.run_directories()
        assert f"projection retained: {kept}" in ended.err
        changes = json.loads(engineer.run("diff", "--json").out)["changes"]
        assert ("plugins/new/plugin.json", "warned") in [(row["path"], row["outcome"]) for row in changes]
        assert (kept / "projection/plugins/new/plugin.json").read_text() == '{"name": "new"}'
        engineer.settings("state_persistence: {plugins/: symlink}\n", local=True)
        later = engineer.run("run", "a", script=script)
        assert (later.code, later.err) == (0, "")
        assert native(engineer, "plugins/new/plugin.json").read_text() == '{"name": "new"}'
