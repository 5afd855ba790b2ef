"""Whole launches in this process, with a scripted stand-in for the harness: what faults are injected into.

Everything is real but the harness, its `--help` and the flush (real flushes have tests of their own).
"""

import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from attrs import evolve
from returns.result import Failure, Success

from outfitter.bridge.durable import real_durable
from outfitter.edges.console import Console
from outfitter.edges.environment import ambient
from outfitter.edges.real import real_host
from outfitter.host import Host, Processes, Sources
from outfitter.model.outcome import ChildExit
from outfitter.model.request import Request
from outfitter.pipeline import launch
from outfitter.railway import perform
from outfitter.recovery import recover, sweep
from tests.effects import fake
from tests.harnesses import standin

LOGIN = {"claudeAiOauth": {"accessToken": "old", "refreshToken": "r", "expiresAt": 9999999999999}}
NEW_LOGIN = {"claudeAiOauth": {"accessToken": "new", "refreshToken": "s", "expiresAt": 9999999999999}}
ACCOUNT = {"numStartups": 12345678901234567890, "oauthAccount": {"email": "a@x"}, "hasCompletedOnboarding": True}


class Place(NamedTuple):
    """A throw-away machine on disk."""

    top: Path

    @property
    def home(self):
        return self.top / "home"

    @property
    def tmp(self):
        return self.top / "tmp"

    @property
    def project(self):
        return self.top / "project"

    @property
    def journals(self):
        return self.home / ".local/state/outfitter/runs"

    @property
    def slug(self):
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in str(self.project))

    @property
    def ran(self):
        """Whether the stand-in came to the end of its script."""
        return (self.top / "ran").exists()

    def put(self, path, text="", mode=0o644):
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    def durable(self) -> dict[str, tuple[int, bytes]]:
        """Every durable file by path: mode and bytes. Caches and our own state are not durable state of a harness."""
        found = {}
        for folder, folders, files in os.walk(self.home):
            if Path(folder) == self.home:
                folders[:] = [name for name in folders if name not in (".local", ".agents")]
            for name in files:
                path = Path(folder, name)
                found[str(path.relative_to(self.home))] = (stat.S_IMODE(path.lstat().st_mode), path.read_bytes())
        return found

    def leftovers(self):
        """Run directories, journals and temporaries of ours, wherever they are."""
        ours = [*self.tmp.glob("outfitter-*"), *self.journals.glob("*.json"), *self.journals.glob(".*.tmp")]
        return sorted(
            str(path.relative_to(self.top))
            for path in [*ours, *self.home.rglob(".outfitter-*.tmp"), *self.home.rglob("*.lock")]
        )

    def kept(self):
        """Every content under `conflicts/` and in run directories that were left."""
        roots = [self.home / ".local/state/outfitter/conflicts", *self.tmp.glob("outfitter-*/projection")]
        return [
            path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file() and not path.is_symlink()
        ]


class Scene(NamedTuple):
    """A kind of launch: the harness, the durable state before, and what the harness does."""

    harness: str
    isolated: bool
    before: Callable[[Place], None]
    script: Callable[[Place], list[list[Any]]]
    variable: str


def _pi_before(place):
    place.put(place.home / ".pi/agent/settings.json", '{"theme":"old"}', 0o640)
    place.put(place.home / ".pi/agent/auth.json", '{"key":"old"}', 0o600)
    place.put(place.home / ".pi/agent/plugins/p/one", "1")
    place.put(place.home / "dot/models.json", '{"providers":{}}')
    (place.home / ".pi/agent/models.json").symlink_to("../../dot/models.json")


def _pi_script(_place):
    return [
        ["write", "auth.json", '{"key":"new"}'],
        ["swap", "settings.json", '{"theme":"new"}'],
        ["swap", "mcp.json", '{"mcpServers":{}}'],
        ["remove", "plugins"],
        ["write", "plugins/p/one", "1"],
        ["write", "plugins/p/two", "2"],
        ["write", "unknown.txt", "u"],
        ["write", "deep/er/unknown.txt", "u"],
    ]


def _claude_before(place):
    native = place.home / ".claude"
    for name in ("s1", "s2", "s3"):
        place.put(native / f"projects/{place.slug}/{name}.jsonl", f'{{"session":"{name}"}}\n' * 50, 0o600)
    place.put(native / "projects/-other/s.jsonl", "other project\n", 0o600)
    place.put(native / ".credentials.json", json.dumps(LOGIN), 0o600)
    place.put(place.home / ".claude.json", json.dumps(ACCOUNT), 0o600)
    place.put(native / "settings.json", '{"theme":"old"}', 0o640)
    place.put(native / "skills/native/SKILL.md", "n")
    place.put(native / "plugins/installed_plugins.json", "{}")


def _claude_script(place):
    slug = f"projects/{place.slug}"
    return [
        ["append", f"{slug}/s1.jsonl", '{"more":1}\n'],
        ["write", f"{slug}/s4.jsonl", '{"session":"s4"}\n'],
        ["write", f"{slug}/s4/subagents/agent-a.jsonl", '{"a":1}\n'],
        ["remove", f"{slug}/s2.jsonl"],
        ["swap", ".credentials.json", json.dumps(NEW_LOGIN)],
        ["swap", ".claude.json", json.dumps({"oauthAccount": {"email": "b@x"}, "tipsHistory": {}})],
        ["swap", "settings.json", '{"theme":"new"}'],
        ["write", "skills/added/SKILL.md", "s"],
        ["write", "plugins/data/x", "1"],
        ["write", "unknown.txt", "u"],
    ]


SCENES = {
    "pi": Scene("pi", False, _pi_before, _pi_script, "PI_CODING_AGENT_DIR"),
    "claude": Scene("claude", True, _claude_before, _claude_script, "CLAUDE_CONFIG_DIR"),
}


def make(top: Path, scene: Scene) -> Place:
    """A fresh machine with the scene's durable state. Always of the same name, so that folder names built from it are."""
    place = Place(top)
    for name in ("home", "tmp", "project/.git", "bin"):
        (top / name).mkdir(parents=True)
    place.put(top / "bin" / scene.harness, f"#!{sys.executable}\n", 0o755)
    place.put(place.project / ".agents/agents/a/agent.md", "---\nname: a\nskills: [one]\n---\n\nYou are A.\n")
    place.put(place.project / ".agents/skills/one/SKILL.md", "---\nname: one\ndescription: One.\n---\n\nOne.\n")
    scene.before(place)
    return place


def host_of(
    place: Place, scene: Scene, script: list[list[Any]] | None = None, inside: Callable[[], None] = lambda: None
):
    """A real host whose harness is a script in this process. `inside` is told when the script begins and when it ends."""
    env = {"HOME": str(place.home), "PATH": str(place.top / "bin"), "TMPDIR": str(place.tmp)}
    here = evolve(ambient(env), cwd=str(place.project), stdin_tty=False, stdout_tty=False, stderr_tty=False)
    steps = scene.script(place) if script is None else script

    def run(plan, _token, meanwhile):
        meanwhile()
        inside()
        for verb, *rest in steps:
            standin.step(plan.env_set[scene.variable], verb, rest)
        (place.top / "ran").touch()
        inside()
        return Success(ChildExit(0))

    real = real_host(here, Console(False, False, quiet=True))
    return here, evolve(
        real,
        sources=fake(Sources, real.sources, probe=lambda _program, _words, _path: standin.HELP),
        durable=real_durable(here.state_root, lambda _descriptor: None),
        processes=fake(Processes, run=run),
    )


def go(place: Place, scene: Scene, wrap: Callable[[Host], Host] = lambda host: host, **how: Any):
    """One launch as the command makes it: recovery, sweep, launch. Gives the report, or the error."""
    here, host = host_of(place, scene, **how)
    host = wrap(host)
    request = Request(here, "a", scene.harness, isolated=scene.isolated)
    recovered = recover(host, here).map(lambda _: sweep(host, here))
    outcome = perform(recovered.bind(lambda _: launch(host, request)))
    return outcome.failure() if isinstance(outcome, Failure) else outcome.unwrap()


def finish(place: Place, scene: Scene):
    """What the next start does: recovery of everything, the given-up runs among it, then a launch in which nothing happens."""
    age_temporaries(place)
    here, host = host_of(place, scene)
    perform(recover(host, here, unsaved=True))
    (place.top / "ran").unlink(missing_ok=True)
    return go(place, scene, script=[])


def age_temporaries(place: Place):
    """A journal's own temporary, and a journal whose directory was not made yet, are swept once they are an hour old."""
    then = time.time() - 2 * 3600
    for path in place.journals.glob("*.json"):
        record = json.loads(path.read_text())
        if not record["inode"]:
            path.write_text(json.dumps({**record, "started_ns": int(then * 10**9)}))
    for path in place.journals.glob(".*.tmp"):
        os.utime(path, (then, then))
