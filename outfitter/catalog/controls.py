"""`controls` of an agent: the generic block and each harness's own, decoded and inherited (spec/10)."""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.catalog.fields import Fields, merged
from outfitter.model.composition import Controls
from outfitter.model.value import NamedTuple

HARNESSES = ("pi", "claude", "codex")
# An agent that set these would choose where the harness's state goes, or whose home it sees.
FORBIDDEN = ("PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HOME")
_OWN = ("environment", "args", "session_directory", "deepwork")


class ControlSet(NamedTuple):
    """The generic controls and those of each harness that has a block."""

    generic: Controls = Controls()
    harness: Mapping[str, Controls] = {}


def controls(fields: Fields) -> ControlSet:
    """Decode `controls`; the variables that Outfitter itself sets are refused."""
    blocks = {name: _block(fields, "controls", name) for name in HARNESSES if fields.mapping("controls", name)}
    return ControlSet(_block(fields, "controls"), blocks)


def inherited(low: ControlSet, high: ControlSet) -> ControlSet:
    """Maps merge by key, lists unite, the nearest scalar wins; block by block."""
    names = [name for name in HARNESSES if name in low.harness or name in high.harness]
    blocks = {name: joined(low.harness.get(name, Controls()), high.harness.get(name, Controls())) for name in names}
    return ControlSet(joined(low.generic, high.generic), blocks)


def joined(low: Controls, high: Controls) -> Controls:
    """Two blocks of the same kind, the second nearer."""
    return Controls(
        environment={**low.environment, **high.environment},
        args=(*low.args, *high.args),
        session_directory=high.session_directory or low.session_directory,
        deepwork_jobs=tuple(dict.fromkeys((*low.deepwork_jobs, *high.deepwork_jobs))),
        extra=merged(low.extra, high.extra),
    )


def _block(fields: Fields, *path: str) -> Controls:
    own = fields.mapping(*path)
    skipped = (*_OWN, *(HARNESSES if len(path) == 1 else ()))
    return Controls(
        environment=_environment(fields, *path, "environment"),
        args=_arguments(fields, *path, "args"),
        session_directory=fields.text(*path, "session_directory"),
        deepwork_jobs=fields.words(*path, "deepwork", "jobs", split=True) if fields.mapping(*path, "deepwork") else (),
        extra={key: value for key, value in own.items() if key not in skipped and value is not None},
    )


def _environment(fields: Fields, *path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.mapping(*path).items():
        key = (*path, str(name))
        if name in FORBIDDEN:
            fields.fault(key, "may not be set by an agent", "it decides where state is kept; remove it")
        elif not name or "=" in name or "\0" in name:
            fields.fault(key, "is not the name of an environment variable")
        elif value is not None:
            found[str(name)] = _word(fields, key, value)
    return found


def _arguments(fields: Fields, *path: str) -> tuple[str, ...]:
    return tuple(_word(fields, key, item) for key, item in fields.items(*path))


def _word(fields: Fields, path: tuple[str, ...], value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, int, float)):
        fields.fault(path, "must be text")
        return ""
    if "\0" in str(value):
        fields.fault(path, "contains a NUL character")
    return str(value).replace("\0", "")
