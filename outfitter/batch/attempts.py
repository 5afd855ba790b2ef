"""One attempt of a batch: an `outfitter run --out` on the machine that calls this (spec/70).

The function and its arguments can be sent to another process. A worker needs this package, the harness and the same paths:
a shared file system, or an image that contains them.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, NamedTuple

from outfitter.batch.root import OUTPUT, PID_SUFFIX, record_process
from outfitter.batch.rows import TASK_ARGUMENTS, Attempt, from_pair
from outfitter.evidence.files import Pair, read_pair
from outfitter.evidence.publication import quarantine

GRACE = 15.0
# How often a running attempt checks whether its batch was interrupted.
LOOK_SECONDS = 0.25
# An interrupted batch leaves this file in its root, where its attempts on every machine see it.
STOP = "interrupted"
_LONGEST_NOTE = 1000


class Task(NamedTuple):
    """Everything an attempt needs, as plain values.

    `root` is the root of the batch, `timeout` is in seconds (0: none). `lock` is a descriptor of this process that the attempt
    keeps open until it ends, so that the root of a killed batch stays locked while an attempt still runs; -1 if the attempt may
    run in another process. `trust` are the options that say what may run, once for all attempts.
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
    trust: tuple[str, ...] = ()


def attempt_root(root: str, key: str) -> str:
    """Return where the pair of one input lies."""
    return os.path.join(root, "attempts", key)


def finished(root: str, key: str) -> Attempt | None:
    """Return the attempt of an earlier run if its pair verifies; a torn pair is moved to quarantine."""
    path = attempt_root(root, key)
    if not os.path.lexists(path):
        return None
    pair = read_pair(path)
    if not pair.mismatches:
        return _verified(root, key, pair, ran=False)
    if pair.is_lone_veto:
        _set_aside(root, key, pair._replace(mismatches=()), "the harness was never started")
    else:
        _set_aside(root, key, pair)
    return None


def run_attempt(task: Task) -> Attempt:
    """Run one input and judge its pair.

    A second call for the same input (by another worker, after the first died) finds the pair of the first.
    """
    earlier = finished(task.root, task.key)
    if earlier is not None:
        return earlier
    if interrupted(task.root):
        return Attempt(task.key, "skipped", "not reached", None, "", False)
    started = time.monotonic()
    code, timed_out = _launch(task)
    seconds = time.monotonic() - started
    path = attempt_root(task.root, task.key)
    pair = read_pair(path)
    if interrupted(task.root) and (pair.mismatches or pair.result["verdict"] != "pass"):
        # The batch ended it, so this says nothing about the input: a resumed batch runs it again.
        if os.path.lexists(path):
            _set_aside(task.root, task.key, pair, "the batch was interrupted")
        return Attempt(task.key, "skipped", "interrupted", code, "", True, seconds)
    if not pair.mismatches:
        return _verified(task.root, task.key, pair, ran=True, seconds=seconds)
    if timed_out:
        return Attempt(task.key, "failed", _too_long(task), code, _relative(task.root, path), True, seconds)
    reason = str(pair.result["termination_reason"]) if pair.is_lone_veto else "it left no evidence"
    return Attempt(task.key, "failed", reason, code, "", True, seconds)


def _verified(root: str, key: str, pair: Pair, *, ran: bool, seconds: float = 0.0) -> Attempt:
    """Return the attempt of a pair that holds.

    The pair does not record why the batch ended an attempt; that comes from the note beside its output.
    """
    attempt = from_pair(key, os.path.relpath(attempt_root(root, key), root), pair.result, ran=ran, seconds=seconds)
    note = _noted(root, key) if attempt.outcome == "failed" else ""
    return attempt._replace(reason=note) if note else attempt


def _too_long(task: Task) -> str:
    return f"timed out after {task.timeout:g} s"


def _note_path(root: str, key: str) -> str:
    return os.path.join(root, OUTPUT, f"{key}.reason")


def _note(task: Task, reason: str) -> None:
    """Write why an attempt is about to be ended, so that a resumed batch gives the same reason."""
    with suppress(OSError), _output(task, "reason") as file:
        file.write(reason.encode())


def _noted(root: str, key: str) -> str:
    try:
        with open(_note_path(root, key), "rb") as file:
            return file.read(_LONGEST_NOTE).decode("utf-8", "replace")
    except OSError:
        return ""


def refusal(task: Task) -> str:
    """Return why `outfitter run` would not start any attempt here, as a JSON object; "" if it would.

    A dry run tells.
    """
    command = [*_command(task), "--dry-run", "--json", "--", *harness_arguments(task)]
    ended = subprocess.run(
        command, cwd=task.cwd, env=dict(task.env), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    lines = ended.stderr.decode("utf-8", "replace").splitlines()
    return (lines[-1] if lines else "{}") if ended.returncode else ""


def _command(task: Task) -> list[str]:
    # -P: nothing must be imported from the user's working directory.
    return [sys.executable, "-E", "-P", "-m", "outfitter", "run", task.agent, "--harness", task.harness, *task.trust]


def harness_arguments(task: Task) -> list[str]:
    """Return what makes the harness read its task from standard input and run without a terminal."""
    return [*TASK_ARGUMENTS[task.harness], *(["-"] if task.harness == "codex" else [])]


def _launch(task: Task) -> tuple[int, bool]:
    """Run `outfitter run` with the input as its standard input; return (exit code, timed out)."""
    command = [*_command(task), "--out", attempt_root(task.root, task.key), "--", *harness_arguments(task)]
    os.makedirs(os.path.join(task.root, "attempts"), mode=0o700, exist_ok=True)
    os.makedirs(os.path.join(task.root, OUTPUT), mode=0o700, exist_ok=True)
    with suppress(FileNotFoundError):
        os.unlink(_note_path(task.root, task.key))
    with (
        _output(task, "out") as out,
        _output(task, "err") as err,
        _input(task.text) as stdin,
        subprocess.Popen(
            command,
            cwd=task.cwd,
            env=dict(task.env),
            stdin=stdin,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=() if task.lock < 0 else (task.lock,),
        ) as process,
        _recorded(task, process.pid),
    ):
        timed_out = _wait(process, task)
    return process.returncode, timed_out


@contextmanager
def _recorded(task: Task, pid: int) -> Iterator[None]:
    """Record the launcher's process while it runs, so that a later batch can name it."""
    path = os.path.join(task.root, OUTPUT, task.key + PID_SUFFIX)
    with suppress(OSError):
        record_process(path, pid)
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)


def _wait(process: subprocess.Popen[bytes], task: Task) -> bool:
    """Wait for the process; end it on an interrupt of the batch or at the time limit (then True)."""
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
    """Return an unnamed file with the task; a harness may read it at any time and speed."""
    from tempfile import TemporaryFile

    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(text)
    file.seek(0)
    return file


def interrupt(root: str) -> None:
    """Tell every attempt below `root` to end, and the others not to begin; each settles its run first."""
    with open(os.path.join(root, STOP), "w", encoding="ascii"):
        pass


def resume(root: str) -> None:
    """Withdraw an interrupt."""
    try:
        os.unlink(os.path.join(root, STOP))
    except FileNotFoundError:
        return


def interrupted(root: str) -> bool:
    """Return whether the batch of `root` was interrupted."""
    return os.path.lexists(os.path.join(root, STOP))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Send TERM to the launcher, which ends its harness and settles; KILL only if that fails."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _output(task: Task, kind: str) -> IO[bytes]:
    path = os.path.join(task.root, OUTPUT, f"{task.key}.{kind}")
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb")


def _set_aside(root: str, key: str, pair: Pair, reason: str = "") -> None:
    rows = [row._asdict() for row in pair.mismatches]
    record = {"schema_version": 1, "from": attempt_root(root, key), "mismatches": rows}
    quarantine(attempt_root(root, key), root, key, {**record, "why": reason} if reason else record)


def _relative(root: str, path: str) -> str:
    return os.path.relpath(path, root) if os.path.isdir(path) else ""
