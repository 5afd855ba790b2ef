"""What is measured: each task races our process against its peers on one tier, results verified."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks import independent
from benchmarks.claims import Claim
from benchmarks.measure import Contender, Figures, race
from benchmarks.peers import Peers
from benchmarks.trees import TIERS
from benchmarks.workspace import Workspace

OURS = "outfitter"
CHANGED = 10
# With fewer files, the start of a process outweighs its work, and no ratio is required.
RATIO_FROM = 2_000
# A hundred thousand files may take 120 MB more than a bare Python (10 MB).
MEMORY_FROM, MEMORY = 100_000, Claim(OURS, "", 130, what="memory")
TENTH = "outfitter, a tenth of the files"


class Result(NamedTuple):
    """One task on one tier, and what is required of it."""

    task: str
    tier: str
    files: int
    size: int
    figures: Sequence[Figures]
    claims: tuple[Claim, ...] = ()


class Bench(NamedTuple):
    """What every task is given."""

    workspace: Workspace
    peers: Peers
    rounds: int
    say: Callable[[str], None]

    def shell(self, name: str, text: str) -> Contender:
        """Return a pipeline of other programs as a contender."""
        return Contender(name, ("sh", "-c", text), env=self.workspace.env)

    def ours(self, *arguments: str, **more: object) -> Contender:
        """Return a run of our command as a contender."""
        return Contender(OURS, self.workspace.outfitter(*arguments), env=self.workspace.env, **more)  # type: ignore[arg-type]

    def kernel(self, *arguments: str, **more: object) -> Contender:
        """Return a single step of ours, in its own process, as a contender."""
        command = (sys.executable, "-m", "benchmarks.kernels", *arguments)
        return Contender(OURS, command, env=self.workspace.env, **more)  # type: ignore[arg-type]


def finish(bench: Bench, task: str, tier: str, contenders: Sequence[Contender], *claims: Claim) -> Result:
    """Race the contenders; return the result with the size of the tier and the claims."""
    bench.say(f"{task} {tier}: {', '.join(contender.name for contender in contenders)}")
    want = TIERS.get(tier)
    files, size = (want.files, want.size) if want else (0, 0)
    return Result(task, tier, files, size, race(contenders, bench.rounds), claims)


def _claims(tier: str, least: int, *claims: Claim) -> tuple[Claim, ...]:
    """Return the claims for trees of `least` files or more."""
    return claims if TIERS[tier].files >= least else ()


def _starts_with(expected: str) -> Callable[[str], bool]:
    return lambda out: out.startswith(expected)


def cold(bench: Bench, tier: str) -> Result:
    """Fingerprint everything with nothing cached."""
    root, peers = bench.workspace.tree(tier, bench.say), bench.peers
    quoted, scratch = shlex.quote(root), bench.workspace.path("scratch")
    expected = independent.fingerprint(root)
    racing = [bench.ours("fingerprint", "--no-cache", root, check=_starts_with(expected))]
    if "b3sum" in peers.programs:
        racing.append(bench.shell("b3sum", f"find {quoted} -type f -print0 | xargs -0 -n 2000 -P 2 b3sum"))
    if "git" in peers.programs:
        git = f"git -c core.compression=0 --git-dir={shlex.quote(scratch)}/git --work-tree={quoted}"
        racing.append(
            bench.shell("git add", f"{git} init -q && {git} add -A")._replace(
                before=lambda: _recreate(bench.workspace, scratch)
            )
        )
    if "paqpy" in peers.modules:
        racing.append(Contender("paqpy", peers.paq(root), env=bench.workspace.env))
    if "dirhash" in peers.modules:
        racing.append(Contender("dirhash", peers.dirhash(root, os.cpu_count() or 1), env=bench.workspace.env))
    if "dvc-data" in peers.modules:
        racing.append(
            Contender(
                "dvc-data",
                peers.dvc(root, scratch),
                env=bench.workspace.env,
                before=lambda: _recreate(bench.workspace, scratch),
            )
        )
    claims = _claims(tier, RATIO_FROM, Claim(OURS, "b3sum", 1.15, 0.9))
    result = finish(bench, "cold fingerprint", tier, racing, *claims, *_claims(tier, MEMORY_FROM, MEMORY))
    bench.workspace.remove(scratch)
    return result


def growing(bench: Bench, size: str) -> Result:
    """Fingerprint a million small files beside a hundred thousand: the cost is linear (spec/60)."""
    racing = []
    for name, tier in ((OURS, "N1M-200B"), (TENTH, "N100k-200B")):
        root = bench.workspace.tree(tier, bench.say)
        check = _starts_with(independent.fingerprint(root))
        racing.append(bench.ours("fingerprint", "--no-cache", root, check=check)._replace(name=name))
    result = finish(bench, "growth", size, racing, Claim(OURS, TENTH, 11))
    for tier in ("N1M-200B", "N100k-200B"):
        bench.workspace.drop(tier)
    return result


def _recreate(workspace: Workspace, directory: str) -> None:
    workspace.remove(directory)
    os.makedirs(directory)


class _Changes:
    """Appends to ten files each round, and computes the fingerprint they then have."""

    def __init__(self, root: str) -> None:
        self.root = root
        paths = sorted(independent.contents(root))
        self.paths = paths[:: max(1, len(paths) // CHANGED)][:CHANGED]
        self.expected = ""

    def make(self) -> None:
        """Change the files, then wait until they are not racy."""
        for path in self.paths:
            with open(os.path.join(os.fsencode(self.root), path), "ab") as file:
                file.write(b"\n")
        time.sleep(0.05)
        self.expected = independent.fingerprint(self.root)


def warm(bench: Bench, tier: str) -> Result:
    """Fingerprint again after ten files changed."""
    root, peers, workspace = bench.workspace.tree(tier, bench.say), bench.peers, bench.workspace
    quoted, scratch = shlex.quote(root), workspace.path("scratch")
    _recreate(workspace, scratch)
    changes = _Changes(root)
    racing = [bench.ours("fingerprint", root, before=changes.make, check=lambda out: out.startswith(changes.expected))]
    if "find" in peers.programs:
        racing.append(bench.shell("find -printf", f"find {quoted} -type f -printf '%s %T@ %p\\n'"))
    if "git" in peers.programs:
        git = f"git -c core.compression=0 --git-dir={shlex.quote(scratch)}/git --work-tree={quoted}"
        subprocess.run(["sh", "-c", f"{git} init -q && {git} add -A"], env=workspace.env, check=True)
        racing.append(bench.shell("git diff-files", f"{git} diff-files --name-only"))
    if "dvc-data" in peers.modules:
        racing.append(Contender("dvc-data", peers.dvc(root, scratch), env=workspace.env))
    if "rsync" in peers.programs and TIERS[tier].size < 2_000_000_000:
        copy = shlex.quote(scratch + "/copy")
        subprocess.run(["sh", "-c", f"cp -a {quoted} {copy}"], check=True)
        racing.append(bench.shell("rsync -n", f"rsync -an --out-format=%n {quoted}/ {copy}/"))
    claims = _claims(tier, MEMORY_FROM, Claim(OURS, "find -printf", 1.2, 0.8), MEMORY)
    result = finish(bench, "warm comparison", tier, racing, *claims)
    workspace.remove(scratch)
    return result


def seeding(bench: Bench, tier: str) -> Result:
    """Copy the session tree into a projection, with digests."""
    root, workspace = bench.workspace.tree(tier, bench.say), bench.workspace
    quoted, target = shlex.quote(root), workspace.path("seeded")
    expected = independent.fingerprint(root)

    def clear() -> None:
        workspace.remove(target)

    def whole(_: str) -> bool:
        os.sync()
        return independent.fingerprint(target) == expected

    racing = [bench.kernel("seed", root, target, before=clear, check=whole)]
    copy = f"cp -a {quoted} {shlex.quote(target)}"
    racing.append(bench.shell("cp -a", copy)._replace(before=clear, check=whole))
    if "b3sum" in bench.peers.programs:
        digest = f"find {quoted} -type f -print0 | xargs -0 -n 2000 -P 2 b3sum"
        racing.append(bench.shell("cp -a; b3sum", f"{copy}; {digest}")._replace(before=clear))
    if "rsync" in bench.peers.programs:
        racing.append(bench.shell("rsync -a", f"rsync -a {quoted}/ {shlex.quote(target)}/")._replace(before=clear))
    if tier == "X2G":
        claims: tuple[Claim, ...] = (Claim(OURS, "cp -a; b3sum", 2), Claim(OURS, "", 150, what="memory"))
    else:
        claims = _claims(tier, RATIO_FROM, Claim(OURS, "cp -a", 1.3))
    result = finish(bench, "seeding", tier, racing, *claims)
    clear()
    return result


def merging(bench: Bench, tier: str) -> Result:
    """Copy nothing back: the harness ended, and no file changed on either side."""
    workspace = bench.workspace
    native = workspace.durable(tier, bench.say)
    root = os.path.join(workspace.tmp, "outfitter-a-claude-merging0")
    prepared = bench.kernel("prepare", workspace.home, root, workspace.slug)
    subprocess.run(prepared.command, env=prepared.env, check=True)
    before = independent.contents(native)
    sides = f"{shlex.quote(native + '/' + workspace.slug)} {shlex.quote(root + '/projection')}"
    racing = [
        bench.kernel("merge", root, check=lambda out: out.split() == ["0", "True"]),
        bench.shell("find -printf, both sides", f"find {sides} -type f -printf '%s %T@ %p\\n'"),
    ]
    if "diff" in bench.peers.programs:
        racing.append(
            bench.shell("diff -rq", f"diff -rq {shlex.quote(native)} {shlex.quote(root)}/projection/projects || :")
        )
    claims = _claims(tier, RATIO_FROM, Claim(OURS, "find -printf, both sides", 2))
    result = finish(bench, "unchanged merge", tier, racing, *claims)
    if independent.contents(native) != before:
        raise RuntimeError("an unchanged merge changed the durable side")
    os.unlink(root + ".record")
    workspace.remove(root)
    workspace.remove(native)
    return result
