"""What is said of a launch that nobody allowed: the question, the refusal, what was left out. Pure."""

from __future__ import annotations

from attrs import evolve

from outfitter.host import Grants
from outfitter.model.composition import Composition
from outfitter.model.errors import PolicyRefused
from outfitter.model.exposure import Exposure, ExposureRow, Verdict
from outfitter.model.projection import Prepared
from outfitter.model.request import Notice, Position, Problem
from outfitter.model.settings import Settings
from outfitter.model.wording import counted
from outfitter.railway import Effect, done, failed
from outfitter.trust.grants import VARIABLE, TrustDefault, granted

SHOWN = 10


def default_of(settings: Settings) -> TrustDefault:
    """Return `trust.default` of the home's settings."""
    block = settings.values.get("trust")
    value = block.get("default") if isinstance(block, dict) else None
    return value if value in ("deny", "without") else "prompt"


def question(verdict: Verdict, harness: str) -> str:
    """Return the question, readable in a few seconds: what would run or send by itself, one line each."""
    from outfitter.render import one_line

    exposure, rows = verdict.exposure, verdict.pending
    changed = len(rows) < len(exposure.asking)
    state = "has changed since you trusted it" if changed else "is not trusted yet"
    lines = [f"{one_line(exposure.place)} {state}.", f"As soon as {harness} starts, it would run or send:"]
    lines += [f"  {row.kind:<12} {one_line(short(row, exposure.place))}  {row.what}" for row in rows[:SHOWN]]
    if len(rows) > SHOWN:
        lines.append(f"  and {len(rows) - SHOWN} more (outfitter trust --show)")
    quiet = len(exposure.rows) - len(exposure.asking)
    if quiet and not changed:
        lines.append(
            f"The model may also ask to run {counted(quiet, 'skill or command', 'skills and commands')} of it."
        )
    lines.append("Trust it? yes, no, or run without it")
    return "\n".join(lines)


def short(row: ExposureRow, place: str) -> str:
    """Return where a row was written, relative to the project where it lies in it."""
    path = row.path.removeprefix(place.rstrip("/") + "/")
    return f"{path}:{row.line}" if row.line else path


def refusal(verdict: Verdict, harness: str, rows: tuple[ExposureRow, ...]) -> PolicyRefused:
    """Return the refusal for these rows, with the ways out."""
    exposure = verdict.exposure
    hint = (
        f"look with `outfitter trust --show`, then `outfitter trust --grant`; for this run --trust {exposure.digest[:16]},"
        f" or --untrusted to run without it; {VARIABLE} grants whole folders"
    )
    what = counted(
        len(rows), "thing in it that runs or sends by itself is", "things in it that run or send by themselves are"
    )
    if all(row.kind == "harness" for row in rows):
        hint = "take the project's folder off your PATH, or `outfitter trust --grant`"
    head = Problem(exposure.place, f"not trusted: {what} not granted ({harness})", hint=hint)
    return PolicyRefused((head, *(Problem(row.path, row.what, row.kind, Position(row.line)) for row in rows)))


def unanswered(verdict: Verdict, harness: str) -> PolicyRefused:
    """Return the refusal after a no."""
    text = f"not trusted: {harness} was not started"
    return PolicyRefused((Problem(verdict.exposure.place, text, hint="--untrusted runs without it"),))


def refused_meanwhile(fresh: Prepared, harness: str) -> Effect[Prepared]:
    """Let a launch go on that was read again after a yes, unless it would run something else now."""
    if fresh.trust is None or fresh.trust.state != "pending":
        return done(fresh)
    found = refusal(fresh.trust, harness, fresh.trust.pending)
    text = "changed while the question was open; nothing was started"
    return failed(PolicyRefused((Problem(fresh.trust.exposure.place, text, hint="run it again"), *found.problems[1:])))


def granted_now(grants: Grants, exposure: Exposure, now_ns: int) -> tuple[Notice, ...]:
    """Keep the grant of these rows; a grant that cannot be kept holds for this run alone, and is said."""
    try:
        grants.keep(exposure.key, granted(grants.grant(exposure.key), exposure, stamp(now_ns)))
    except OSError as error:
        text = f"the grant could not be kept ({error.strerror or error}); it holds for this run"
        return (Notice("warning", "grant-not-kept", text),)
    return ()


def stamp(now_ns: int) -> str:
    """Return a time in UTC, to the second, as in ISO 8601."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(now_ns / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def left_out(made: Composition, verdict: Verdict) -> Composition:
    """Return the composition without the rows, with one notice in place of what they would have brought."""
    words = {row.what for row in verdict.exposure.asking if row.kind == "extension"}
    servers = {row.what.partition(":")[0] for row in verdict.exposure.asking if row.kind == "server"}
    notices = tuple(
        notice
        for notice in made.notices
        if notice.code != "server-missing" or not any(repr(name) in notice.message for name in servers)
    )
    count = len(verdict.exposure.asking)
    what = counted(count, "thing that runs or sends by itself is", "things that run or send by themselves are")
    text = (
        f"{verdict.exposure.place or 'the project'}: run without it: {what} left out, and native project files are off"
    )
    kept = tuple(word for word in made.extensions if word not in words)
    return evolve(made, extensions=kept, notices=(*notices, Notice("notice", "run-without", text)))
