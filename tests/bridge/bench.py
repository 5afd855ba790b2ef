"""A run without a harness: a real projection over a real home, which a test writes in as a harness would, and then settles."""

import os
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from attrs import evolve

from outfitter.adapters.claude.state import REGISTRIES, TABLE, seeded_state
from outfitter.adapters.pi.state import SCRATCH as PI_SCRATCH
from outfitter.adapters.pi.state import TABLE as PI_TABLE
from outfitter.bridge.durable import real_durable
from outfitter.edges.console import Console
from outfitter.edges.real import real_host
from outfitter.fingerprint.scan import TREES
from outfitter.host import Terminal
from outfitter.model.outcome import Snapshot
from outfitter.model.projection import Bridge, Generated, Record, Seed, State
from outfitter.model.request import Ambient
from outfitter.model.settings import Settings
from outfitter.railway import fold, perform
from outfitter.run.materialize import ProjectionBuilder, durable_targets
from outfitter.run.projecting import projecting
from stages.bridge import bridge
from stages.diff import diff
from stages.fingerprint_again import fingerprint_again
from tests.effects import fake


def _no_flush(descriptor):
    return None


class Bench:
    """One run over `top`/home. `handlings` overrides strategies by key, `generated` maps projection paths to bytes."""

    def __init__(self, top, harness="claude", handlings=None, generated=None, **options):
        self.top = Path(top).resolve()
        self.home, self.tmp = self.top / "home", self.top / "tmp"
        self.project = self.home / "p"
        for folder in (self.project, self.tmp):
            folder.mkdir(parents=True, exist_ok=True)
        self.native = self.home / (".claude" if harness == "claude" else ".pi/agent")
        self.harness = harness
        self.handlings: Mapping[str, Any] = handlings or {}
        self.generated = generated or {}
        self.options = options
        self.answers: list[str] = []
        self.questions: list[str] = []
        self.slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(self.project))
        self.number = self.options.pop("number", 0)

    # ---------------------------------------------------------------- before

    def put(self, path, content=b"", mode=0o644):
        """A file in the home (or at an absolute path), older than any launch."""
        path = self.home / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    def history(self, name="s1.jsonl", content=b'{"n":1}\n', slug=None):
        return self.put(self.native / "projects" / (slug or self.slug) / name, content)

    def age(self):
        """Let every file made so far be older than the launch that follows: ctime cannot be set, so wait it out."""
        time.sleep(0.045)
        return self

    def launch(self):
        """Make the projection and its baseline, as a launch does before it starts the harness."""
        self.number += 1
        root = self.tmp / f"outfitter-a-{self.harness}-{self.number:08}"
        root.mkdir(mode=0o700)
        self.root, self.projection = root, root / "projection"
        status = root.stat()
        states, bridges, seeds = self._claude() if self.harness == "claude" else self._pi()
        generated = dict(self.generated)
        account = self._seed_account(generated) if self.harness == "claude" else ""
        bridges = tuple(b._replace(seeded=account) if b.rule == "member" else b for b in bridges)
        self.record = Record(
            run_id=f"run-{self.number}",
            agent="a",
            harness=self.harness,
            root=str(root),
            device=status.st_dev,
            inode=status.st_ino,
            uid=os.geteuid(),
            started_ns=time.time_ns(),
            plan_digest="",
            strict=False,
            retained=False,
            project_root=str(self.project),
            home=str(self.home),
            native=str(self.native),
            cache=str(self.home / ".agents/cache"),
            states=states,
            unknown=self.handlings.get("unknown", "warn"),
            bridges=bridges,
            generated=tuple(sorted(generated)),
            interactive=bool(self.options.get("interactive")),
        )
        effects = projecting(self.ambient)
        builder = ProjectionBuilder(effects, self.record)
        effects.make_directory(str(self.projection))
        written = tuple(Generated(path, content) for path, content in generated.items())
        builder.write_plan(SimpleNamespace(generated=written, copied=()))
        targets = fold(durable_targets(effects, self.record), lambda value: value, self._fail)
        builder.place_states(targets)
        builder.plant_seeds(seeds)
        projected = builder.projected()
        tree = TREES.scan(str(self.projection), projected.rows, 0, True)
        self.baseline = Snapshot(tree, projected.durable)
        return self

    @property
    def ambient(self):
        return Ambient(
            cwd=str(self.project),
            home=str(self.home),
            temp_root=str(self.tmp),
            state_root=str(self.state),
            env={},
            stdin_tty=False,
            stdout_tty=False,
            stderr_tty=False,
            now_ns=time.time_ns(),
            uid=os.geteuid(),
            platform="linux",
        )

    @property
    def state(self):
        return self.home / ".local/state/outfitter"

    def _fail(self, error):
        raise AssertionError(error)

    def _state(self, key, allowed=("symlink", "warn", "error", "prompt"), durable="", **more):
        handling = self.handlings.get(key, "symlink")
        if key in self.generated:
            handling = {"symlink": "discard", "prompt": "warn"}.get(handling, handling)
        path = durable or str(self.native / key.rstrip("/"))
        create = b"{}" if key.endswith(".json") else b""
        return State(
            key, handling, path, self.options.get("scope", "default"), "", "plain", allowed, create=create, **more
        )

    def _claude(self):
        states = [self._state(key, allowed) for key, allowed in TABLE]
        bridged = self.handlings.get("projects/", "symlink") == "symlink"
        states = [s._replace(handling="bridge") if s.key == "projects/" and bridged else s for s in states]
        native, place = str(self.native), str(self.home / ".claude.json")
        bridges = [
            Bridge("credentials", ".credentials.json", f"{native}/.credentials.json"),
            Bridge("member", ".claude.json", place, member="oauthAccount", lock=place + ".lock"),
        ]
        seeds = [Seed(f"{native}/.credentials.json", ".credentials.json")]
        if bridged:
            bridges.append(Bridge("sessions", "projects/", f"{native}/projects/"))
            seeds.append(Seed(f"{native}/projects/{self.slug}/", f"projects/{self.slug}/"))
        bridges.append(Bridge("rewrite", "plugins/", f"{native}/plugins/", members=REGISTRIES))
        named = [State(b.path, "bridge", b.durable, "default", "", "default", ()) for b in bridges[:2]]
        scratch = [State("backups/", "discard", "", "default", "", "default", (), scratch=True)]
        return (*states, *named, *scratch), tuple(bridges), tuple(seeds)

    def _pi(self):
        states = [self._state(key, allowed) for key, allowed in PI_TABLE]
        scratch = [State(key, "discard", "", "default", "", "default", (), scratch=True) for key in PI_SCRATCH]
        return (*states, *scratch), (), ()

    def _seed_account(self, generated):
        path = self.home / ".claude.json"
        seeded = seeded_state(str(path), path.read_bytes() if path.exists() else None, str(self.project))
        if seeded.content is not None:
            generated[".claude.json"] = seeded.content
        return seeded.account

    # ---------------------------------------------------------------- while the harness runs

    def write(self, path, content=b"x", append=False):
        """Write in the projection, through links as a program would."""
        place = self.projection / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "ab" if append else "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return place

    def replace(self, path, content=b"x"):
        """Save the way programs do: a temporary beside it, renamed over whatever is there."""
        temporary = self.write(str(path) + ".tmp-test", content)
        os.replace(temporary, self.projection / path)

    def delete(self, path):
        place = self.projection / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    # ---------------------------------------------------------------- after

    def host(self, flush=_no_flush):
        host = real_host(self.ambient, Console(False, False))
        terminal = fake(
            Terminal, say=lambda _: None, ask=self._ask, progress=lambda _: lambda _, __: None, saving=lambda: None
        )
        return evolve(host, durable=real_durable(str(self.state), flush), terminal=terminal)

    def _ask(self, question):
        self.questions.append(question)
        answer = self.answers.pop(0)
        return ("discard", answer) if answer not in ("persist", "discard", "always") else (answer, "")

    def settings(self, *scopes):
        """Settings of the given scopes, highest first."""
        return Settings({}, {}, {}, tuple(scopes))

    def settle(self, settings=None, host=None):
        """Diff and bridge, as after a harness that ended in any way."""
        host = host or self.host()
        self.actual = self._get(perform(fingerprint_again(host.trees, host.durable, self.record, self.baseline)))
        changes = self._get(diff(self.record, self.baseline, self.actual))
        self.settlement = self._get(
            perform(bridge(host.settling(), settings, self.record, self.baseline, self.actual, changes))
        )
        return self.settlement

    def _get(self, outcome):
        return fold(outcome, lambda value: value, self._fail)

    @property
    def changes(self):
        return {change.path: change for change in self.settlement.changes}

    def outcome(self, path):
        return self.changes[path].outcome

    @property
    def told(self):
        return "\n".join(f"{n.level}: {n.message}" for n in self.settlement.notices)

    def warnings(self, *words):
        return [n for n in self.settlement.notices if n.level != "notice" and all(w in n.message for w in words)]

    def kept(self):
        """{content: index text} of everything under `conflicts/`."""
        root = self.state / "conflicts"
        files = [p for p in root.rglob("*") if p.is_file() and p.suffix != ".json"] if root.exists() else []
        return {p.read_bytes(): Path(f"{p}.json").read_text() for p in files}

    def durable_tree(self, root=None):
        """{relative path: (mode, bytes)} of every regular file under the native directory."""
        found = {}
        for path in sorted(Path(root or self.native).rglob("*")):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                found[str(path.relative_to(root or self.native))] = (stat.S_IMODE(status.st_mode), path.read_bytes())
        return found

    def temporaries(self):
        """Temporary files of ours that were left beside durable ones."""
        return [str(path) for path in self.home.rglob(".outfitter-*")]
