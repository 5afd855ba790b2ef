"""`python -m benchmarks`: measure, verify and report."""

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
from benchmarks.tasks import Bench, Result
from benchmarks.trees import TIERS
from benchmarks.workspace import Workspace

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
# A million files take gigabytes and minutes, so they are measured only on request.
UNASKED = tuple(name for name in (*ON_TREES, *OTHERS) if name != "growth")


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure outfitter beside its peers.")
    parser.add_argument(
        "--tier", action="append", choices=sorted(TIERS), help="a tree to measure on (default: S); repeat for more"
    )
    parser.add_argument(
        "--task", action="append", choices=[*ON_TREES, *OTHERS], help="measure just these (default: all but growth)"
    )
    parser.add_argument("--peers", action="store_true", help="all peers, not only the references")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds that count (default: 5)")
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the figures there; figures that are there of other tasks and tiers are kept",
    )
    parser.add_argument(
        "--plot", metavar="DIR", help="write plots there, PNG and SVG (needs matplotlib: the extra `bench`)"
    )
    parser.add_argument("--place", metavar="DIR", help="where to make the trees: the file system that is measured")
    parser.add_argument(
        "--peer-python", default=sys.executable, metavar="FILE", help="the Python that has the Python peers"
    )
    parser.add_argument("--npm", default="", metavar="DIR", help="where @ai-outfitter/outfitter is installed")
    parser.add_argument("--node", default="node", metavar="FILE", help="Node.js 22 or later")
    return parser.parse_args()


def main() -> int:
    """Run what was asked for; return 1 if a result was wrong or a requirement is not met."""
    arguments = options()
    peers = find(arguments.peer_python, arguments.npm, arguments.node, arguments.peers)
    # Exit by an exception on TERM, so that the gigabytes of trees are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    workspace = Workspace(arguments.place)
    results: list[Result] = []
    about = machine(workspace.top)
    try:
        bench = Bench(
            workspace, peers, arguments.rounds, lambda text: print(f"... {text}", file=sys.stderr, flush=True)
        )
        for name, reason in peers.missing:
            print(f"missing peer: {name}: {reason}")
        for task, tier in _wanted(arguments.task, arguments.tier or ["S"]):
            results.append((ON_TREES | OTHERS)[task](bench, tier))
            print(report.table(results[-1]), flush=True)
        about["load_after"] = [round(load, 2) for load in os.getloadavg()]
    finally:
        workspace.close()
    figures = report.document(about, results, peers)
    if arguments.json:
        figures = _merged(arguments.json, figures)
        with open(arguments.json, "w") as file:
            json.dump(figures, file, indent=1)
    if arguments.plot:
        print("\n".join(report.plot(figures, arguments.plot)))
    wrong = [row for result in results for row in result.figures if row.verified is False]
    return 1 if wrong or any("FALLS" in verdict for result in results for verdict in report.verdicts(result)) else 0


def _wanted(chosen: list[str] | None, tiers: list[str]) -> list[tuple[str, str]]:
    """Return (task, tier) in order; the tree of a tier is made once for all its tasks."""
    names = chosen or UNASKED
    on_trees = [(task, tier) for tier in tiers for task in ON_TREES if task in names]
    return on_trees + [(task, size) for task in OTHERS if task in names for size in OTHER_SIZES[task]]


def _merged(path: str, new: dict[str, object]) -> dict[str, object]:
    """Return the new figures, and those of an earlier file that were not measured again."""
    try:
        with open(path) as file:
            old = json.load(file)
    except (OSError, ValueError):
        return new
    fresh = new["results"]
    assert isinstance(fresh, list)
    measured = {(result["task"], result["tier"]) for result in fresh}
    kept = [result for result in old.get("results", ()) if (result["task"], result["tier"]) not in measured]
    return {**new, "results": [*kept, *fresh]}


if __name__ == "__main__":
    sys.exit(main())
