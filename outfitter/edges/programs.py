"""Finding a harness's program and asking it what it can do (spec/40, spec/80: 126 and 127)."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from blake3 import blake3
from returns.result import Failure, Success

from outfitter.edges.signals import SIGNALS
from outfitter.fs import make_cache, write_atomic
from outfitter.model.errors import HarnessUnavailable, os_error_text
from outfitter.railway import Outcome, Terminated
from outfitter.run.layout import PROBE_PREFIX

PROBE_SECONDS = 10.0
PROBE_BYTES = 1 << 20
# Programs write into their configuration directory even to print their help; a probe gives them one to throw away.
DIRECTORY_VARIABLES = ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
QUIET = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1"}


# Where the programs' own installers put them without always putting that directory on PATH, relative to the home.
INSTALLED = (
    ".claude/local",
    ".local/bin",
    ".npm-global/bin",
    ".bun/bin",
    ".volta/bin",
    ".local/share/mise/shims",
    ".asdf/shims",
    ".local/share/pnpm",
)
SCRIPT_BYTES = 1 << 16
# A line of a shell script that starts a program by its absolute path; `re` compiles it on first use.
HANDS_ON_PATTERN = r"""\s*(?:exec\s+)?["']?(/[^\s"'$`;|&]+)["']?(?=\s)"""
# A line of a shell script that looks at the arguments and hands them to no program.
LOOKS_PATTERN = r"\s*(?:echo|printf|case|set|for|test|\[|:)(?=\s)"
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish"))


def find_harness(command: str, path: str, home: str = "") -> Outcome[str]:
    """Find `command` on `path` (as in PATH): a regular file that can be executed, its interpreter present.

    Returns its absolute path. Errors: `HarnessUnavailable`, with the first unusable find (126), or with where it is
    installed below `home` or how to install it (127).
    """
    refused: HarnessUnavailable | None = None
    for candidate in _candidates(command, path):
        reason = _unusable(candidate, path)
        if reason == "":
            return Success(candidate)
        if reason is not None and refused is None:
            refused = HarnessUnavailable(command, candidate, reason, f"fix it, or {_install(command)}")
    return Failure(refused or _missing(command, path, home))


def _missing(command: str, path: str, home: str) -> HarnessUnavailable:
    """Say that the program is not on PATH; it may be installed where only a shell alias finds it."""
    for folder in INSTALLED if home and "/" not in command else ():
        candidate = os.path.join(home, folder, command)
        if _unusable(candidate, path) == "":
            hint = f"put it on PATH: export PATH={os.path.dirname(candidate)}:$PATH"
            return HarnessUnavailable(command, "", f"is not on PATH; it is installed as {candidate}", hint)
    return HarnessUnavailable(command, "", "is not installed: not found on PATH", _install(command))


def prober(
    cache_directory: str, env: Mapping[str, str], remember: bool = True
) -> Callable[[str, tuple[str, ...], str], str]:
    """A function (executable, arguments, PATH) → what the program prints, 10 s and 1 MiB at most.

    It runs without a terminal, in a process group and a configuration directory of its own, once for each path, size and mtime:
    the text is kept in `<cache_directory>/probes/` ("" for no cache). A cache that cannot be read or written is ignored;
    without `remember` it is only read. A shim is asked every time unless the
    program behind it is known: it stays as it is when that one changes.
    """

    def probe(executable: str, arguments: tuple[str, ...], path: str) -> str:
        programs = programs_behind(executable) if cache_directory else ()
        kept = os.path.join(cache_directory, "probes", _key(programs, arguments)) if programs else ""
        known = _kept(kept) if kept else None
        if known is not None:
            return known
        text, whole = ask_program(executable, arguments, {**env, **({"PATH": path} if path else {})})
        if whole and kept and remember:
            _keep(kept, text)
        return text

    return probe


def _candidates(command: str, path: str) -> list[str]:
    if "/" in command:
        return [os.path.abspath(command)]
    # A relative folder is whatever project one stands in: a program in it is that project's, not the user's.
    return [os.path.join(folder, command) for folder in path.split(os.pathsep) if os.path.isabs(folder)]


def _unusable(candidate: str, path: str) -> str | None:
    """Why a candidate cannot be executed, "" if it can, None where there is none."""
    try:
        status = os.stat(candidate)
    except (FileNotFoundError, NotADirectoryError):
        return f"is a link to nowhere ({os.readlink(candidate)})" if os.path.islink(candidate) else None
    except OSError as error:
        return f"cannot be looked at: {os_error_text(error)}"
    if stat.S_ISDIR(status.st_mode):
        return "is a directory"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if not os.access(candidate, os.X_OK):
        return "is not executable"
    return _interpreter_missing(candidate, path)


def _interpreter_missing(script: str, path: str) -> str:
    """Why the `#!` line of a script cannot work, "" if it can or if there is none."""
    try:
        with open(script, "rb") as file:
            line = file.read(512).split(b"\n", 1)[0]
    except OSError:
        return ""
    if not line.startswith(b"#!"):
        return ""
    words = [os.fsdecode(word) for word in line[2:].strip(b" \t").split()]
    if line.endswith(b"\r"):
        return "has a #! line that ends with a carriage return"
    if not words:
        return "has an empty #! line"
    if not _executable(words[0]):
        return f"needs the interpreter {words[0]}, which is missing or not executable"
    if os.path.basename(words[0]) != "env":
        return ""
    program = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    if not program or _executable(program) or any(_executable(place) for place in _candidates(program, path)):
        return ""
    return f"needs the interpreter {program!r}, which is not on PATH"


def _executable(program: str) -> bool:
    return "/" in program and os.path.isfile(program) and os.access(program, os.X_OK)


def _install(command: str) -> str:
    from outfitter.adapters import NAMES, adapter

    return f"install it with `{adapter(command).install}`" if command in NAMES else f"put {command} on PATH"


def programs_behind(executable: str, depth: int = 4) -> tuple[str, ...]:
    """Return the files that decide what a program answers, itself first; () where no file does.

    A shell script that hands its arguments on answers for the program that it starts: each of its lines must name that one
    by an absolute path (asdf's, nvm's and pyenv's do not). A symlink to a binary of another name (mise, volta) chooses by
    the directory it runs in: neither the file nor a directory it is in has the program's name.
    """
    real = os.path.realpath(executable)
    try:
        with open(real, "rb") as file:
            text = file.read(SCRIPT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ()
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        name = os.path.basename(executable)
        return (real,) if any(name in part for part in real.split("/")) else ()
    if SHELLS.isdisjoint(os.path.basename(word) for word in first[2:].split()[:2]):
        return (real,)
    behind = [real]
    for line in text.splitlines()[1:]:
        if ("$@" not in line and "$*" not in line) or re.match(LOOKS_PATTERN, line):
            continue
        started = re.match(HANDS_ON_PATTERN, line)
        further = programs_behind(started[1], depth - 1) if started and depth else ()
        if not further:
            return ()
        behind += further
    return tuple(behind)


def _key(programs: tuple[str, ...], arguments: tuple[str, ...]) -> str:
    parts: list[str] = []
    for program in programs:
        status = os.stat(program)
        parts += (program, str(status.st_size), str(status.st_mtime_ns))
    parts += arguments
    return str(blake3(b"\0".join(map(os.fsencode, parts))).hexdigest(16))


def _kept(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return file.read(PROBE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def _keep(path: str, text: str) -> None:
    try:
        probes = os.path.dirname(path)
        make_cache(probes, os.path.dirname(probes))
        write_atomic(path, text.encode())
    except OSError:
        return


def ask_program(executable: str, arguments: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, bool]:
    """What the program prints within 10 s, run as `prober` says but never remembered; and whether it ended with success.

    Raises `OSError` where it cannot be started.
    """
    import subprocess
    import tempfile

    from outfitter.edges.environment import temp_root

    # A directory that is named is not first tried out with a file, which a kill would leave.
    root = temp_root(env)
    with _scratch(root) as scratch, tempfile.TemporaryFile(dir=root) as output:
        child = subprocess.Popen(
            [executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Programs read files of the directory they are started in, and this one may be a stranger's.
            cwd=scratch,
            env={**env, **QUIET, **dict.fromkeys(DIRECTORY_VARIABLES, scratch)},
            process_group=0,
        )
        try:
            whole = _wait(child)
        finally:
            _end_group(child)
        output.seek(0)
        return output.read(PROBE_BYTES).decode("utf-8", "replace"), whole


@contextmanager
def _scratch(root: str) -> Iterator[str]:
    """Make a directory that is locked while in use, and remove it; the sweep removes unlocked ones."""
    import shutil
    import tempfile

    from outfitter.atomic import hold

    path = tempfile.mkdtemp(prefix=PROBE_PREFIX, dir=root)
    directory = -1
    try:
        with suppress(OSError):
            directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            hold(directory)
        # Until it was locked, a sweep could take it away.
        os.makedirs(path, mode=0o700, exist_ok=True)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if directory >= 0:
            os.close(directory)


def _wait(child: Any) -> bool:
    limit = time.monotonic() + PROBE_SECONDS
    while child.poll() is None:
        if number := SIGNALS.stop():
            raise Terminated(number)
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return bool(child.returncode == 0)


def _end_group(child: Any) -> None:
    """What the probe started ends with it; the program's own end is awaited, so that no zombie stays."""
    try:
        os.killpg(child.pid, 9)
    except (ProcessLookupError, PermissionError):
        pass
    child.wait()
