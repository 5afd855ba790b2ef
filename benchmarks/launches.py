"""Whole launches and the commands that follow them, timed beside their peers."""

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
from benchmarks.site import IDLE, KILLER
from benchmarks.tasks import CHANGED, OURS, Bench, Result, finish
from benchmarks.trees import TIERS

TO_SPAWN = "outfitter, to the harness's start"
TO_SPAWN_PI = "outfitter, to Pi's start"
# The shell's own clock: starting `date` would be part of what is timed.
STAMPING = '#!/bin/bash\n[ "$1" = --help ] || echo "${EPOCHREALTIME/./}000" > "$STAMP"\n'
NPM, BARE, FIRST = "npm @ai-outfitter/outfitter", "python -c pass", "outfitter, nothing remembered"
ONE_AGENT = "outfitter, a tree with one agent"


def launching(bench: Bench, tier: str) -> Result:
    """A whole isolated Claude Code launch with a history of sessions and an idle harness."""
    site = bench.site
    site.harness(IDLE)
    native = site.durable(tier, bench.say) if tier in TIERS else ""
    before = independent.contents(native) if native else {}
    words = ("run", "a", "--harness", "claude", "--isolated")
    racing = [bench.ours(*words, cwd=site.project, check=lambda _: not native or len(os.listdir(site.tmp)) == 0)]
    cache = os.path.join(site.home, ".agents/cache")
    racing.append(racing[0]._replace(name=FIRST, before=lambda: site.remove(cache)))
    if bench.peers.npm:
        command = (bench.peers.node, bench.peers.npm, *words)
        racing.append(Contender(NPM, command, env=site.env, cwd=site.project))
    if not native:
        racing.append(Contender(BARE, (sys.executable, "-c", "pass"), env=site.env))
        racing += [_to_spawn(bench, TO_SPAWN, *words), _to_spawn(bench, TO_SPAWN_PI, "run", "a", "--harness", "pi")]
    found = finish(bench, "launch" if native else "start-up", tier, racing, *_claims(tier))
    if native and independent.contents(native) != before:
        raise RuntimeError("a launch with an idle harness changed the durable side")
    if native:
        site.remove(native)
    return found


def _claims(tier: str) -> tuple[Claim, ...]:
    if tier not in TIERS:
        to_spawn = (Claim(name, BARE, 8, what=name.removeprefix("outfitter, ")) for name in (TO_SPAWN, TO_SPAWN_PI))
        return (Claim(OURS, NPM, 0.5), *to_spawn)
    if tier.startswith("launch"):
        # Warm and first are the same work where no digest is worth remembering: their minima differ by chance.
        return Claim(OURS, NPM, 0.4), Claim(OURS, FIRST, 1.05, what="warm")
    return ()


def _to_spawn(bench: Bench, name: str, *words: str) -> Contender:
    """A launch timed until the harness has started and asked the clock; a program of its own, which stays as it is."""
    site, stamp = bench.site, bench.site.path("stamp")
    for harness in ("pi", "claude"):
        site.harness(STAMPING, harness, "stamping")
    env = {**site.env, "PATH": f"{site.path('stamping')}:{site.env['PATH']}", "STAMP": stamp}
    return bench.ours(*words, cwd=site.project)._replace(name=name, env=env, stamp=stamp)


def diffing(bench: Bench, tier: str) -> Result:
    """Show what a retained run changed: ten sessions appended to."""
    site = bench.site
    native = site.durable(tier, bench.say)
    site.harness(
        '#!/bin/sh\n[ "$1" = --help ] && exit 0\n'
        f'find "$CLAUDE_CONFIG_DIR/projects" -type f | head -n {CHANGED} | while read -r f; do echo x >> "$f"; done\n'
    )
    words = ("run", "a", "--harness", "claude", "--isolated", "--retain-projection")
    subprocess.run(site.outfitter(*words), env=site.env, cwd=site.project, check=True, capture_output=True)
    (name,) = os.listdir(site.tmp)
    run = os.path.join(site.tmp, name)
    racing = [
        bench.ours("diff", run, "--json", check=lambda out: len(json.loads(out)["changes"]) == CHANGED),
    ]
    if "diff" in bench.peers.programs:
        text = f"diff -rq {shlex.quote(native)} {shlex.quote(run)}/projection/projects || :"
        racing.append(bench.shell("diff -rq", text))
    if "git" in bench.peers.programs:
        text = f"git diff --no-index --name-only {shlex.quote(native)} {shlex.quote(run)}/projection/projects || :"
        racing.append(bench.shell("git diff --no-index", text))
    found = finish(bench, "diff", tier, racing)
    site.harness(IDLE)
    site.remove(run)
    site.remove(native)
    return found


def recovering(bench: Bench, tier: str) -> Result:
    """Save what a killed launcher left: one new session among a whole history."""
    site = bench.site
    native = site.durable(tier, bench.say)
    new = f"{native}/{site.slug}/new.jsonl"

    def kill() -> None:
        if os.path.exists(new):
            os.unlink(new)
        site.harness(KILLER)
        words = ("run", "a", "--harness", "claude", "--isolated")
        env = {**site.env, "SLUG": site.slug}
        subprocess.run(site.outfitter(*words), env=env, cwd=site.project, check=False, capture_output=True)
        site.harness(IDLE)
        time.sleep(0.05)

    def saved(_: str) -> bool:
        return os.path.exists(new) and not os.listdir(site.tmp)

    racing = [bench.ours("recover", before=kill, check=saved, cwd=site.project)]
    found = finish(bench, "recover", tier, racing)
    site.remove(native)
    return found


def composing(bench: Bench, size: str) -> Result:
    """List a project with three sources, and launch from it beside a launch from a tree with one agent (spec/10; +150 ms at most)."""
    site, count = bench.site, int(size.split()[0])
    site.harness(IDLE, "pi")
    os.makedirs(site.path("many/.git"), exist_ok=True)
    trees = ("many/.agents", "source-1", "source-2", "source-3")
    for number in range(count):
        _resources(bench, trees[number % len(trees)], number)
    site.write(
        "many/.agents/settings.yml",
        "sources: [{path: ../../source-1}, {path: ../../source-2}, {path: ../../source-3}]\n",
    )
    many, last = site.path("many"), f"x{count - 1}"
    racing = [
        bench.ours("run", last, "--harness", "pi", cwd=many),
        bench.ours("run", "a", "--harness", "pi", cwd=site.project)._replace(name=ONE_AGENT),
        bench.ours("list", cwd=many, check=lambda out: out.count("[") >= 5 * count)._replace(name="outfitter list"),
    ]
    found = finish(bench, "compose", size, racing, *([Claim(OURS, ONE_AGENT, 2.5)] if count >= 500 else []))
    for tree in ("many", *trees[1:]):
        site.remove(site.path(tree))
    return found


def _resources(bench: Bench, tree: str, number: int) -> None:
    """One agent and four skills, two of which it selects."""
    front = f"---\nname: x{number}\ndescription: Agent {number}.\nskills: [s{number}-0, s{number}-1]\n---\n\n"
    bench.site.write(f"{tree}/agents/x{number}/agent.md", f"{front}You are {number}.\n")
    for skill in range(4):
        text = f"---\nname: s{number}-{skill}\ndescription: Skill {number}.\n---\n\nDo {number}.\n"
        bench.site.write(f"{tree}/skills/s{number}-{skill}/SKILL.md", text)
