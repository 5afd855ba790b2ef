"""Whole launches, and the commands that follow them, timed beside their peers."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time

from benchmarks import independent
from benchmarks.claims import Claim
from benchmarks.measure import Contender
from benchmarks.tasks import CHANGED, OURS, Bench, Result, finish
from benchmarks.trees import TIERS
from benchmarks.workspace import IDLE, KILLER

TO_SPAWN = "outfitter, to the harness's start"
TO_SPAWN_PI = "outfitter, to Pi's start"
# The shell's own clock, because starting `date` would add to the time.
STAMPING = '#!/bin/bash\n[ "$1" = --help ] || echo "${EPOCHREALTIME/./}000" > "$STAMP"\n'
NPM, BARE, FIRST = "npm @ai-outfitter/outfitter", "python -c pass", "outfitter, nothing remembered"
ONE_AGENT = "outfitter, a tree with one agent"


def launching(bench: Bench, tier: str) -> Result:
    """Launch isolated Claude Code with a history of sessions and an idle harness."""
    workspace = bench.workspace
    workspace.harness(IDLE)
    native = workspace.durable(tier, bench.say) if tier in TIERS else ""
    before = independent.contents(native) if native else {}
    arguments = ("run", "a", "--harness", "claude", "--isolated")
    racing = [
        bench.ours(*arguments, cwd=workspace.project, check=lambda _: not native or len(os.listdir(workspace.tmp)) == 0)
    ]
    cache = os.path.join(workspace.home, ".agents/cache")
    racing.append(racing[0]._replace(name=FIRST, before=lambda: workspace.remove(cache)))
    if bench.peers.npm:
        command = (bench.peers.node, bench.peers.npm, *arguments)
        racing.append(Contender(NPM, command, env=workspace.env, cwd=workspace.project))
    if not native:
        racing.append(Contender(BARE, (sys.executable, "-c", "pass"), env=workspace.env))
        racing += [_to_spawn(bench, TO_SPAWN, *arguments), _to_spawn(bench, TO_SPAWN_PI, "run", "a", "--harness", "pi")]
    result = finish(bench, "launch" if native else "start-up", tier, racing, *_claims(tier))
    if native and independent.contents(native) != before:
        raise RuntimeError("a launch with an idle harness changed the durable side")
    if native:
        workspace.remove(native)
    return result


def _claims(tier: str) -> tuple[Claim, ...]:
    if tier not in TIERS:
        to_spawn = (Claim(name, BARE, 8, what=name.removeprefix("outfitter, ")) for name in (TO_SPAWN, TO_SPAWN_PI))
        return (Claim(OURS, NPM, 0.5), *to_spawn)
    if tier.startswith("launch"):
        # With no digest worth caching, warm and first do the same work, and their minima differ by chance.
        return Claim(OURS, NPM, 0.4), Claim(OURS, FIRST, 1.05, what="warm")
    return ()


def _to_spawn(bench: Bench, name: str, *arguments: str) -> Contender:
    """Time a launch until the harness has started and read the clock."""
    workspace, stamp = bench.workspace, bench.workspace.path("stamp")
    for harness in ("pi", "claude"):
        workspace.harness(STAMPING, harness, "stamping")
    env = {**workspace.env, "PATH": f"{workspace.path('stamping')}:{workspace.env['PATH']}", "STAMP": stamp}
    return bench.ours(*arguments, cwd=workspace.project)._replace(name=name, env=env, stamp=stamp)


def diffing(bench: Bench, tier: str) -> Result:
    """Show what a retained run changed: ten sessions with a line appended."""
    workspace = bench.workspace
    native = workspace.durable(tier, bench.say)
    workspace.harness(
        '#!/bin/sh\n[ "$1" = --help ] && exit 0\n'
        f'find "$CLAUDE_CONFIG_DIR/projects" -type f | head -n {CHANGED} | while read -r f; do echo x >> "$f"; done\n'
    )
    arguments = ("run", "a", "--harness", "claude", "--isolated", "--retain-projection")
    subprocess.run(
        workspace.outfitter(*arguments), env=workspace.env, cwd=workspace.project, check=True, capture_output=True
    )
    (name,) = os.listdir(workspace.tmp)
    run = os.path.join(workspace.tmp, name)
    racing = [
        bench.ours("diff", run, "--json", check=lambda out: len(json.loads(out)["changes"]) == CHANGED),
    ]
    if "diff" in bench.peers.programs:
        text = f"diff -rq {shlex.quote(native)} {shlex.quote(run)}/projection/projects || :"
        racing.append(bench.shell("diff -rq", text))
    if "git" in bench.peers.programs:
        text = f"git diff --no-index --name-only {shlex.quote(native)} {shlex.quote(run)}/projection/projects || :"
        racing.append(bench.shell("git diff --no-index", text))
    result = finish(bench, "diff", tier, racing)
    workspace.harness(IDLE)
    workspace.remove(run)
    workspace.remove(native)
    return result


def recovering(bench: Bench, tier: str) -> Result:
    """Save what a killed launcher left: one new session among a whole history."""
    workspace = bench.workspace
    native = workspace.durable(tier, bench.say)
    new = f"{native}/{workspace.slug}/new.jsonl"

    def kill() -> None:
        if os.path.exists(new):
            os.unlink(new)
        workspace.harness(KILLER)
        arguments = ("run", "a", "--harness", "claude", "--isolated")
        env = {**workspace.env, "SLUG": workspace.slug}
        subprocess.run(
            workspace.outfitter(*arguments), env=env, cwd=workspace.project, check=False, capture_output=True
        )
        workspace.harness(IDLE)
        time.sleep(0.05)

    def saved(_: str) -> bool:
        return os.path.exists(new) and not os.listdir(workspace.tmp)

    racing = [bench.ours("recover", before=kill, check=saved, cwd=workspace.project)]
    result = finish(bench, "recover", tier, racing)
    workspace.remove(native)
    return result


def composing(bench: Bench, size: str) -> Result:
    """List a project with three sources, and launch from it beside a tree with one agent (spec/10).

    At most +150 ms are allowed.
    """
    workspace, count = bench.workspace, int(size.split()[0])
    workspace.harness(IDLE, "pi")
    os.makedirs(workspace.path("many/.git"), exist_ok=True)
    trees = ("many/.agents", "source-1", "source-2", "source-3")
    for number in range(count):
        _resources(bench, trees[number % len(trees)], number)
    workspace.write(
        "many/.agents/settings.yml",
        "sources: [{path: ../../source-1}, {path: ../../source-2}, {path: ../../source-3}]\n",
    )
    many, last = workspace.path("many"), f"x{count - 1}"
    racing = [
        bench.ours("run", last, "--harness", "pi", cwd=many),
        bench.ours("run", "a", "--harness", "pi", cwd=workspace.project)._replace(name=ONE_AGENT),
        bench.ours("list", cwd=many, check=lambda out: out.count("[") >= 5 * count)._replace(name="outfitter list"),
    ]
    result = finish(bench, "compose", size, racing, *([Claim(OURS, ONE_AGENT, 2.5)] if count >= 500 else []))
    for tree in ("many", *trees[1:]):
        workspace.remove(workspace.path(tree))
    return result


def _resources(bench: Bench, tree: str, number: int) -> None:
    """Write one agent and four skills, two of which it selects."""
    front = f"---\nname: x{number}\ndescription: Agent {number}.\nskills: [s{number}-0, s{number}-1]\n---\n\n"
    bench.workspace.write(f"{tree}/agents/x{number}/agent.md", f"{front}You are {number}.\n")
    for skill in range(4):
        text = f"---\nname: s{number}-{skill}\ndescription: Skill {number}.\n---\n\nDo {number}.\n"
        bench.workspace.write(f"{tree}/skills/s{number}-{skill}/SKILL.md", text)
