"""Time whole processes in interleaved rounds: wall and processor time, and peak memory."""

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

# The product that these benchmarks belong to is measured, even if another one is installed.
CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Sample(NamedTuple):
    """One run of one command: seconds of wall and processor time, peak resident bytes, and its output.

    The peak is that of its largest process.
    """

    wall: float
    cpu: float
    peak: int
    out: str


class Contender(NamedTuple):
    """A command in a race; `before` runs untimed before each turn, `check` sees the output after it.

    `stamp` is a file into which the command writes a wall-clock time in ns; then that moment ends the time, not the exit.
    """

    name: str
    command: Sequence[str]
    before: Callable[[], object] | None = None
    check: Callable[[str], bool] | None = None
    env: Mapping[str, str] = {}
    cwd: str = "/"
    stamp: str = ""


class Figures(NamedTuple):
    """The figures of one contender.

    `verified` tells whether every result agreed with an independent walk; None if there was nothing to verify.
    """

    name: str
    minimum: float
    median: float
    cpu: float
    peak: int
    rounds: int
    verified: bool | None


def clean_env(home: str, **more: str) -> dict[str, str]:
    """Return the environment of everything that is timed: only the search path is the user's."""
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
    """A small process that starts what is timed (`benchmarks.spawner`), and a directory for the output."""

    def __init__(self) -> None:
        """Start it."""
        self._output = tempfile.TemporaryDirectory(prefix="outfitter-bench-out-")
        script = os.path.join(os.path.dirname(__file__), "spawner.py")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Spawner:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._output.cleanup()

    def run_once(self, contender: Contender) -> Sample:
        """Run a command to its end. Raises `RuntimeError` if it fails."""
        out, err = os.path.join(self._output.name, "out"), os.path.join(self._output.name, "err")
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), **contender.env}
        request = {"command": list(contender.command), "env": env, "cwd": contender.cwd, "out": out, "err": err}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if answer["code"]:
            message = _text(err).strip()
            raise RuntimeError(f"{contender.name}: exit {answer['code']}: {shlex.join(contender.command)}: {message}")
        wall = (int(_text(contender.stamp)) - answer["started_ns"]) / 1e9 if contender.stamp else answer["wall"]
        unit = 1 if platform.system() == "Darwin" else 1024
        return Sample(wall, answer["cpu"], answer["peak"] * unit, _text(out))


def _text(path: str) -> str:
    with open(path, errors="surrogateescape") as file:
        return file.read()


def race(contenders: Sequence[Contender], rounds: int) -> list[Figures]:
    """Run every contender once per round, each round starting with another.

    One more round runs first and does not count.
    """
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
    checks: dict[str, list[bool]] = {contender.name: [] for contender in contenders}
    with Spawner() as spawner:
        for number in range(rounds + 1):
            first = number % len(contenders)
            for contender in (*contenders[first:], *contenders[:first]):
                if contender.before:
                    contender.before()
                sample = spawner.run_once(contender)
                if contender.check:
                    checks[contender.name].append(contender.check(sample.out))
                if number:
                    samples[contender.name].append(sample)
    return [_figures(contender, samples[contender.name], checks[contender.name]) for contender in contenders]


def _figures(contender: Contender, samples: Sequence[Sample], checks: Sequence[bool]) -> Figures:
    walls = [sample.wall for sample in samples]
    return Figures(
        contender.name,
        min(walls),
        statistics.median(walls),
        min(sample.cpu for sample in samples),
        max(sample.peak for sample in samples),
        len(samples),
        all(checks) if contender.check else None,
    )


def machine(directory: str) -> dict[str, object]:
    """Describe the machine; `directory` is where the trees lie."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "file_system": _file_system(directory),
        "python": platform.python_version(),
        "load_before": [round(load, 2) for load in os.getloadavg()],
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return platform.processor()


def _file_system(place: str) -> str:
    """Return the type of the file system that holds a path, or "" if the system does not tell."""
    try:
        with open("/proc/self/mounts") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return ""
    real = os.path.realpath(place)
    inside = [(len(point), kind) for point, kind in mounts if real == point or real.startswith(point.rstrip("/") + "/")]
    return max(inside)[1] if inside else ""
