"""The programs that are measured for comparison: found here, or listed as missing with a reason."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

_DVC = """
import sys
from dvc_data.hashfile.build import build
from dvc_data.hashfile.db import HashFileDB
from dvc_data.hashfile.state import State
from dvc_objects.fs.local import LocalFileSystem
root, place = sys.argv[1:]
fs = LocalFileSystem()
state = State(root_dir=root, tmp_dir=place)
_, _, made = build(HashFileDB(fs, place + "/odb", state=state), root, fs, "md5", dry_run=True)
print(made.hash_info.value)
"""
_PAQ = "import sys, paqpy; print(paqpy.hash_source(sys.argv[1], False))"


class Peers(NamedTuple):
    """Programs by name, the Python with the Python peers, and (peer, reason) for the missing ones."""

    programs: dict[str, str]
    python: str
    modules: frozenset[str]
    node: str
    npm: str
    missing: tuple[tuple[str, str], ...]

    def paq(self, root: str) -> Sequence[str]:
        """Return the command for one digest of a directory by paqpy."""
        return (self.python, "-c", _PAQ, root)

    def dvc(self, root: str, state: str) -> Sequence[str]:
        """Return the command for a tree by dvc-data, with its state database under `state`."""
        return (self.python, "-c", _DVC, root, state)

    def dirhash(self, root: str, jobs: int) -> Sequence[str]:
        """Return the command for one digest of a directory by dirhash."""
        code = "import sys; from dirhash.cli import main; main()"
        return (self.python, "-c", code, root, "-a", "sha256", "--empty-dirs", "-j", str(jobs))


def find(python: str, npm: str, node: str, wanted: bool) -> Peers:
    """Look for every peer.

    `npm` is a directory with `node_modules/@ai-outfitter/outfitter`; "" means the current one.
    """
    missing: list[tuple[str, str]] = []
    programs: dict[str, str] = {}
    for name in ("find", "xargs", "cp", "b3sum", *(("git", "rsync", "diff") if wanted else ())):
        path = shutil.which(name)
        if path:
            programs[name] = path
        else:
            missing.append((name, "not on PATH"))
    modules: set[str] = set()
    for name, module in (("dirhash", "dirhash"), ("paqpy", "paqpy"), ("dvc-data", "dvc_data")) if wanted else ():
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            modules.add(name)
        else:
            missing.append((name, f"{python} has no module {module}"))
    script, problem = _npm_package(npm, node) if wanted else ("", "")
    if problem:
        missing.append(("@ai-outfitter/outfitter", problem))
    return Peers(programs, python, frozenset(modules), node, script, tuple(missing))


def _npm_package(directory: str, node: str) -> tuple[str, str]:
    """Return (the script of its command, why it cannot be used)."""
    script = os.path.join(directory or ".", "node_modules/@ai-outfitter/outfitter/dist/cli.js")
    if not os.path.exists(script):
        return "", f"no {script}: npm install @ai-outfitter/outfitter, and name the directory with --npm"
    try:
        text = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        version = int(text.strip().lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return "", f"cannot run {node}"
    return (
        (os.path.abspath(script), "")
        if version >= 22
        else ("", f"{node} is {text.strip()}, version 22 or later is required")
    )
