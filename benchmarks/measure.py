"""Timing whole processes: interleaved rounds, wall and processor time, peak memory, and what the machine is."""

from __future__ import annotations

import os
import platform
import shlex
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Sample(NamedTuple):
    """One run of one command: seconds of wall and of processor time, peak resident bytes of its largest process, its output."""

    wall: float
    cpu: float
    peak: int
    out: str


class Contender(NamedTuple):
    """A command that takes part in a race. `before` runs untimed before each of its turns, `check` sees its output after."""

    name: str
    command: Sequence[str]
    before: Callable[[], object] | None = None
    check: Callable[[str], bool] | None = None
    env: Mapping[str, str] = {}
    cwd: str = "/"


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
        "DO_NOT_TRACK": "1",
        "OUTFITTER_TELEMETRY": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        **more,
    }


def once(contender: Contender) -> Sample:
    """Run a command to its end. Raises `RuntimeError` where it fails."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        with subprocess.Popen(
            contender.command, env=contender.env, cwd=contender.cwd, stdout=subprocess.PIPE, stderr=errors
        ) as process:
            assert process.stdout
            out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            raise RuntimeError(f"{contender.name}: exit {process.returncode}: {shlex.join(contender.command)}: {said}")
    unit = 1 if platform.system() == "Darwin" else 1024
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, out.decode(errors="surrogateescape"))


def race(contenders: Sequence[Contender], rounds: int) -> list[Figures]:
    """Every contender once a round, each round beginning with another; one round more than asked, which does not count."""
    samples: dict[str, list[Sample]] = {one.name: [] for one in contenders}
    checks: dict[str, list[bool]] = {one.name: [] for one in contenders}
    for number in range(rounds + 1):
        first = number % len(contenders)
        for one in (*contenders[first:], *contenders[:first]):
            if one.before:
                one.before()
            sample = once(one)
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
