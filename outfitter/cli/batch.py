"""`outfitter batch`: one agent, many inputs, a typed outcome for each (spec/70)."""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from outfitter.batch import executors
from outfitter.batch.attempts import Task, finished, harness_arguments, interrupt, refusal, resume, run_attempt
from outfitter.batch.inputs import select, text_of
from outfitter.batch.root import Refusal, occupy, vacate, write_result
from outfitter.batch.rows import OUTCOMES, Attempt, Input, report, to_run
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser, seconds, several
from outfitter.model.errors import EffectFailed, LaunchError, os_error_text
from outfitter.model.projection import Prepared
from outfitter.model.request import Notice, Request
from outfitter.model.wording import counted, listed
from outfitter.railway import Outcome, fold, perform
from stages.choose_harness import choose_harness
from stages.merge_settings import merge_settings
from stages.read_settings import read_settings

SUMMARY = "Run an agent once for each input: a file, each file of a directory, or each line of a .jsonl."
EXAMPLES = (
    "outfitter batch tasks --agent reviewer --out results --jobs 4",
    "outfitter batch tasks.jsonl --agent reviewer --out results --executor dask --scheduler tcp://10.0.0.5:8786",
)


def arguments(made: argparse.ArgumentParser) -> None:
    """Batch's options."""
    made.add_argument(
        "inputs", nargs="+", metavar="INPUTS", help="files, directories (their files), .jsonl (their lines)"
    )
    made.add_argument("--agent", required=True, metavar="ID", help="the agent to run")
    made.add_argument(
        "--harness", choices=["pi", "claude", "codex"], help="which program; without one, default_harness, else pi"
    )
    made.add_argument(
        "--out", required=True, metavar="ROOT", help="where attempts and batch_result.json go; resumed if it is ours"
    )
    made.add_argument("--jobs", type=several, default=1, metavar="N", help="attempts at a time (default 1)")
    made.add_argument("--executor", choices=["local", "dask"], default="local", help="where attempts run")
    made.add_argument(
        "--scheduler", default="", metavar="ADDR", help="a dask scheduler; without one a cluster on this machine"
    )
    made.add_argument(
        "--trust", default="", metavar="DIGEST", help="allow what the project runs, if it has this digest"
    )
    made.add_argument("--untrusted", action="store_true", help="run without what the project would run by itself")
    made.add_argument("--timeout", type=seconds, default=0.0, metavar="S", help="seconds an attempt may take")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Select, run what has no verified pair yet, and reconcile. 0 where every selected input succeeded."""
    options = parser("batch", SUMMARY, arguments, EXAMPLES).parse_args(words)
    return fold(
        _harness(options, context),
        lambda harness: _batch(argparse.Namespace(**{**vars(options), "harness": harness}), context),
        lambda error: context.fail(error, options.json),
    )


def _harness(options: argparse.Namespace, context: Context) -> Outcome[str]:
    """The harness that `outfitter run` would choose: every attempt is told it, whatever becomes of the settings meanwhile."""
    request = Request(context.ambient, agent=options.agent, harness=options.harness)
    files = perform(read_settings(context.host().sources, request, absent_is_fine=True))
    return files.bind(merge_settings).bind(lambda found: choose_harness(found, request)).map(lambda one: one.id)


def _batch(options: argparse.Namespace, context: Context) -> int:
    root = os.path.normpath(os.path.join(context.ambient.cwd, options.out))
    created = not os.path.lexists(root)
    try:
        lock = occupy(root, options.agent, options.harness)
    except OSError as error:
        return context.fail(EffectFailed("use the batch root", root, os_error_text(error)), options.json)
    if isinstance(lock, Refusal):
        return context.fail(EffectFailed("use the batch root", root, lock.reason, lock.hint), options.json)
    try:
        return _run(options, context, root, lock)
    except executors.NoClusterError as error:
        return context.fail(EffectFailed("use the cluster", options.scheduler, str(error)), options.json)
    finally:
        vacate(root, created)
        os.close(lock)


def _run(options: argparse.Namespace, context: Context, root: str, lock: int) -> int:
    inputs = select(options.inputs, context.ambient.cwd)
    if not inputs:
        return context.fail(
            EffectFailed("select inputs", " ".join(options.inputs), "no file, and no line that holds text"),
            options.json,
        )
    _tell_unusable(context, inputs)
    resume(root)
    attempts = {item.key: found for item in inputs if not item.problem and (found := finished(root, item.key))}
    waiting = to_run(inputs, set(attempts))
    here = context.ambient
    # A descriptor means nothing on another machine.
    lock = lock if options.executor == "local" else -1
    form = Task(
        "", b"", options.agent, options.harness, root, here.cwd, options.timeout, dict(here.env), lock, _words(options)
    )
    complete = _carry_out(options, context, form, waiting, attempts)
    if not isinstance(complete, bool):
        return context.fail(complete, options.json)
    result = report(options.agent, options.harness, inputs, attempts, complete=complete)
    path = write_result(root, result)
    _tell(context, options.json, result, path)
    if not complete:
        return 130
    return 0 if result["counts"]["succeeded"] == result["counts"]["selected"] else 1


def _carry_out(
    options: argparse.Namespace, context: Context, form: Task, waiting: list[Input], attempts: dict[str, Attempt]
) -> bool | LaunchError:
    """Run what waits, each as `form` says, keeping each attempt as it ends; False where an interrupt ended it early.

    What would stop every attempt alike is an error, before any of them begins.
    """
    if not waiting:
        return True
    progress = context.host().terminal.progress("batch")
    before = len(attempts)
    with _workers(options) as workers:
        if options.scheduler:
            refused = _refused_there(workers, form)
            if refused is not None:
                return refused
        else:
            answered = _asked_here(context, form)
            if not isinstance(answered, Task):
                return answered
            form = answered
        flying: dict[Future[Attempt], Input] = {}
        previous = signal.signal(signal.SIGTERM, _interrupt)
        try:
            for future in executors.spread(
                workers, run_attempt, waiting, lambda item: _task(form, item, attempts), flying
            ):
                item = flying[future]
                attempts[item.key] = _result(future, item)
                _note(context, options, item, attempts[item.key])
                progress(len(attempts) - before, len(waiting))
        except KeyboardInterrupt:
            interrupt(form.root)
            attempts.update((item.key, _result(future, item)) for future, item in flying.items())
            return False
        finally:
            signal.signal(signal.SIGTERM, previous)
    return True


def _asked_here(context: Context, form: Task) -> Task | LaunchError:
    """Prepare one launch, and ask once for all inputs where nobody has trusted the project yet.

    Returns the form with what was answered, or why `outfitter run` would refuse this agent, whatever the input.
    """
    from outfitter.pipeline import consented, prepare

    host = context.host()
    given = dict(zip(form.trust[::2], form.trust[1::2], strict=False))
    asked = Request(
        context.ambient,
        agent=form.agent,
        harness=form.harness,
        passthrough=tuple(harness_arguments(form)),
        trust=given.get("--trust", ""),
        untrusted="--untrusted" in form.trust,
    )
    ready = perform(prepare(host, asked).bind(partial(consented, host)))
    return fold(ready, lambda prepared: form._replace(trust=_answered(prepared)), lambda error: error)


def _answered(prepared: Prepared) -> tuple[str, ...]:
    if prepared.request.untrusted:
        return ("--untrusted",)
    return ("--trust", prepared.trust.exposure.digest) if prepared.trust and prepared.request.trust else ()


def _refused_there(workers: executors.Workers, form: Task) -> LaunchError | None:
    """The same, asked where the attempts will run: the harness, and the tree, may be on the workers alone."""
    try:
        told = json.loads(workers.executor.submit(refusal, form).result() or "null")
    except Exception:  # noqa: BLE001 - a worker that was lost tells nothing of the agent
        return None
    if not isinstance(told, dict):
        return None
    return EffectFailed("run the agent on the cluster", "", str(told.get("message")), str(told.get("hint")))


def _workers(options: argparse.Namespace) -> AbstractContextManager[executors.Workers]:
    return (
        executors.dask(options.scheduler, options.jobs) if options.executor == "dask" else executors.local(options.jobs)
    )


def _task(form: Task, item: Input, attempts: dict[str, Attempt]) -> Task | None:
    """The task of one input, with its text; None where that cannot be had, and then this is its outcome."""
    try:
        return form._replace(key=item.key, text=text_of(item))
    except OSError as error:
        attempts[item.key] = Attempt(item.key, "failed", f"cannot be read: {os_error_text(error)}", None, "", False)
        return None


def _result(future: Future[Attempt], item: Input) -> Attempt:
    """An attempt that could not even be made (its worker died for good) is a failure of that input alone."""
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001 - whatever an executor raises must become this input's outcome
        return Attempt(item.key, "failed", f"could not be run: {str(error) or 'its worker was lost'}", None, "", True)


def _tell_unusable(context: Context, inputs: Sequence[Input]) -> None:
    """One warning for the inputs that are not given to the harness, with the reason of each."""
    unusable = [f"{item.name} ({item.problem})" for item in inputs if item.problem]
    if unusable:
        text = f"{counted(len(unusable), 'input')} not run: {listed(unusable)}"
        context.console.say(Notice("warning", "batch-not-run", text))


def _note(context: Context, options: argparse.Namespace, item: Input, attempt: Attempt) -> None:
    if not options.json and not context.ambient.stderr_tty:
        reason = f" ({attempt.reason})" if attempt.reason else ""
        context.console.say(Notice("notice", "batch-input", f"{attempt.outcome}: {item.name}{reason}"))


def _tell(context: Context, as_json: bool, result: dict[str, Any], path: str) -> None:
    if as_json:
        context.console.document({**result, "path": path})
        return
    counts = result["counts"]
    context.console.data(f"{counts['selected']} selected: " + ", ".join(f"{counts[name]} {name}" for name in OUTCOMES))
    context.console.data(path)


def _words(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the options that say what may run."""
    return (*(("--trust", options.trust) if options.trust else ()), *(("--untrusted",) if options.untrusted else ()))


def _interrupt(number: int, frame: object) -> None:
    del number, frame
    raise KeyboardInterrupt
