"""One attempt of a batch: an `outfitter run --out` of its own, on whatever machine this is called (spec/70).

The function and its arguments can be sent to another process: a worker needs this package, the harness, and the same paths
(a shared file system, or an image that holds them).
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, NamedTuple

from outfitter.batch.rows import TASK_ARGUMENTS, Attempt, from_pair
from outfitter.evidence.files import Pair, read_pair
from outfitter.evidence.publication import quarantine

GRACE = 15.0
# How often a running attempt looks whether its batch was interrupted.
LOOK_SECONDS = 0.25
# A batch that was interrupted says so in its root, where an attempt sees it on whatever machine it runs.
STOP = "interrupted"
_LONGEST_NOTE = 1000


class Task(NamedTuple):
    """Everything an attempt needs, as plain values. `root` is the batch's root, `timeout` seconds or 0 for none.

    `lock` is a descriptor of this process that the attempt holds open until it ends, so that a batch that is killed keeps
    its root taken while an attempt of it still runs; -1 where the attempt may run in another process.
    """

    key: str
    text: bytes
    agent: str
    harness: str
    root: str
    cwd: str
    timeout: float
    env: Mapping[str, str]
    lock: int = -1


def attempt_root(root: str, key: str) -> str:
    """Where one input's pair lies."""
    return os.path.join(root, "attempts", key)


def finished(root: str, key: str) -> Attempt | None:
    """The attempt of an earlier run whose pair verifies; one that is torn is moved to quarantine and counts as never made."""
    place = attempt_root(root, key)
    if not os.path.lexists(place):
        return None
    pair = read_pair(place)
    if not pair.mismatches:
        return _verified(root, key, pair, ran=False)
    if pair.is_lone_veto:
        _set_aside(root, key, pair._replace(mismatches=()), "the harness was never started")
    else:
        _set_aside(root, key, pair)
    return None


def run_attempt(task: Task) -> Attempt:
    """Run one input and judge its pair. A second call for the same input (another worker, after the first died) finds the first's pair."""
    earlier = finished(task.root, task.key)
    if earlier is not None:
        return earlier
    if interrupted(task.root):
        return Attempt(task.key, "skipped", "not reached", None, "", False)
    started = time.monotonic()
    code, timed_out = _launch(task)
    seconds = time.monotonic() - started
    place = attempt_root(task.root, task.key)
    pair = read_pair(place)
    if interrupted(task.root) and (pair.mismatches or pair.result["verdict"] != "pass"):
        # Ended by the batch and not by itself: no outcome of this input, so that resuming runs it again.
        if os.path.lexists(place):
            _set_aside(task.root, task.key, pair, "the batch was interrupted")
        return Attempt(task.key, "skipped", "interrupted", code, "", True, seconds)
    if not pair.mismatches:
        return _verified(task.root, task.key, pair, ran=True, seconds=seconds)
    if timed_out:
        return Attempt(task.key, "failed", _too_long(task), code, _relative(task.root, place), True, seconds)
    reason = str(pair.result["termination_reason"]) if pair.is_lone_veto else "no evidence was left"
    return Attempt(task.key, "failed", reason, code, "", True, seconds)


def _verified(root: str, key: str, pair: Pair, *, ran: bool, seconds: float = 0.0) -> Attempt:
    """The attempt of a pair that holds. Why the batch itself ended it is no part of the pair, and is told from the note beside its output."""
    found = from_pair(key, os.path.relpath(attempt_root(root, key), root), pair.result, ran=ran, seconds=seconds)
    note = _noted(root, key) if found.outcome == "failed" else ""
    return found._replace(reason=note) if note else found


def _too_long(task: Task) -> str:
    return f"timed out after {task.timeout:g} s"


def _note_path(root: str, key: str) -> str:
    return os.path.join(root, "output", f"{key}.reason")


def _note(task: Task, reason: str) -> None:
    """Write why an attempt is about to be ended, so that a batch that resumes gives the same reason."""
    with suppress(OSError), _output(task, "reason") as file:
        file.write(reason.encode())


def _noted(root: str, key: str) -> str:
    try:
        with open(_note_path(root, key), "rb") as file:
            return file.read(_LONGEST_NOTE).decode("utf-8", "replace")
    except OSError:
        return ""


def refusal(task: Task) -> str:
    """Why `outfitter run` would start no attempt where this is called: its error as one JSON object, "" for none (a dry run tells)."""
    command = [*_command(task), "--dry-run", "--json", "--", *harness_arguments(task)]
    ended = subprocess.run(
        command, cwd=task.cwd, env=dict(task.env), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    lines = ended.stderr.decode("utf-8", "replace").splitlines()
    return (lines[-1] if lines else "{}") if ended.returncode else ""


def _command(task: Task) -> list[str]:
    # -P: the working directory is the user's, and no place to import from.
    return [sys.executable, "-E", "-P", "-m", "outfitter", "run", task.agent, "--harness", task.harness]


def harness_arguments(task: Task) -> list[str]:
    """What makes the task's harness read its text from standard input, and run without a terminal."""
    return [*TASK_ARGUMENTS[task.harness], *(["-"] if task.harness == "codex" else [])]


def _launch(task: Task) -> tuple[int, bool]:
    """Start `outfitter run` with the input as its standard input; (exit code, timed out)."""
    command = [*_command(task), "--out", attempt_root(task.root, task.key), "--", *harness_arguments(task)]
    os.makedirs(os.path.join(task.root, "attempts"), mode=0o700, exist_ok=True)
    os.makedirs(os.path.join(task.root, "output"), mode=0o700, exist_ok=True)
    with suppress(FileNotFoundError):
        os.unlink(_note_path(task.root, task.key))
    with (
        _output(task, "out") as out,
        _output(task, "err") as err,
        _input(task.text) as given,
        subprocess.Popen(
            command,
            cwd=task.cwd,
            env=dict(task.env),
            stdin=given,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=() if task.lock < 0 else (task.lock,),
        ) as process,
    ):
        timed_out = _waited(process, task)
    return process.returncode, timed_out


def _waited(process: subprocess.Popen[bytes], task: Task) -> bool:
    """Wait for the end; an interrupt of the batch or the time limit ends it: true for the latter."""
    limit = time.monotonic() + task.timeout if task.timeout else float("inf")
    while True:
        try:
            process.wait(LOOK_SECONDS)
            return False
        except subprocess.TimeoutExpired:
            late = time.monotonic() >= limit
        if late or interrupted(task.root):
            if late:
                _note(task, _too_long(task))
            _end(process)
            return late


def _input(text: bytes) -> IO[bytes]:
    """A file without a name that holds the task: a harness may read it as late and as slowly as it likes."""
    from tempfile import TemporaryFile

    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(text)
    file.seek(0)
    return file


def interrupt(root: str) -> None:
    """Tell every attempt below `root` to end, and those that have not begun not to; each settles its run first."""
    with open(os.path.join(root, STOP), "w", encoding="ascii"):
        pass


def resume(root: str) -> None:
    """Take the word of an interrupt back."""
    try:
        os.unlink(os.path.join(root, STOP))
    except FileNotFoundError:
        return


def interrupted(root: str) -> bool:
    """Whether the batch of `root` was interrupted."""
    return os.path.lexists(os.path.join(root, STOP))


def _end(process: subprocess.Popen[bytes]) -> None:
    """TERM to the launcher, which forwards it, ends a deaf harness itself and settles; KILL only if even that fails."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _output(task: Task, kind: str) -> IO[bytes]:
    path = os.path.join(task.root, "output", f"{task.key}.{kind}")
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb")


def _set_aside(root: str, key: str, pair: Pair, why: str = "") -> None:
    rows = [row._asdict() for row in pair.mismatches]
    reason = {"schema_version": 1, "from": attempt_root(root, key), "mismatches": rows}
    quarantine(attempt_root(root, key), root, key, {**reason, "why": why} if why else reason)


def _relative(root: str, place: str) -> str:
    return os.path.relpath(place, root) if os.path.isdir(place) else ""
