"""`outfitter run`: words → request → launch → exit code (spec/80)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial

from returns.result import Failure, Result, Success

from outfitter.cli.argv import RunArgs, split_run
from outfitter.cli.context import Context
from outfitter.host import Host
from outfitter.model.errors import LaunchError, UsageError, exit_code
from outfitter.model.projection import Prepared, Report
from outfitter.model.request import Ambient, Request
from outfitter.pipeline import carry_out, launch, prepare
from outfitter.railway import Effect, done, fold, perform
from outfitter.recovery import Recovered, recover, sweep

RECOVERY_SECONDS = 5.0


def main(words: list[str], context: Context) -> int:
    """Launch, or with `--dry-run` print what a launch would do. The code is the table of spec/80."""

    def go(split: RunArgs) -> int:
        if "--help" in split.flags:
            from outfitter.cli.help import run_help

            context.console.data(run_help())
            return 0
        return fold(
            request(split, context.ambient),
            partial(_go, context, "--json" in split.flags),
            partial(_fail, context, False),
        )

    return fold(split_run(tuple(words)), go, partial(_fail, context, False))


def request(split: RunArgs, ambient: Ambient) -> Result[Request, LaunchError]:
    """The request that the words make; every option may be given once, but for `--append-prompt`."""
    single = [name for name, _ in split.values if name != "--append-prompt"]
    twice = [name for name in dict.fromkeys(single) if single.count(name) > 1]
    if twice:
        return Failure(UsageError(f"{twice[0]} is given twice"))
    values = dict(split.values)
    return Success(
        Request(
            ambient=ambient,
            agent=split.agent,
            harness=values.get("--harness"),
            passthrough=split.passthrough,
            strict="--strict" in split.flags,
            isolated="--isolated" in split.flags,
            retain="--retain-projection" in split.flags,
            dry_run="--dry-run" in split.flags,
            out=values.get("--out"),
            trust=values.get("--trust", ""),
            untrusted="--untrusted" in split.flags,
            append_prompts=tuple(value for name, value in split.values if name == "--append-prompt"),
        )
    )


def _go(context: Context, as_json: bool, asked: Request) -> int:
    unusable = _evidence_refusal(asked)
    if unusable is not None:
        return _fail(context, as_json, unusable)
    host = context.host(remember=not asked.dry_run)
    if asked.dry_run:
        planned = perform(prepare(host, asked))
        _timed(context, host)
        return fold(planned, partial(_show_plan, context, as_json), partial(_refused, context, asked, as_json))
    from outfitter.edges.signals import SIGNALS

    SIGNALS.install()
    return fold(
        perform(recover(host, asked.ambient, limited=_limited).bind(partial(_after_recovery, context, host, asked))),
        partial(_tell, context, host),
        partial(_ended_early, context, host, asked),
    )


def _limited(host: Host) -> AbstractContextManager[Host]:
    """A host with the time that a launch may spend on killed ones."""
    from outfitter.edges.time_limit import limited

    return limited(host, RECOVERY_SECONDS)


def _after_recovery(context: Context, host: Host, asked: Request, recovered: tuple[Recovered, ...]) -> Effect[Report]:
    """What a killed launcher left is finished before this launch reads any state (spec/50)."""
    for notice in (*(notice for row in recovered for notice in row.notices), *sweep(host, asked.ambient)):
        host.terminal.say(notice)
    if not context.console.verbose:
        return launch(host, asked)
    return prepare(host, asked).bind(partial(_explained, context)).bind(partial(carry_out, host))


def _explained(context: Context, prepared: Prepared) -> Effect[Prepared]:
    """With `--verbose`, what was decided and by what, before the harness has the terminal."""
    from outfitter.cli.verbose import decisions

    for line in decisions(prepared):
        context.console.detail(line)
    return done(prepared)


def _timed(context: Context, host: Host) -> None:
    """With `--verbose`, how long each stage took, after the harness has left the terminal."""
    if context.console.verbose:
        from outfitter.cli.verbose import timings

        for line in timings(host.steps()):
            context.console.detail(line)


def _ended_early(context: Context, host: Host, asked: Request, error: LaunchError) -> int:
    code = _refused(context, asked, False, error)
    _timed(context, host)
    return code


def _show_plan(context: Context, as_json: bool, prepared: Prepared) -> int:
    from outfitter.cli.plan_lines import plan_json, plan_lines

    for notice in prepared.notices:
        context.console.say(notice)
    if as_json:
        context.console.document(plan_json(prepared))
    else:
        context.console.data("\n".join(plan_lines(prepared)))
    if not prepared.request.out:
        return 0
    from outfitter.evidence.run_pair import write_plan

    unwritten = write_plan(prepared.request, prepared)
    return 0 if unwritten is None else _fail(context, as_json, unwritten)


def _tell(context: Context, host: Host, report: Report) -> int:
    from outfitter.render import error_notices
    from outfitter.run.verdict import run_code, verdict

    error = verdict(report)
    for notice in (*report.settlement.notices, *report.notices, *(error_notices(error) if error else ())):
        host.terminal.say(notice)
    _timed(context, host)
    code = run_code(report)
    if not report.prepared.request.out:
        return code
    from outfitter.evidence.run_pair import write_report

    unwritten = write_report(report.prepared.request, report, host.steps())
    if unwritten is None:
        return code
    context.console.error(unwritten)
    return code or exit_code(unwritten)


def _refused(context: Context, asked: Request, as_json: bool, error: LaunchError) -> int:
    """A launch that never started: say why, and leave the veto-shaped result where evidence was asked for."""
    if asked.out:
        from outfitter.evidence.run_pair import write_unstarted

        unwritten = write_unstarted(asked, "", error)
        if unwritten is not None:
            context.console.error(unwritten, as_json)
    return _fail(context, as_json, error)


def _evidence_refusal(asked: Request) -> LaunchError | None:
    if not asked.out:
        return None
    from outfitter.evidence.run_pair import refusal

    return refusal(asked)


def _fail(context: Context, as_json: bool, error: LaunchError) -> int:
    context.console.error(error, as_json)
    return exit_code(error)
