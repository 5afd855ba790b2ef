"""A prepared launch made by hand, over real directories: what the tests of the run directory start from."""

import os
import pickle
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from attrs import evolve

from outfitter.host import Projecting, Runs, Terminal
from outfitter.model.composition import Composition, Controls, Tools
from outfitter.model.projection import Facts, LaunchPlan, LaunchSite, Prepared, ProjectionPlan
from outfitter.model.request import Ambient, Request
from outfitter.model.settings import Origin, Resolution, Settings, StatePath, Strategies
from outfitter.railway import fold, perform
from outfitter.run.projecting import projecting
from outfitter.run.runs import runs
from stages.open_run import open_run
from stages.project import project
from tests.effects import fake

ALL = ("symlink", "discard", "warn", "error", "prompt")
SILENT = fake(
    Terminal,
    say=lambda _notice: None,
    ask=lambda _question: ("discard", ""),
    progress=lambda _label: lambda _done, _total: None,
    saving=lambda: None,
)
NOBODY = 65534


class Stand(NamedTuple):
    """A home and a temporary root, and the effects over them."""

    top: Path
    ambient: Ambient
    runs: Runs
    projecting: Projecting

    @property
    def home(self):
        return self.top / "home"

    @property
    def tmp(self):
        return self.top / "tmp"

    @property
    def journals(self):
        return self.top / "home/.local/state/outfitter/runs"


def stand(top: Path, **more: Any) -> Stand:
    """Make the directories and read them as this process's machine."""
    top = top.resolve()
    for name in ("home", "tmp", "work"):
        (top / name).mkdir(exist_ok=True)
    plain = Ambient(
        cwd=str(top / "work"),
        home=str(top / "home"),
        temp_root=str(top / "tmp"),
        state_root=str(top / "home/.local/state/outfitter"),
        env={},
        stdin_tty=False,
        stdout_tty=False,
        stderr_tty=False,
        now_ns=1_800_000_000_000_000_000,
        uid=os.getuid(),
        platform="linux",
    )
    here = evolve(plain, **more)
    return Stand(top, here, runs(here), projecting(here))


def resolution(key: str, strategy: str, native: str | None = None, allowed: Any = ALL, **more: Any) -> Resolution:
    return Resolution(StatePath(key, "symlink", allowed, native, **more), strategy, Origin("default"))  # type: ignore[arg-type]


def strategies(*declared: Resolution, unknown: str = "warn") -> Strategies:
    return Strategies(declared, resolution("unknown", unknown))


def plan(*declared: Resolution, **more: Any) -> ProjectionPlan:
    plain = ProjectionPlan(
        harness="pi",
        generated=(),
        copied=(),
        seeds=(),
        bridges=(),
        strategies=strategies(*declared),
        launch=LaunchPlan("/bin/true", (), {}, ()),
        exported="PI_CODING_AGENT_DIR",
    )
    return evolve(plain, **more)


def composition(agent: str = "a") -> Composition:
    empty: Any = ()
    return Composition(
        agent=agent,
        label="",
        description="",
        chain=(agent,),
        fragments=empty,
        skills=empty,
        subagents=empty,
        commands=empty,
        knowledge=empty,
        servers=empty,
        model=None,
        registry={},
        thinking="",
        tools=Tools(),
        extensions=empty,
        plugins=empty,
        prompt_template=None,
        controls=Controls(),
        harness_controls={},
        job_roots=empty,
        overlays=empty,
        visible_skills=empty,
        digest="",
    )


def prepared(here: Stand, made: ProjectionPlan, agent: str = "a", **asked: Any) -> Prepared:
    run_id, root = here.runs.name(agent, made.harness)
    native = str(here.home / ".pi/agent")
    facts = Facts("/bin/true", native, str(here.home / "cache"), root + "/projection", here.ambient.cwd, {})
    settings = Settings({}, {}, {}, ())
    return Prepared(
        Request(here.ambient, agent, **asked), settings, composition(agent), LaunchSite(run_id, root, facts), made
    )


def opened(here: Stand, ready: Prepared):
    """The run directory of a prepared launch, or the error that stood in the way."""
    return fold(perform(open_run(here.runs, ready)), lambda occupied: occupied, lambda error: error)


def built(here: Stand, ready: Prepared):
    """(occupied, projected or the error): the projection made for real."""
    occupied = opened(here, ready)
    outcome = perform(project(here.projecting, SILENT, ready, occupied.record))
    return occupied, fold(outcome, lambda projected: projected, lambda error: error)


def as_nobody(job, prepare=lambda: None):
    """Run `job(directory)` in a child process of another user, in a directory of its own, and give what it returned.

    `prepare` runs in the child before it gives up root. What the job raises is raised here. The job must not depend on anything that only root may read.
    """
    top = tempfile.mkdtemp(prefix="nobody-")
    os.chown(top, NOBODY, NOBODY)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            prepare()
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            answer = (True, job(Path(top)))
        except BaseException as error:  # noqa: BLE001 - carried to the parent
            answer = (False, repr(error))
        with os.fdopen(writer, "wb") as out:
            pickle.dump(answer, out)
        os._exit(0)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as back:
            fine, value = pickle.load(back)
        os.waitpid(child, 0)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    assert fine, value
    return value
