"""The session merge against a dict: agents, a user and killed launchers at once, and nothing is ever deleted or lost (spec/50)."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.bridge.bench import Bench

PATHS = st.sampled_from(["a.jsonl", "b.jsonl", "d/c.jsonl", "d/e/f.txt"])
LINES = st.sampled_from([b"1\n", b"2\n", b"3\n"])
CONTENTS = st.one_of(st.just(b""), LINES, st.lists(LINES, min_size=2, max_size=3).map(b"".join))
LAUNCHERS = st.sampled_from([0, 1])
KILLED = 9


class Sessions(RuleBasedStateMachine):
    """`durable` is the model of the native folder; `running` of each launcher: what was seeded, and what its agent made of it."""

    def __init__(self):
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="sessions-"))
        self.durable: dict[str, bytes] = {}
        self.running: dict[int, tuple[Bench, dict[str, bytes], dict[str, bytes]]] = {}
        self.launches = 0

    def teardown(self):
        shutil.rmtree(self.top)

    @initialize(contents=st.dictionaries(PATHS, CONTENTS))
    def a_history(self, contents):
        for path, content in contents.items():
            self.user_writes(path, content)

    @rule(path=PATHS, content=CONTENTS)
    def user_writes(self, path, content):
        place = self.native() / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        self.durable[path] = content

    @rule(path=PATHS, line=LINES)
    def user_appends(self, path, line):
        if path in self.durable:
            with open(self.native() / path, "ab") as file:
                file.write(line)
            self.durable[path] += line

    @rule(path=PATHS)
    def user_deletes(self, path):
        if self.durable.pop(path, None) is not None:
            (self.native() / path).unlink()

    @rule(launcher=LAUNCHERS)
    def launches_or_not(self, launcher):
        if launcher not in self.running:
            self.launches += 1
            bench = Bench(self.top, number=self.launches).launch()
            self.running[launcher] = bench, dict(self.durable), dict(self.durable)

    @rule(launcher=LAUNCHERS, path=PATHS, content=CONTENTS)
    def agent_writes(self, launcher, path, content):
        if launcher in self.running:
            bench, _, projected = self.running[launcher]
            bench.write(f"projects/{bench.slug}/{path}", content)
            projected[path] = content

    @rule(launcher=LAUNCHERS, path=PATHS, line=LINES)
    def agent_appends(self, launcher, path, line):
        if launcher in self.running:
            bench, _, projected = self.running[launcher]
            bench.write(f"projects/{bench.slug}/{path}", line, append=True)
            projected[path] = projected.get(path, b"") + line

    @rule(launcher=LAUNCHERS, path=PATHS)
    def agent_deletes(self, launcher, path):
        if launcher in self.running and self.running[launcher][2].pop(path, None) is not None:
            bench = self.running[launcher][0]
            bench.delete(f"projects/{bench.slug}/{path}")

    @rule(launcher=LAUNCHERS, again=st.booleans())
    def settles(self, launcher, again):
        if launcher in self.running:
            bench, seeded, projected = self.running[launcher]
            bench.settle()
            self.check_merge(bench, seeded, projected)
            if again:
                stats = {path: (self.native() / path).stat() for path in self.durable}
                bench.settle()
                assert stats == {path: (self.native() / path).stat() for path in self.durable}
            del self.running[launcher]

    @precondition(lambda self: self.running)
    @rule(launcher=LAUNCHERS, effect=st.integers(0, 8), after=st.booleans())
    def is_killed_while_settling_and_recovered(self, launcher, effect, after):
        if launcher in self.running:
            bench, seeded, projected = self.running.pop(launcher)
            before = self.listing()
            _killed_at(bench, effect, after)
            now = self.listing()
            assert before.keys() <= now.keys()
            assert all(now[path] in (before.get(path), projected.get(path)) for path in now), "half-written"
            bench.settle()
            self.check_merge(bench, seeded, projected)
            assert bench.temporaries() == [], "left by the killed launcher"

    def check_merge(self, bench, seeded, projected):
        """What is durable now is what was, or what this run derived from exactly that; what is not durable is kept."""
        before, now = self.durable, self.listing()
        kept = bench.kept()
        for path in before.keys() | now.keys() | projected.keys():
            s, p, d = seeded.get(path), projected.get(path), before.get(path)
            if now.get(path) != d:
                assert (p, s) == (now.get(path), d)
                assert p is not None
            if p is not None and p not in (s, now.get(path)):
                assert p in kept, f"{path} is lost"
            cut = path.endswith(".jsonl") and s is not None and p is not None and len(p) < len(s) and s.startswith(p)
            if p not in (None, s) and s == d and not cut:
                assert now[path] == p, "a change of the run alone is carried over"
        self.durable = now

    def native(self):
        slug = "".join(c if c.isalnum() else "-" for c in str(self.top.resolve() / "home/p"))
        return self.top.resolve() / "home/.claude/projects" / slug

    def listing(self):
        root = self.native()
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and not path.name.startswith(".outfitter-")
        }

    @invariant()
    def the_durable_side_is_the_model(self):
        assert self.listing() == self.durable


def _killed_at(bench, effect, after):
    """Settle in a child that dies like one that was killed, at the effect of that number, before or after it."""
    pid = os.fork()
    if pid == 0:
        left = [effect]

        def deadly(real):
            def call(*args, **kwargs):
                left[0] -= 1
                if left[0] < 0 and not after:
                    os._exit(KILLED)
                result = real(*args, **kwargs)
                if left[0] < 0:
                    os._exit(KILLED)
                return result

            return call

        try:
            for name in ("link", "replace", "fchmod", "unlink"):
                setattr(os, name, deadly(getattr(os, name)))
            bench.settle()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


TestSessions = Sessions.TestCase
