"""Figures for people and programs: a table, a JSON document, and plots of time against tree size."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from benchmarks.claims import MB, Claim
from benchmarks.peers import Peers
from benchmarks.tasks import OURS, Result

# Checked for colour-blind readers; in grey print the marks tell them apart.
COLOURS = ("#2a78d6", "#eb6834", "#1baf7a", "#eda100", "#e87ba4", "#008300", "#4a3aa7", "#e34948")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def verdicts(result: Result) -> list[str]:
    """Return the verdict on each claim that can be judged."""
    return [said for claim in result.claims if (said := claim.verdict(result.figures))]


def table(result: Result) -> str:
    """Return one task as aligned lines of text."""
    head = f"{result.task}, {result.tier}" + (
        f": {result.files:,} files, {result.size / MB:,.0f} MB" if result.files else ""
    )
    rows = [("", "min s", "median s", "cpu s", "peak MB", "verified")]
    for contender in result.figures:
        checked = {True: "yes", False: "NO", None: ""}[contender.verified]
        figures = (
            f"{contender.minimum:.3f}",
            f"{contender.median:.3f}",
            f"{contender.cpu:.3f}",
            f"{contender.peak / MB:.0f}",
        )
        rows.append((contender.name, *figures, checked))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = [head]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join([*lines, *[f"  {said}" for said in verdicts(result)]])


def document(machine: dict[str, object], results: Sequence[Result], peers: Peers) -> dict[str, Any]:
    """Return everything as data, for `--json`."""
    return {
        "schema_version": 2,
        "machine": machine,
        "missing_peers": [{"peer": name, "reason": reason} for name, reason in peers.missing],
        "results": [
            {
                "task": result.task,
                "tier": result.tier,
                "files": result.files,
                "bytes": result.size,
                "claims": [said for claim in result.claims if (said := _claim(claim, result))],
                "contenders": [
                    {
                        "name": contender.name,
                        "seconds_min": contender.minimum,
                        "seconds_median": contender.median,
                        "cpu_seconds_min": contender.cpu,
                        "peak_bytes": contender.peak,
                        "rounds": contender.rounds,
                        "verified": contender.verified,
                    }
                    for contender in result.figures
                ],
            }
            for result in results
        ],
    }


def _claim(claim: Claim, result: Result) -> dict[str, Any] | None:
    reached = claim.reached(result.figures)
    if reached is None:
        return None
    said = {"said": claim.said(reached), "holds": claim.holds(reached)}
    return {**claim._asdict(), "reached": reached, **said}


def plot(document_: dict[str, Any], directory: str) -> list[str]:
    """Write one figure per task on trees, seconds against files; return the files written."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    os.makedirs(directory, exist_ok=True)
    written: list[str] = []
    tasks: dict[str, list[dict[str, Any]]] = {}
    for result in document_["results"]:
        if result["files"]:
            tasks.setdefault(result["task"], []).append(result)
    for task, results in tasks.items():
        figure, axes = plt.subplots(figsize=(7, 4.4), constrained_layout=True)
        for index, (name, points) in enumerate(_series(results).items()):
            ours = name == OURS
            colour, mark = COLOURS[index % len(COLOURS)], MARKS[index % len(MARKS)]
            axes.plot(
                *zip(*points, strict=True),
                color=colour,
                marker=mark,
                markersize=7,
                linewidth=2.4 if ours else 1.6,
                label=name,
                zorder=3 if ours else 2,
            )
        axes.set(xscale="log", yscale="log", xlabel="files in the tree", ylabel="seconds, minimum of the rounds")
        axes.set_title(task, loc="left")
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9)
        for kind in ("png", "svg"):
            path = os.path.join(directory, f"{task.replace(' ', '-')}.{kind}")
            figure.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else None)
            written.append(path)
        plt.close(figure)
    return written


def _series(results: Sequence[dict[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """Return contender → (files, seconds), by files; ours first."""
    series: dict[str, list[tuple[int, float]]] = {OURS: []}
    for result in sorted(results, key=lambda result: int(result["files"])):
        for row in result["contenders"]:
            series.setdefault(row["name"], []).append((result["files"], row["seconds_min"]))
    return series
