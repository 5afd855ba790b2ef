"""The programs we are measured beside: found on this machine, or named as missing with the reason."""

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
    """What was found: programs by name, the Python that has the Python peers, and (peer, why not) for the rest."""

    programs: dict[str, str]
    python: str
    modules: frozenset[str]
    node: str
    npm: str
    missing: tuple[tuple[str, str], ...]

    def paq(self, root: str) -> Sequence[str]:
        """One digest of a directory by paqpy."""
        return (self.python, "-c", _PAQ, root)

    def dvc(self, root: str, state: str) -> Sequence[str]:
        """A tree by dvc-data, with its state database under `state`."""
        return (self.python, "-c", _DVC, root, state)

    def dirhash(self, root: str, jobs: int) -> Sequence[str]:
        """One digest of a directory by dirhash."""
        code = "import sys; from dirhash.cli import main; main()"
        return (self.python, "-c", code, root, "-a", "sha256", "--empty-dirs", "-j", str(jobs))


def find(python: str, npm: str, node: str, wanted: bool) -> Peers:
    """Look for every peer. `npm` is a directory with `node_modules/@ai-outfitter/outfitter`; "" for the present one."""
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
    script, why = _npm_package(npm, node) if wanted else ("", "")
    if why:
        missing.append(("@ai-outfitter/outfitter", why))
    return Peers(programs, python, frozenset(modules), node, script, tuple(missing))


def _npm_package(directory: str, node: str) -> tuple[str, str]:
    """(its command's script, why not)."""
    script = os.path.join(directory or ".", "node_modules/@ai-outfitter/outfitter/dist/cli.js")
    if not os.path.exists(script):
        return "", f"no {script}: npm install @ai-outfitter/outfitter, and name the directory with --npm"
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        version = int(said.strip().lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return "", f"{node} cannot be run"
    return (os.path.abspath(script), "") if version >= 22 else ("", f"{node} is {said.strip()}, and it needs 22")
