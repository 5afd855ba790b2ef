"""Puts measured figures into `docs/benchmarks.md`: `python -m benchmarks.page FIGURES.json docs/benchmarks.md`."""

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
    """One table a task, a column a contender; then every required ratio and what was reached; then the machine."""
    tasks: dict[str, list[dict[str, Any]]] = {}
    for result in document["results"]:
        tasks.setdefault(result["task"], []).append(result)
    parts = [_machine(document["machine"])]
    for task, results in tasks.items():
        parts.append(_task(task, sorted(results, key=lambda one: (one["files"], one["bytes"]))))
    missing = [f"`{one['peer']}` ({one['reason']})" for one in document["missing_peers"]]
    parts.append("Missing peers: " + (", ".join(missing) if missing else "none") + ".\n")
    return "\n".join(parts)


def ratios(document: dict[str, Any]) -> str:
    """Everything that was asked, and what was reached."""
    rows = ["| task | tier | reached | required | aim | |", "|---|---|---|---|---|---|"]
    for result in document["results"]:
        for one in result["claims"]:
            task = f"{result['task']}, {one['what']}" if one["what"] else result["task"]
            aim = f"{one['aim']:g}" if one["aim"] else ""
            held = "holds" if one["holds"] else "**falls short**"
            rows.append(f"| {task} | {result['tier']} | {one['said']} | {one['most']:g} | {aim} | {held} |")
    return "\n".join(rows) + "\n"


def _machine(machine: dict[str, Any]) -> str:
    load = " to ".join(f"{machine[name][0]:g}" for name in ("load_before", "load_after") if machine.get(name))
    memory = f"{machine['memory_bytes'] / 2**30:.0f} GiB"
    return (
        f"{machine['processor']}, {machine['cores']} cores, {memory}; {machine['system']}; {machine['file_system']}; "
        f"Python {machine['python']}; load average {load}.\n"
    )


def _task(task: str, results: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(one["name"] for result in results for one in result["contenders"]))
    lines = [f"### {task[0].upper()}{task[1:]}", ""]
    lines.append("| tier | files | MB | " + " | ".join(names) + " | ours: cpu s | ours: peak MB |")
    lines.append("|---|---|---|" + "---|" * (len(names) + 2))
    for result in results:
        by_name = {one["name"]: one for one in result["contenders"]}
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
    """Replace what stands between the two marks of the page."""
    with open(figures) as file:
        document = json.load(file)
    document["results"].sort(key=lambda one: (ORDER.index(one["task"]), one["files"], one["bytes"]))
    with open(page) as file:
        before, _, rest = file.read().partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(page, "w") as file:
        file.write(f"{before}{BEGIN}\n{ratios(document)}\n{tables(document)}\n{END}{after}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
