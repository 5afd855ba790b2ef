"""One self-contained HTML page of a run's pair or of a batch, without scripts and requests (spec/70).

Pure. The page can be printed, and follows the reader's light or dark colour scheme.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import Any

STYLE = """
:root{color-scheme:light dark;--ink:#1d2430;--soft:#5c6675;--line:#dfe3e8;--paper:#fbfbf9;--card:#fff;--good:#1a7f4b;--bad:#b3261e;--mid:#9a6700;--bar:#3b6ea8}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#9aa4b2;--line:#2e3641;--paper:#14181d;--card:#1b2027;--good:#4cc38a;--bad:#ff8a80;--mid:#e3b341;--bar:#79aee8}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 4rem}h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.05rem;margin:2.25rem 0 .75rem}
.sub{color:var(--soft);margin:0 0 1.5rem}.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem 1.25rem}
.verdict{display:flex;gap:1.5rem;align-items:baseline;flex-wrap:wrap;border-left:6px solid var(--good)}.verdict.veto{border-left-color:var(--bad)}
.verdict b{font-size:1.6rem;color:var(--good)}.verdict.veto b{color:var(--bad)}.fact span{color:var(--soft);display:block;font-size:.8rem}
.row{display:grid;grid-template-columns:11rem 1fr 5.5rem;gap:.75rem;align-items:center;padding:.2rem 0}.row .time{text-align:right;color:var(--soft);font-variant-numeric:tabular-nums}
.track{background:var(--line);border-radius:4px;height:.7rem;position:relative}.track i{position:absolute;top:0;bottom:0;min-width:2px;border-radius:4px;background:var(--bar)}.row.bad i{background:var(--bad)}.row.bad{color:var(--bad)}
details{border-top:1px solid var(--line);padding:.45rem 0}details:first-of-type{border-top:0}summary{cursor:pointer}summary em{color:var(--soft);font-style:normal;margin-left:.5rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}td,th{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:500}
td.path{font-family:ui-monospace,monospace;overflow-wrap:anywhere}.tag{border-radius:999px;border:1px solid currentColor;padding:0 .55rem;font-size:.8rem;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.mid{color:var(--mid)}.soft{color:var(--soft)}.counts{display:flex;gap:2rem;flex-wrap:wrap}.counts div b{display:block;font-size:1.6rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0;font-size:.9rem}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,monospace}
"""
_TONES = {
    **dict.fromkeys(("durable", "adopted", "bridged", "persisted", "succeeded"), "good"),
    **dict.fromkeys(("failed", "conflict", "unreadable"), "bad"),
    **dict.fromkeys(("warned", "missing"), "mid"),
}
MILLION = 1_000_000


def run_page(trace: dict[str, Any], result: dict[str, Any], mismatches: Iterable[tuple[str, str]]) -> str:
    """Return the page of one pair; `mismatches` (class, message) come first, as nothing else is sure then."""
    run = trace["run"]
    body = [
        _header(f"{run['agent']} on {run['harness']}", f"run {run['id']}"),
        _broken(list(mismatches)),
        _verdict(result),
    ]
    body += [
        _stages(trace["stages"]),
        _changes(trace["changes"], trace["coverage"].get("unobserved", [])),
        _warnings(trace["stages"]),
        _hashes(trace, result),
    ]
    return _page(f"{run['agent']}: {result['verdict']}", body)


def unstarted_page(result: dict[str, Any]) -> str:
    """Return the page of a result without a trace: a dry run, or a launch whose harness did not start."""
    return _page("veto", [_header("no harness was started", f"run {result['run_id']}".strip()), _verdict(result)])


def batch_page(batch: dict[str, Any]) -> str:
    """Return the page of a batch: the counts, and a row for every input."""
    counts = batch["counts"]
    done = "complete" if batch["complete"] else "interrupted"
    numbers = "".join(
        f'<div class="{_TONES.get(name, "")}"><b>{value}</b>{escape(name)}</div>' for name, value in counts.items()
    )
    rows = "".join(
        f'<tr><td class="path">{escape(row["input"])}</td><td>{_tag(row["outcome"])}</td><td>{escape(row["reason"])}</td>'
        f'<td>{_or_blank(row["exit_code"])}</td><td>{row["seconds"]:.1f} s</td><td class="path">{escape(row["attempt"] or "")}</td></tr>'
        for row in batch["inputs"]
    )
    table = f"<table><tr><th>input<th>outcome<th>why<th>exit<th>time<th>attempt</tr>{rows}</table>"
    body = [
        _header(
            f"batch of {batch['agent']} on {batch['harness']}",
            f"{done}, counts {'add up' if batch['reconciled'] else 'do not add up'}",
        )
    ]
    body += [f'<div class="card counts">{numbers}</div>', f'<h2>Inputs</h2><div class="card">{table}</div>']
    return _page(f"batch: {counts['succeeded']} of {counts['selected']}", body)


def _page(title: str, body: list[str]) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(title)}</title>'
    return f"<!doctype html><html lang=en><head>{head}<style>{STYLE}</style></head><body><main>{''.join(body)}</main></body></html>\n"


def _header(title: str, sub: str) -> str:
    return f'<h1>{escape(title)}</h1><p class="sub">{escape(sub)}</p>'


def _broken(mismatches: list[tuple[str, str]]) -> str:
    if not mismatches:
        return ""
    rows = "".join(f'<tr><td class="bad">{escape(kind)}</td><td>{escape(text)}</td></tr>' for kind, text in mismatches)
    return f'<div class="card verdict veto"><div><b>this pair does not hold</b><table>{rows}</table></div></div><br>'


def _verdict(result: dict[str, Any]) -> str:
    facts = (
        ("ended", result["termination_reason"]),
        ("certainty", f"{result['epistemic_status']}, {result['confidence']:.0%} of entries read"),
        ("settled", result["convergence"]["reason"]),
    )
    shown = "".join(f'<div class="fact"><span>{name}</span>{escape(str(text))}</div>' for name, text in facts)
    return f'<div class="card verdict {escape(result["verdict"])}"><b>{escape(result["verdict"])}</b>{shown}</div>'


def _stages(stages: list[dict[str, Any]]) -> str:
    if not stages:
        return ""
    first = min(stage["observed"]["started_ns"] for stage in stages)
    whole = max(max(stage["observed"]["ended_ns"] for stage in stages) - first, 1)
    rows = []
    for stage in stages:
        begin, end = stage["observed"]["started_ns"], stage["observed"]["ended_ns"]
        left, width = 100 * (begin - first) / whole, 100 * (end - begin) / whole
        bad = "" if stage["status"] == "ok" else " bad"
        name = escape(stage["name"]) + ("" if not bad else f" ({escape(stage['status'])})")
        track = f'<div class="track"><i style="left:{left:.2f}%;width:{width:.2f}%"></i></div>'
        rows.append(
            f'<div class="row{bad}"><div>{name}</div>{track}<div class="time">{(end - begin) / MILLION:.1f} ms</div></div>'
        )
    return f'<h2>Stages</h2><div class="card">{"".join(rows)}</div>'


def _changes(changes: list[dict[str, Any]], unseen: list[str]) -> str:
    limit = f"<p class=soft>unobserved: {escape(', '.join(_unseen_name(key) for key in unseen))}</p>" if unseen else ""
    if not changes:
        none = "No change was observed." if unseen else "The run wrote nothing."
        return f'<h2>Changes</h2><div class="card soft">{none}{limit}</div>'

    def group(change: dict[str, Any]) -> tuple[str, str, str, str]:
        return change["zone"], change["state_path"], change["strategy"], change["outcome"]

    blocks = []
    for (zone, state_path, strategy, outcome), members in groupby(sorted(changes, key=group), group):
        rows = list(members)
        title = f"{_tag(outcome)} {escape(state_path or zone)} <em>{zone}, {strategy}: {len(rows)} change{'s' if len(rows) != 1 else ''}</em>"
        lines = "".join(
            f'<tr><td class="path">{escape(row["path"])}</td><td>{escape(row["change"])}</td><td class="soft">{_sizes(row)}</td></tr>'
            for row in rows
        )
        opened = " open" if len(rows) <= 20 and _TONES.get(outcome) in ("bad", "mid") else ""
        blocks.append(f"<details{opened}><summary>{title}</summary><table>{lines}</table></details>")
    return f'<h2>Changes</h2><div class="card">{"".join(blocks)}{limit}</div>'


def _unseen_name(key: str) -> str:
    return "the harness's own directory" if key == "*" else key


def _warnings(stages: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td>{escape(stage['name'])}</td><td>{escape(warning['level'])}</td><td>{escape(warning['code'])}</td></tr>"
        for stage in stages
        for warning in stage["warnings"]
    )
    return f'<h2>Warnings</h2><div class="card"><table>{rows}</table></div>' if rows else ""


def _hashes(trace: dict[str, Any], result: dict[str, Any]) -> str:
    facts = {
        **trace["hashes"],
        "trace": result["trace_digest"],
        **{f"runtime {k}": v for k, v in trace["runtime"].items()},
    }
    model = trace["model"]
    if model:
        facts["model"] = "/".join(part for part in (model["provider"], model["model"]) if part)
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items() if value)
    return f'<h2>Identity</h2><div class="card"><details><summary>digests, runtime, model</summary><dl>{rows}</dl></details></div>'


def _tag(outcome: str) -> str:
    return f'<span class="tag {_TONES.get(outcome, "soft")}">{escape(outcome)}</span>'


def _sizes(row: dict[str, Any]) -> str:
    return f"{_or_blank(row['size_before'])} → {_or_blank(row['size_after'])} bytes"


def _or_blank(value: Any) -> str:
    return "–" if value is None else str(value)
