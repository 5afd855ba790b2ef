"""A throw-away machine for launches end to end: home, project, temporary root, and a PATH of stand-in harnesses."""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

STANDIN = Path(__file__).parent / "harnesses/standin.py"
HARNESSES = ("pi", "claude", "codex")
MEASURED = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
open(sys.argv[1], "w").write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Ended(NamedTuple):
    """One finished `outfitter` process, and what the stand-in recorded (None: it was not started)."""

    code: int
    out: str
    err: str
    seen: Any

    @property
    def argv(self):
        return self.seen["argv"]


class Machine:
    """Runs `outfitter` as a user would: a clean environment, HOME and TMPDIR of its own."""

    def __init__(self, top):
        self.top = Path(top).resolve()
        self.home, self.project, self.bin, self.tmp = (self.top / name for name in ("home", "project", "bin", "tmp"))
        for folder in (self.home, self.project, self.bin, self.tmp):
            folder.mkdir()
        (self.project / ".git").mkdir()
        for name in HARNESSES:
            target = self.bin / name
            target.write_text(f"#!{sys.executable} -I\n" + STANDIN.read_text().split("\n", 1)[1])
            target.chmod(0o755)
        self._count = 0
        self._started = []

    def put(self, path, text="", mode=0o644):
        path = Path(path) if os.path.isabs(path) else self.project / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    def agent(self, name="a", body="You are A.", under=None, **front):
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in front.items())
        return self.put(
            (under or self.project) / f".agents/agents/{name}/agent.md", f"---\nname: {name}\n{lines}---\n\n{body}\n"
        )

    def settings(self, text, under=None, local=False):
        return self.put((under or self.project) / f".agents/settings{'.local' if local else ''}.yml", text)

    def env(self, script=(), **more):
        self._count += 1
        base = {
            "HOME": str(self.home),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "TMPDIR": str(self.tmp),
            "LANG": "C.UTF-8",
            "OUTFITTER_DEBUG": "0",
            "OUTFITTER_TRUSTED_PATHS": str(self.top),
            "PYTHONDONTWRITEBYTECODE": "1",
            "STANDIN_RECORD": str(self.top / f"record-{self._count}.json"),
            "STANDIN_SCRIPT": str(self.put(self.top / f"script-{self._count}.json", json.dumps(list(script)))),
        }
        merged = {**base, **more}
        return {key: value for key, value in merged.items() if value is not None}

    def start(self, *words, script=(), cwd=None, env=None, **more):
        process = subprocess.Popen(
            [sys.executable, "-m", "outfitter", *words],
            cwd=cwd or self.project,
            env=self.env(script, **(env or {})),
            stdin=more.pop("stdin", subprocess.DEVNULL),
            stdout=more.pop("stdout", subprocess.PIPE),
            stderr=more.pop("stderr", subprocess.PIPE),
            **more,
        )
        self._started.append(process)
        return process

    def run(self, *words, script=(), cwd=None, env=None, timeout=60):
        process = self.start(*words, script=script, cwd=cwd, env=env)
        record = self.top / f"record-{self._count}.json"
        out, err = process.communicate(timeout=timeout)
        seen = json.loads(record.read_text()) if record.exists() else None
        return Ended(
            process.returncode, out.decode(errors="surrogateescape"), err.decode(errors="surrogateescape"), seen
        )

    def measure(self, *words, script=()):
        """(exit code, output and diagnostics, the most memory it took in KiB) of one command, whatever ran before it.

        A process's high-water mark begins at its parent's, and a test runner is large: a small process starts the command.
        """
        said, used = self.top / "said", self.top / "used"
        command = [sys.executable, "-c", MEASURED, str(used), sys.executable, "-m", "outfitter", *words]
        with open(said, "wb") as out:
            ended = subprocess.run(
                command,
                cwd=self.project,
                env=self.env(script),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                check=False,
            )
        return ended.returncode, said.read_bytes(), int(used.read_text())

    def run_directories(self):
        return sorted(self.tmp.glob("outfitter-*"))

    def kept(self):
        """Everything under `conflicts/`, as bytes by path."""
        root = self.home / ".local/state/outfitter/conflicts"
        return (
            {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
            if root.exists()
            else {}
        )

    def slug(self, path=None):
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in str(path or self.project))

    def tree(self, root):
        """Every file under `root` as {relative path: (mode, bytes)}: what a test compares before and after."""
        found = {}
        for path in sorted(Path(root).rglob("*")):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                found[str(path.relative_to(root))] = (stat.S_IMODE(status.st_mode), path.read_bytes())
        return found

    def wait_for(self, path, seconds=20):
        end = time.monotonic() + seconds
        while not Path(path).exists():
            assert time.monotonic() < end, f"{path} did not appear"
            time.sleep(0.02)

    def close(self):
        """End what still runs, and make every directory removable again."""
        for process in self._started:
            process.kill()
            process.communicate()
        for folder, _, _ in os.walk(self.top):
            os.chmod(folder, 0o700)
        shutil.rmtree(self.top, ignore_errors=True)
