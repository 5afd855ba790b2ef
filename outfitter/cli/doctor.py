"""`outfitter doctor`: what is installed, what would stop a launch, and how to fix it (spec/80)."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from functools import partial

from outfitter import __version__
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.doctor.directories import VERDICTS, Check, worst
from outfitter.host import Host, Sources
from outfitter.model.errors import LaunchError, os_error_text
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.model.wording import counted
from outfitter.railway import fold, perform
from outfitter.render import error_notices, one_line

SUMMARY = "What is installed, which options each harness knows, what would stop a launch, and how to fix it."
EXAMPLES = ("outfitter doctor", "outfitter doctor --json")
_RUN_WORDS = {"orphan": "without a journal", "moved": "with unsaved files, moved or lost"}
COLOURS = {"ok": "32", "info": "36", "warning": "33", "error": "31"}
# Names that other tools put beside ours (spec/15, V4): read by them, and left alone by us.
NEIGHBOURS = ("settings.json", "config.json", "rules", "workflows", "hooks", "prompts")


def arguments(made: argparse.ArgumentParser) -> None:
    """The options."""
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print every check in order. Exit code 1 if one of them is an error."""
    options = parser("doctor", SUMMARY, arguments, EXAMPLES).parse_args(words)
    checks = tuple(examine(Context(context.ambient, context.console, partial(_forgetful, context))))
    if options.json:
        counts = {verdict: sum(check.verdict == verdict for check in checks) for verdict in VERDICTS}
        listed = [{**check._asdict(), "details": list(check.details)} for check in checks]
        context.console.document({"checks": listed, "counts": counts})
    else:
        for check in checks:
            context.console.data(_lines(check, context.console.colour_out))
    return 1 if worst(checks) == "error" else 0


def examine(context: Context) -> Iterator[Check]:
    """Every check, in order; one that crashes or cannot be made is an error, and does not stop the others."""
    from outfitter.cli.reading import read_settings

    yield _machine()
    yield from _guard("home", lambda: _home(context))
    yield from _guard("directories", lambda: _directories(context))
    settings = fold(read_settings(context), _either, _either)
    yield _settings(settings)
    known = settings if isinstance(settings, Settings) else None
    yield from _guard("cache", lambda: _cache(context, known))
    yield from _guard("trees", lambda: _trees(context))
    yield from _guard("harnesses", lambda: _harnesses(context, known))
    yield from _guard("runs", lambda: _runs(context))
    yield from _guard("git", lambda: _git(context))
    if known is not None:
        yield from _guard("launch", lambda: _launch(context, known))


def _forgetful(context: Context, remember: bool = False) -> Host:
    """A host that writes no cache unless it is asked to: looking changes nothing."""
    return context.host(remember=remember)


def _guard(name: str, job: Callable[[], list[Check]]) -> list[Check]:
    try:
        return job()
    except OSError as error:
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return [Check(name, "error", f"{where}{os_error_text(error)}")]


def _lines(check: Check, colour: bool) -> str:
    code = COLOURS.get(check.verdict, "")
    word = f"{check.verdict:<8}"
    painted = f"\x1b[{code}m{word}\x1b[0m" if colour and code else word
    lines = [f"{painted} {check.name}: {one_line(check.message)}"]
    lines += [f"         - {one_line(detail)}" for detail in check.details]
    lines += [f"         hint: {one_line(check.hint)}"] if check.hint else []
    return "\n".join(lines)


def _machine() -> Check:
    text = f"Outfitter {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    supported = sys.platform in ("linux", "darwin")
    return Check("machine", "ok" if supported else "error", text, "" if supported else "Linux and macOS are supported")


def _home(context: Context) -> list[Check]:
    home, given = context.ambient.home, context.ambient.env.get("HOME", "")
    if not os.path.isdir(home):
        return [Check("home", "error", f"{home} is not a directory", "set HOME to a directory that exists")]
    if os.path.normpath(given or "/nowhere") != home:
        return [Check("home", "warning", f"HOME is {given!r}; the password database says {home}", "set HOME")]
    return [Check("home", "ok", home)]


def _directories(context: Context) -> list[Check]:
    from outfitter.doctor.directories import temporary_root, writable

    here = context.ambient
    lost = "a run could not be recovered if it were killed"
    return [temporary_root(here.temp_root, here.home), writable("state directory", here.state_root, lost)]


def _settings(settings: Settings | LaunchError) -> Check:
    if not isinstance(settings, Settings):
        first, *rest = error_notices(settings)
        return Check("settings", "error", first.message, first.hint, tuple(notice.message for notice in rest))
    files = [scope.path for scope in settings.scopes if scope.path]
    told = ", ".join(files) if files else "no settings file, defaults apply"
    if settings.notices:
        details = tuple(notice.message for notice in settings.notices)
        verdict = "warning" if any(notice.level == "warning" for notice in settings.notices) else "info"
        return Check("settings", verdict, told, settings.notices[0].hint, details)  # type: ignore[arg-type]
    return Check("settings", "ok", told)


def _cache(context: Context, settings: Settings | None) -> list[Check]:
    from outfitter.doctor.directories import writable
    from outfitter.edges import cache
    from outfitter.edges.real import early_cache_directory
    from outfitter.settings.scopes import cache_directory

    early = early_cache_directory(context.ambient.home)
    path = cache_directory(settings, context.ambient) if settings else early
    check = writable("cache", path, "every launch reads its files anew")
    if check.verdict == "ok":
        size = sum(item.size for item in cache.contents(path).values())
        check = check._replace(message=f"{check.message}, {counted(size, 'byte')}")
    return [check]


def _trees(context: Context) -> list[Check]:
    sources, here = context.host().sources, context.ambient
    root, _, notices = sources.project_root(here.cwd, here.home)
    places = [os.path.join(root, ".agents"), os.path.join(here.home, ".agents")]
    present = [place for place in dict.fromkeys(places) if os.path.isdir(place)]
    details = tuple(notice.message for notice in notices)
    if present:
        found = [Check("trees", "warning" if details else "ok", ", ".join(present), "", details)]
    else:
        found = [Check("trees", "info", "no .agents tree, here or at home", "outfitter setup makes a first one")]
    found += _beside(sources, root, here.home) if not _has_agents(sources, root) else []
    foreign = [os.path.join(place, name) for place in present for name in sources.names(place) if name in NEIGHBOURS]
    if foreign:
        found.append(Check("neighbours", "info", "not ours, left alone: " + ", ".join(foreign)))
    return found


def _has_agents(sources: Sources, root: str) -> bool:
    return bool(sources.names(os.path.join(root, ".agents", "agents")))


def _beside(sources: Sources, root: str, home: str) -> list[Check]:
    """What other tools' files stand in a project without agents of its own."""
    from outfitter.porting.beside import beside, told

    text = told(beside(sources, root, sources.project_root(root, home)[1]))
    hint = "outfitter import makes an .agents tree of them"
    return [Check("native", "info", f"other tools have {text}", hint)] if text else []


def _harnesses(context: Context, settings: Settings | None) -> list[Check]:
    from outfitter.adapters import NAMES, adapter
    from outfitter.doctor.harnesses import harness_check, native_check
    from outfitter.model.projection import Facts
    from outfitter.settings.scopes import cache_directory
    from stages.choose_harness import DEFAULT_HARNESS
    from stages.gather_facts import native_directory

    here, sources = context.ambient, context.host().sources
    values = settings.values if settings else {}
    default = values.get("default_harness") or DEFAULT_HARNESS
    found: list[Check] = []
    for name in NAMES:
        check, help_text = harness_check(name, here.env, wanted=name == default)
        found.append(check)
        if settings is None or check.verdict == "info":
            continue
        native = native_directory(sources, adapter(name), here)
        request = Request(here, harness=name, isolated=name == "claude")
        facts = Facts("", native, cache_directory(settings, here), "/nowhere", here.cwd, {}, help=help_text)
        found.append(native_check(name, native, adapter(name).state_paths(request, settings, facts)))
    return found


def _runs(context: Context) -> list[Check]:
    from outfitter.edges.terminal import logs
    from outfitter.run.leftovers import leftover_directories

    host = context.host()
    conditions: dict[str, list[str]] = {}
    for one in host.runs.journals():
        phase: str = one.record.phase if one.record is not None and one.condition == "dead" else ""
        if one.record is not None and (one.condition, one.record.phase) == ("gone", "unsaved"):
            phase = "moved"
        conditions.setdefault(phase or one.condition, []).append(one.record.root if one.record else one.run_id)
    unfinished = [
        root for word in ("started", "preparing", "unsaved", "orphan", "moved") for root in conditions.get(word, ())
    ]
    odd = [root for word in ("other", "unreadable") for root in conditions.get(word, ())]
    told = (
        ", ".join(f"{len(roots)} {_RUN_WORDS.get(word, word)}" for word, roots in sorted(conditions.items()))
        or "none left over"
    )
    if unfinished or odd:
        hint = "outfitter recover" if unfinished else "outfitter recover --list"
        found = [Check("runs", "warning", told, hint, tuple(unfinished + odd))]
    else:
        found = [Check("runs", "ok", told)]
    back = leftover_directories(context.ambient)
    if back:
        told = f"{counted(len(back), 'directory is', 'directories are')} named as a run's is, without its marker or a journal"
        found.append(Check("remnants", "warning", told, "outfitter recover --list", tuple(one.root for one in back)))
    count, size = host.durable.kept()
    if count:
        kept = counted(
            count,
            "kept content could not be saved where it belongs",
            "kept contents could not be saved where they belong",
        )
        told = f"{kept}: {counted(size, 'byte')} in all"
        found.append(Check("conflicts", "info", told, "outfitter conflicts list"))
    late = logs(context.ambient.state_root)
    if late:
        told = f"{counted(len(late), 'run')} left messages that could not be printed"
        found.append(Check("late messages", "info", told, "read what is listed, then remove it", tuple(late)))
    return found


def _git(context: Context) -> list[Check]:
    from outfitter.edges.programs import find_harness

    path = context.ambient.env.get("PATH", "")
    found = fold(find_harness("git", path), lambda program: program, lambda _: "")
    if found:
        return [Check("git", "ok", found)]
    return [Check("git", "info", "not installed: `outfitter sync` cannot fetch catalogs", "install git")]


def _launch(context: Context, settings: Settings) -> list[Check]:
    """A dry run of what a bare `outfitter` would launch."""
    agent = settings.values.get("default_agent")
    if not agent:
        hint = "set default_agent, or name an agent: outfitter run AGENT; outfitter list agents shows them"
        return [Check("launch", "info", "a bare `outfitter` has no agent to run: no default_agent is set", hint)]
    from outfitter.pipeline import prepare

    return [
        fold(
            perform(prepare(context.host(), Request(context.ambient, dry_run=True))),
            lambda prepared: Check(
                "launch",
                "warning" if any(notice.level == "warning" for notice in prepared.notices) else "ok",
                f"{agent} on {prepared.plan.harness} would start",
                "outfitter --dry-run shows the plan",
                tuple(notice.message for notice in prepared.notices if notice.level == "warning"),
            ),
            lambda error: _stopped(str(agent), error),
        )
    ]


def _stopped(agent: str, error: LaunchError) -> Check:
    first, *rest = error_notices(error)
    told = f"{agent} would not start: {first.message}"
    return Check("launch", "error", told, first.hint, tuple(notice.message for notice in rest))


def _either(value: Settings | LaunchError) -> Settings | LaunchError:
    return value
