"""`outfitter demo`: one launch of a real harness, or of a stand-in that says so, on a throw-away machine (spec/80)."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import textwrap
from typing import Any

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.model.request import Notice

SUMMARY = "A whole launch on this machine: a throw-away home, a scripted model on loopback, a harness, and what became of its writes."
EXAMPLES = ("outfitter demo", "outfitter demo --harness claude", "outfitter demo --keep")
HARNESSES = ("pi", "claude", "codex", "stand-in")


def arguments(made: argparse.ArgumentParser) -> None:
    """The options."""
    made.add_argument("--harness", choices=HARNESSES, default="", help="instead of the first installed one that runs")
    made.add_argument("--keep", action="store_true", help="leave the throw-away home and the run directory in place")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Play it. Exit code 1 where the launch failed, or a write did not end as it should."""
    options = parser("demo", SUMMARY, arguments, EXAMPLES).parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    from outfitter.demo.playground import Actor, choose

    actor = choose(options.harness, context.ambient.env)
    if not isinstance(actor, Actor):
        return context.fail(actor, options.json)
    try:
        return _play(context, options, actor)
    except OSError as error:
        from outfitter.railway import effect_error

        return context.fail(effect_error("play the demo", error), options.json)


def _play(context: Context, options: argparse.Namespace, actor: Any) -> int:
    from outfitter.demo.modelserver.server import ModelServer
    from outfitter.demo.playground import Playground, diff_changes, scenario_of
    from outfitter.demo.scenario import AGENT, TOKEN, model_script, unmet

    scenario = scenario_of(actor)
    with (
        Playground(context.ambient.env, options.keep) as ground,
        ModelServer(model_script(scenario), token=TOKEN) as model,
    ):
        ground.furnish(scenario, model.url, actor)
        if not options.json:
            _introduce(context, ground, model.url, actor, bool(options.harness))
        asked = ("run", AGENT, "--harness", actor.harness, *scenario.options, "--retain-projection", "--")
        ran = ground.outfitter(*asked, *scenario.arguments)
        changes = diff_changes(ground.outfitter("diff", "--all", "--json").data)
        natives = ground.natives()
        wrong = [] if ran.code == 0 else [f"outfitter run ended with {ran.code}"]
        wrong += unmet(scenario, changes, natives) if ran.code == 0 else []
        wrong += [] if model.models_asked() else ["the model was never asked"]
        told = {
            "exit": ran.code,
            "run": " ".join(asked),
            "shown": ran.shown,
            "changes": changes,
            "wrong": wrong,
            "natives": sorted(natives),
        }
        if options.json:
            kept = ground.top if options.keep else None
            context.console.document({"harness": actor._asdict(), "kept": kept, **told})
        else:
            _show(context, ground, scenario, told, options.keep)
    return 1 if wrong else 0


def _introduce(context: Context, ground: Any, url: str, actor: Any, asked: bool) -> None:
    for reason in actor.passed_over:
        context.console.say(Notice("notice", "passed-over", reason))
    told = actor.version if actor.version.startswith(actor.id) else f"{actor.id} {actor.version}"
    who = f"{told} ({actor.program})"
    if actor.id == "stand-in":
        who = f"a STAND-IN, no real harness: {'as asked for' if asked else 'none of pi, claude, codex runs here'}"
    context.console.data(
        f"A throw-away machine   {ground.top}\nThe model              {url}, scripted, on this machine\nThe harness            {who}\n"
    )


def _show(context: Context, ground: Any, scenario: Any, told: dict[str, Any], keep: bool) -> None:
    say = context.console.data
    words = " ".join((*told["run"].split(), *("'" + w + "'" if " " in w else w for w in scenario.arguments)))
    say(f"$ outfitter {words}\n{_indented(told['shown'])}")
    say(f"$ outfitter diff --all\n{_indented(ground.outfitter('diff', '--all').shown)}")
    if told["exit"] == 0:
        _explain(context, scenario, told)
    say("\nNothing of your own home was read or written, and nothing left this machine.")
    if keep:
        say(f"Kept: {ground.top}")
    for line in told["wrong"]:
        context.console.say(Notice("error", "demo", line))


def _explain(context: Context, scenario: Any, told: dict[str, Any]) -> None:
    say = context.console.data
    say("What became of each write")
    endings = {change["path"]: change["outcome"] for change in told["changes"]}
    for write in scenario.writes:
        ending = endings.get(write.path, "durable" if write.native in told["natives"] else "lost")
        say(_row(context, write.path, ending, write.meaning))
    for name in told["natives"]:
        if name.startswith(scenario.sessions + "/") and name.endswith(".jsonl"):
            how = "bridged" if scenario.bridged else "durable"
            say(_row(context, "the session", how, f"kept in ~/{name}"))
    if not scenario.writes:
        say("  Codex runs over its own home: Outfitter declares no state for it, and had nothing to sort.")


def _row(context: Context, path: str, ending: str, meaning: str) -> str:
    """One line; on a terminal as many as it takes, the meaning in a column of its own."""
    head = f"  {path:<18} {ending:<10} "
    if not context.ambient.stdout_tty:
        return head + meaning
    width = max(shutil.get_terminal_size().columns, len(head) + 20)
    return textwrap.fill(head + meaning, width, subsequent_indent=" " * len(head), break_on_hyphens=False)


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
