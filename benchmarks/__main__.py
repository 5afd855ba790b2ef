"""`python -m benchmarks`: measure, verify, and report."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable

from benchmarks import launches, report, tasks
from benchmarks.measure import machine
from benchmarks.peers import find
from benchmarks.site import Site
from benchmarks.tasks import Bench, Result
from benchmarks.trees import TIERS

ON_TREES: dict[str, Callable[[Bench, str], Result]] = {
    "cold": tasks.cold,
    "warm": tasks.warm,
    "seed": tasks.seeding,
    "merge": tasks.merging,
    "launch": launches.launching,
    "diff": launches.diffing,
    "recover": launches.recovering,
}
OTHERS: dict[str, Callable[[Bench, str], Result]] = {
    "start-up": launches.launching,
    "compose": launches.composing,
    "growth": tasks.growing,
}
OTHER_SIZES = {"start-up": ("one agent",), "compose": ("50 agents", "500 agents"), "growth": ("1,000,000 files",)}
# A million files take gigabytes and minutes: only where they are asked for.
UNASKED = tuple(name for name in (*ON_TREES, *OTHERS) if name != "growth")


def options() -> argparse.Namespace:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure outfitter beside its peers.")
    made.add_argument(
        "--tier", action="append", choices=sorted(TIERS), help="a tree to measure on (default: S); repeat for more"
    )
    made.add_argument(
        "--task", action="append", choices=[*ON_TREES, *OTHERS], help="measure just these (default: all but growth)"
    )
    made.add_argument("--peers", action="store_true", help="all peers, not only the references")
    made.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds that count (default: 5)")
    made.add_argument(
        "--json",
        metavar="FILE",
        help="write the figures there; figures that are there of other tasks and tiers are kept",
    )
    made.add_argument(
        "--plot", metavar="DIR", help="write plots there, PNG and SVG (needs matplotlib: the extra `bench`)"
    )
    made.add_argument("--place", metavar="DIR", help="where to make the trees: the file system that is measured")
    made.add_argument(
        "--peer-python", default=sys.executable, metavar="FILE", help="the Python that has the Python peers"
    )
    made.add_argument("--npm", default="", metavar="DIR", help="where @ai-outfitter/outfitter is installed")
    made.add_argument("--node", default="node", metavar="FILE", help="Node.js 22 or later")
    return made.parse_args()


def main() -> int:
    """Run what was asked for; 1 where a result was wrong or a requirement does not hold."""
    given = options()
    peers = find(given.peer_python, given.npm, given.node, given.peers)
    # A terminated run leaves no gigabytes behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    site = Site(given.place)
    results: list[Result] = []
    about = machine(site.top)
    try:
        bench = Bench(site, peers, given.rounds, lambda text: print(f"... {text}", file=sys.stderr, flush=True))
        for name, reason in peers.missing:
            print(f"missing peer: {name}: {reason}")
        for task, tier in _wanted(given.task, given.tier or ["S"]):
            results.append((ON_TREES | OTHERS)[task](bench, tier))
            print(report.table(results[-1]), flush=True)
        about["load_after"] = [round(one, 2) for one in os.getloadavg()]
    finally:
        site.close()
    found = report.document(about, results, peers)
    if given.json:
        found = _kept(given.json, found)
        with open(given.json, "w") as file:
            json.dump(found, file, indent=1)
    if given.plot:
        print("\n".join(report.plot(found, given.plot)))
    wrong = [one for result in results for one in result.figures if one.verified is False]
    return 1 if wrong or any("FALLS" in said for result in results for said in report.verdicts(result)) else 0


def _wanted(chosen: list[str] | None, tiers: list[str]) -> list[tuple[str, str]]:
    """(task, tier) in order; the trees of a tier are made once and used one task after the other."""
    names = chosen or UNASKED
    on_trees = [(task, tier) for tier in tiers for task in ON_TREES if task in names]
    return on_trees + [(task, size) for task in OTHERS if task in names for size in OTHER_SIZES[task]]


def _kept(path: str, new: dict[str, object]) -> dict[str, object]:
    """The new figures, and those of an earlier file that were not measured again."""
    try:
        with open(path) as file:
            old = json.load(file)
    except (OSError, ValueError):
        return new
    fresh = new["results"]
    assert isinstance(fresh, list)
    measured = {(one["task"], one["tier"]) for one in fresh}
    kept = [one for one in old.get("results", ()) if (one["task"], one["tier"]) not in measured]
    return {**new, "results": [*kept, *fresh]}


if __name__ == "__main__":
    sys.exit(main())
