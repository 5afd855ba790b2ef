"""The life of projections as a state machine: launches, kills, refusals, concurrent edits, recovery, retention, the sweep (spec/50).

The model follows one durable file. It may change only by a user's edit, or to what a run wrote over exactly what that run was
given; and whatever a harness wrote is durable, was durable, is kept, or lies in a run directory that still exists.
"""

import shutil
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from outfitter.model.projection import Report
from outfitter.model.request import Request
from outfitter.pipeline import launch
from outfitter.railway import perform
from outfitter.recovery import recover, sweep
from tests.machines.failing import Killed, failing
from tests.machines.launching import SCENES, age_temporaries, go, host_of, make
from tests.machines.test_faults import at, descriptors_restored, kill_after, kill_before, refuse

SCENE = SCENES["pi"]
WEEK_NS = 7 * 86_400 * 10**9
NAME = "settings.json"


class Life(RuleBasedStateMachine):
    """One home, one temporary root, and the durable `settings.json` of Pi."""

    def __init__(self):
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="life-")).resolve()
        (self.top / "m").mkdir()
        self.place = make(self.top / "m", SCENE)
        self.file = self.place.home / ".pi/agent" / NAME
        self.count = 0
        self.now = self.file.read_text()
        self.ever = {self.now}
        self.steps: set[tuple[str, str]] = set()
        self.wrote: set[str] = set()
        self.retained: set[str] = set()

    def teardown(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def fresh(self, who):
        self.count += 1
        return f'{{"by":"{who}","n":{self.count}}}'

    def look(self):
        """Follow the durable file: every change must be a step that somebody was entitled to."""
        content = self.file.read_text()
        assert content == self.now or (self.now, content) in self.steps, (self.now, content)
        self.now = content
        self.ever.add(content)

    def script(self, content):
        """A harness that replaces the link, and writes something undeclared."""
        return [["swap", NAME, content], ["write", "unknown.txt", "u"]]

    def entitled(self):
        """What the harness of the next launch will write, over what it is given now."""
        content = self.fresh("harness")
        self.steps.add((self.now, content))
        return content

    def note(self, before, content, edit):
        """After a launch that may have been cut: `edit` came over `before` while the harness ran."""
        if self.place.ran:
            self.wrote.add(content)
            (self.place.top / "ran").unlink()
            if edit:
                self.steps.discard((before, content))
                self.steps.add((before, edit))
        self.look()

    @rule(edited=st.booleans())
    def a_launch(self, edited):
        self.expect_recovered()
        before, edit = self.now, self.fresh("user") if edited else ""
        content = self.entitled()

        def inside():
            if edit and not self.place.ran:
                self.file.write_text(edit)

        go(self.place, SCENE, script=self.script(content), inside=inside)
        self.note(before, content, edit)
        assert self.now == (edit or content)

    @rule(number=st.integers(0, 110), act=st.sampled_from([kill_before, kill_after, refuse]))
    def a_launch_that_is_cut(self, number, act):
        before = self.now
        content = self.entitled()
        with descriptors_restored(), suppress(Killed):
            rule_at = partial(failing, rule=at(number, act))
            go(self.place, SCENE, rule_at, script=self.script(content))
        self.note(before, content, "")

    @rule()
    def an_edit_by_the_user(self):
        content = self.fresh("user")
        self.steps.add((self.now, content))
        self.file.write_text(content)
        self.look()

    @rule()
    def recovery(self):
        age_temporaries(self.place)
        here, host = host_of(self.place, SCENE)
        perform(recover(host, here, unsaved=True))
        self.look()
        self.expect_recovered()

    def expect_recovered(self):
        """Nothing but what was retained may be left once recovery has run."""
        here, host = host_of(self.place, SCENE)
        perform(recover(host, here, unsaved=True))
        self.look()
        left = {str(path) for path in self.place.tmp.glob("outfitter-*")}
        assert left <= self.retained, left - self.retained

    @rule()
    def a_retained_launch(self):
        self.expect_recovered()
        before = self.now
        content = self.entitled()
        here, host = host_of(self.place, SCENE, script=self.script(content))
        outcome = perform(launch(host, Request(here, "a", "pi", retain=True)))
        report = outcome.unwrap()
        assert isinstance(report, Report)
        self.retained.add(report.record.root)
        self.note(before, content, "")
        assert Path(report.record.root).is_dir()

    @precondition(lambda self: self.retained)
    @rule(weeks=st.integers(0, 2))
    def the_sweep(self, weeks):
        here, host = host_of(self.place, SCENE)
        sweep(host, evolve(here, now_ns=here.now_ns + weeks * WEEK_NS))
        there = {root for root in self.retained if Path(root).is_dir()}
        if weeks != 1:
            assert there == (set() if weeks else self.retained)
        self.retained = there

    @invariant()
    def nothing_that_a_harness_wrote_is_lost(self):
        here = {content.decode() for content in self.place.kept()}
        lost = self.wrote - self.ever - here
        assert not lost, lost

    @invariant()
    def what_is_durable_was_written_by_somebody(self):
        assert self.now in self.ever


TestLife = Life.TestCase
TestLife.settings = settings(settings(), max_examples=12, stateful_step_count=10, deadline=None)
