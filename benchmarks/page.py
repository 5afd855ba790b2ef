"""Write measured figures into `docs/benchmarks.md`.

Run `python -m benchmarks.page FIGURES.json docs/benchmarks.md`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

BEGIN, END = "<!-- figures begin -->\n", "<!-- figures end -->\n"
MB = 10**6
ORDER = (
    "start-up",
    "launch",
    "cold fingerprint",
    "growth",
    "warm comparison",
    "seeding",
    "unchanged merge",
    "diff",
    "recover",
    "compose",
)


def tables(document: dict[str, Any]) -> str:
    """Return the machine, one table per task with a column per contender, and the missing peers."""
    tasks: dict[str, list[dict[str, Any]]] = {}
    for result in document["results"]:
        tasks.setdefault(result["task"], []).append(result)
    parts = [_machine(document["machine"])]
    for task, results in tasks.items():
        parts.append(_task(task, sorted(results, key=lambda result: (result["files"], result["bytes"]))))
    missing = [f"`{peer['peer']}` ({peer['reason']})" for peer in document["missing_peers"]]
    parts.append("Missing peers: " + (", ".join(missing) if missing else "none") + ".\n")
    return "\n".join(parts)


def ratios(document: dict[str, Any]) -> str:
    """Return a table of every requirement and the value reached."""
    rows = ["| task | tier | reached | required | aim | |", "|---|---|---|---|---|---|"]
    for result in document["results"]:
        for claim in result["claims"]:
            task = f"{result['task']}, {claim['what']}" if claim["what"] else result["task"]
            aim = f"{claim['aim']:g}" if claim["aim"] else ""
            held = "holds" if claim["holds"] else "**falls short**"
            rows.append(f"| {task} | {result['tier']} | {claim['said']} | {claim['most']:g} | {aim} | {held} |")
    return "\n".join(rows) + "\n"


def _machine(machine: dict[str, Any]) -> str:
    load = " to ".join(f"{machine[name][0]:g}" for name in ("load_before", "load_after") if machine.get(name))
    memory = f"{machine['memory_bytes'] / 2**30:.0f} GiB"
    return (
        f"{machine['processor']}, {machine['cores']} cores, {memory}; {machine['system']}; {machine['file_system']}; "
        f"Python {machine['python']}; load average {load}.\n"
    )


def _task(task: str, results: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(row["name"] for result in results for row in result["contenders"]))
    lines = [f"### {task[0].upper()}{task[1:]}", ""]
    lines.append("| tier | files | MB | " + " | ".join(names) + " | ours: cpu s | ours: peak MB |")
    lines.append("|---|---|---|" + "---|" * (len(names) + 2))
    for result in results:
        by_name = {row["name"]: row for row in result["contenders"]}
        cells = [
            f"{by_name[name]['seconds_min']:.3f} ({by_name[name]['seconds_median']:.3f})" if name in by_name else ""
            for name in names
        ]
        ours = by_name[names[0]]
        files = f"{result['files']:,}" if result["files"] else ""
        size = f"{result['bytes'] / MB:,.0f}" if result["files"] else ""
        tail = [f"{ours['cpu_seconds_min']:.2f}", f"{ours['peak_bytes'] / MB:.0f}"]
        lines.append("| " + " | ".join([result["tier"], files, size, *cells, *tail]) + " |")
    return "\n".join(lines) + "\n"


def main(figures: str, page: str) -> None:
    """Replace what is between the two marks of the page."""
    with open(figures) as file:
        document = json.load(file)
    document["results"].sort(key=lambda result: (ORDER.index(result["task"]), result["files"], result["bytes"]))
    with open(page) as file:
        before, _, rest = file.read().partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(page, "w") as file:
        file.write(f"{before}{BEGIN}\n{ratios(document)}\n{tables(document)}\n{END}{after}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
