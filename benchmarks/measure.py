"""Timing whole processes: interleaved rounds, wall and processor time, peak memory, and what the machine is."""

from __future__ import annotations

import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

# What is measured is the product that these benchmarks came with, wherever another one is installed.
CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Sample(NamedTuple):
    """One run of one command: seconds of wall and of processor time, peak resident bytes of its largest process, its output."""

    wall: float
    cpu: float
    peak: int
    out: str


class Contender(NamedTuple):
    """A command that takes part in a race. `before` runs untimed before each of its turns, `check` sees its output after.

    `stamp` is a file into which the command writes a wall-clock time in ns: then that moment ends the time, not its exit.
    """

    name: str
    command: Sequence[str]
    before: Callable[[], object] | None = None
    check: Callable[[str], bool] | None = None
    env: Mapping[str, str] = {}
    cwd: str = "/"
    stamp: str = ""


class Figures(NamedTuple):
    """What a race says of one contender. `verified`: every result was held against an independent walk; None: nothing to hold."""

    name: str
    minimum: float
    median: float
    cpu: float
    peak: int
    rounds: int
    verified: bool | None


def clean_env(home: str, **more: str) -> dict[str, str]:
    """The environment of everything that is timed: nothing of the user's but the search path."""
    return {
        "HOME": home,
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "PYTHONPATH": CHECKOUT,
        "DO_NOT_TRACK": "1",
        "OUTFITTER_TELEMETRY": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        **more,
    }


class Spawner:
    """A small process that starts what is timed (see `benchmarks.spawner`), and a place for what it prints."""

    def __init__(self) -> None:
        """Start it."""
        self._place = tempfile.TemporaryDirectory(prefix="outfitter-bench-out-")
        script = os.path.join(os.path.dirname(__file__), "spawner.py")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Spawner:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._place.cleanup()

    def once(self, contender: Contender) -> Sample:
        """Run a command to its end. Raises `RuntimeError` where it fails."""
        out, err = os.path.join(self._place.name, "out"), os.path.join(self._place.name, "err")
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), **contender.env}
        asked = {"command": list(contender.command), "env": env, "cwd": contender.cwd, "out": out, "err": err}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if answer["code"]:
            said = _text(err).strip()
            raise RuntimeError(f"{contender.name}: exit {answer['code']}: {shlex.join(contender.command)}: {said}")
        wall = (int(_text(contender.stamp)) - answer["started_ns"]) / 1e9 if contender.stamp else answer["wall"]
        unit = 1 if platform.system() == "Darwin" else 1024
        return Sample(wall, answer["cpu"], answer["peak"] * unit, _text(out))


def _text(path: str) -> str:
    with open(path, errors="surrogateescape") as file:
        return file.read()


def race(contenders: Sequence[Contender], rounds: int) -> list[Figures]:
    """Every contender once a round, each round beginning with another; one round more than asked, which does not count."""
    samples: dict[str, list[Sample]] = {one.name: [] for one in contenders}
    checks: dict[str, list[bool]] = {one.name: [] for one in contenders}
    with Spawner() as spawner:
        for number in range(rounds + 1):
            first = number % len(contenders)
            for one in (*contenders[first:], *contenders[:first]):
                if one.before:
                    one.before()
                sample = spawner.once(one)
                if one.check:
                    checks[one.name].append(one.check(sample.out))
                if number:
                    samples[one.name].append(sample)
    return [_figures(one, samples[one.name], checks[one.name]) for one in contenders]


def _figures(one: Contender, samples: Sequence[Sample], checks: Sequence[bool]) -> Figures:
    walls = [sample.wall for sample in samples]
    return Figures(
        one.name,
        min(walls),
        statistics.median(walls),
        min(sample.cpu for sample in samples),
        max(sample.peak for sample in samples),
        len(samples),
        all(checks) if one.check else None,
    )


def machine(place: str) -> dict[str, object]:
    """What the figures were measured on; `place` is where the trees lie."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "file_system": _file_system(place),
        "python": platform.python_version(),
        "load_before": [round(one, 2) for one in os.getloadavg()],
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return platform.processor()


def _file_system(place: str) -> str:
    """The type of the file system that holds a path, as far as this system tells."""
    try:
        with open("/proc/self/mounts") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return ""
    real = os.path.realpath(place)
    inside = [(len(at), kind) for at, kind in mounts if real == at or real.startswith(at.rstrip("/") + "/")]
    return max(inside)[1] if inside else ""
