"""The throw-away machine of a demo: created, used by real processes, and removed (spec/80)."""

import errno
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from outfitter.demo.scenario import SCENARIOS, STAND_IN, TOKEN, TOKEN_VARIABLE, Scenario, tree_files
from outfitter.doctor.harnesses import version_line
from outfitter.edges.programs import ask_program, find_harness
from outfitter.model.errors import HarnessUnavailable, LaunchError, os_error_text
from outfitter.railway import fold, identity

ORDER = ("pi", "claude", "codex")
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "PI_SKIP_VERSION_CHECK": "1",
    "PI_OFFLINE": "1",
}
LIMIT_SECONDS = 60
ENDING_SECONDS = 10


class Actor(NamedTuple):
    """Who plays the harness: its id (`stand-in` for ours), program and version, and who was passed over."""

    id: str
    program: str = ""
    version: str = ""
    passed_over: tuple[str, ...] = ()

    @property
    def harness(self) -> str:
        """The id by which Outfitter knows it."""
        return "pi" if self.id == STAND_IN else self.id


class Finished(NamedTuple):
    """A finished `outfitter` process: exit code, stdout followed by stderr, and stdout alone."""

    code: int
    shown: str
    data: str


def choose(wanted: str, env: Mapping[str, str]) -> Actor | LaunchError:
    """Return who plays the harness `wanted`, or the error why it cannot run.

    Without one, it is the first of pi, claude and codex that runs, else the stand-in.
    """
    if wanted == STAND_IN:
        return Actor(STAND_IN)
    passed: list[str] = []
    for name in (wanted,) if wanted else ORDER:
        program: str | LaunchError = fold(find_harness(name, env.get("PATH", "")), identity, identity)
        if isinstance(program, str):
            version, runs = _version(program, env)
            if runs:
                return Actor(name, program, version, tuple(passed))
            error: LaunchError = HarnessUnavailable(
                name, program, f"`--version` failed: {version}", "repair or reinstall it"
            )
        else:
            error = program
        if wanted:
            return error
        if isinstance(error, HarnessUnavailable) and error.found:
            passed.append(f"{error.found} {error.reason}")
    return Actor(STAND_IN, passed_over=tuple(passed))


def _version(program: str, env: Mapping[str, str]) -> tuple[str, bool]:
    try:
        text, whole = ask_program(program, ("--version",), env)
    except OSError as error:
        return os_error_text(error), False
    if whole:
        return version_line(text), True
    return next((line.strip() for line in text.splitlines() if "rror" in line), "no answer"), False


class Playground:
    """A home, a project, a temporary root and a PATH for one demo; the context manager removes them."""

    def __init__(self, env: Mapping[str, str], keep: bool) -> None:
        """Create the directories; only PATH, TERM and the locale of `env` reach the demo."""
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="outfitter-demo-"))
        self.home, self.project = os.path.join(self.top, "home"), os.path.join(self.top, "project")
        self._env, self._keep = env, keep
        for name in ("home", "project", "tmp", "bin"):
            os.mkdir(os.path.join(self.top, name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._keep:
            shutil.rmtree(self.top, ignore_errors=True)

    def furnish(self, scenario: Scenario, url: str, actor: Actor) -> None:
        """Write the tree, and the stand-in if it plays."""
        for path, text in tree_files(scenario, url).items():
            self._put(path, text, 0o600)
        if actor.id == STAND_IN:
            command = shlex.join([sys.executable, "-I", os.path.join(os.path.dirname(__file__), "standin.py")])
            self._put("bin/pi", f'#!/bin/sh\nexec {command} "$@"\n', 0o700)

    def environment(self) -> dict[str, str]:
        """Return the clean environment of everything that the demo starts."""
        path = os.pathsep.join([os.path.join(self.top, "bin"), self._env.get("PATH", os.defpath)])
        own = {"HOME": self.home, "PATH": path, "TMPDIR": os.path.join(self.top, "tmp"), TOKEN_VARIABLE: TOKEN}
        # The demo wrote everything below it.
        own["OUTFITTER_TRUSTED_PATHS"] = self.top
        kept = {name: self._env[name] for name in ("TERM", "LANG", "LC_ALL", "LC_CTYPE") if name in self._env}
        return {**kept, **QUIET, **own, "PYTHONPATH": _package_root()}

    def outfitter(self, *arguments: str) -> Finished:
        """Run `outfitter` here as its user would."""
        with tempfile.TemporaryFile() as data, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-E", "-P", "-m", "outfitter", "--no-progress", *arguments],
                cwd=self.project,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=data,
                stderr=errors,
            )
            try:
                code = process.wait(LIMIT_SECONDS)
            except BaseException as stop:
                # TERM, so that the launcher ends its harness before it ends itself.
                process.terminate()
                process.wait(ENDING_SECONDS)
                if isinstance(stop, subprocess.TimeoutExpired):
                    raise TimeoutError(
                        errno.ETIMEDOUT, f"it did not end within {LIMIT_SECONDS} s", arguments[0]
                    ) from None
                raise
            printed = []
            for file in (data, errors):
                file.seek(0)
                printed.append(file.read().decode("utf-8", "replace"))
        return Finished(code, printed[0] + printed[1], printed[0])

    def natives(self) -> set[str]:
        """Return every regular file in the home except Outfitter's own, relative to the home."""
        files: set[str] = set()
        for folder, _, names in os.walk(self.home):
            files.update(os.path.relpath(os.path.join(folder, name), self.home) for name in names)
        return {name for name in files if not name.startswith((".agents/", ".local/state/outfitter/"))}

    def _put(self, path: str, text: str, mode: int) -> None:
        target = os.path.join(self.top, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(target, mode)


def _package_root() -> str:
    """Return where this package is imported from, so that the demo runs this version."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def scenario_of(actor: Actor) -> Scenario:
    """Return what the actor is asked to do."""
    return SCENARIOS[actor.id]


def diff_changes(text: str) -> list[dict[str, Any]]:
    """Return the changes of `outfitter diff --json`, [] if it printed none."""
    try:
        changes = json.loads(text)["changes"]
    except (ValueError, KeyError, TypeError):
        return []
    return [change for change in changes if isinstance(change, dict)]
