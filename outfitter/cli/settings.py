"""`outfitter settings [KEY]`: what all scopes come to, and with `--origin` where each value stands and what it overrides (spec/20)."""

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import read_settings
from outfitter.model.errors import EffectFailed, LaunchError
from outfitter.model.settings import KeyPath, Origin, Settings
from outfitter.model.wording import did_you_mean
from outfitter.railway import fold
from outfitter.render import notice_json, one_line
from outfitter.settings.lookup import value_at
from outfitter.syntax.address import hide_credentials
from stages.choose_harness import DEFAULT_HARNESS
from stages.merge_settings import KEYS

SUMMARY = "Print the merged settings: one line a value, or one value by its dotted key."
EXAMPLES = (
    "outfitter settings",
    "outfitter settings --origin",
    "outfitter settings state_persistence.cache/ --origin",
    "outfitter settings --json",
)
DEFAULTS: Mapping[str, Any] = {
    "default_harness": DEFAULT_HARNESS,
    "isolation": "inherit",
    "cache_directory": "~/.agents/cache",
}


class Row(NamedTuple):
    """One value: its key path, who set it, and whom it overrides with which value."""

    path: KeyPath
    value: Any
    origin: Origin
    overridden: tuple[tuple[Origin, Any], ...] = ()

    @property
    def key(self) -> str:
        """The dotted key."""
        return ".".join(self.path)


def arguments(made: argparse.ArgumentParser) -> None:
    """KEY and the two options."""
    made.add_argument("key", nargs="?", metavar="KEY", help="a dotted key: one value, or all below it")
    made.add_argument(
        "--origin", action="store_true", help="with the file and line of each value, and what it overrides"
    )
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print what holds; 1 where settings cannot be read or KEY is not set."""
    options = parser("settings", SUMMARY, arguments, EXAMPLES).parse_args(words)

    def failed(error: LaunchError) -> int:
        return context.fail(error, options.json)

    return fold(read_settings(context), lambda settings: _shown(settings, options, context), failed)


def _shown(settings: Settings, options: argparse.Namespace, context: Context) -> int:
    every = rows(settings)
    chosen = [row for row in every if options.key is None or _is_below(row.key, options.key)]
    if options.key is not None and not chosen:
        context.console.error(_unset(options.key, every), options.json, 1)
        return 1
    if options.json:
        context.console.document(document(settings, chosen, options))
        return 0
    for notice in settings.notices:
        context.console.say(notice)
    for row in chosen:
        for line in lines(row, options.key == row.key, options.origin):
            context.console.data(line)
    return 0


def rows(settings: Settings) -> list[Row]:
    """Every value that holds, the built-in defaults last."""
    by_path = {scope.path: scope for scope in settings.scopes}

    def then(path: KeyPath, origin: Origin) -> Any:
        scope = by_path.get(origin.path)
        return value_at(path, scope.values) if scope else None

    found = [
        Row(
            path,
            value_at(path, settings.values),
            origin,
            tuple((lower, then(path, lower)) for lower in settings.overridden.get(path, ())),
        )
        for path, origin in settings.origins.items()
    ]
    rest = [Row((key,), value, Origin("default")) for key, value in DEFAULTS.items() if key not in settings.values]
    return [*found, *rest]


def lines(row: Row, alone: bool, with_origin: bool) -> Iterable[str]:
    """A value as `git config` prints one: `key=value`, the value alone where its own key was asked for, the origin before it."""
    text = _text(row.value, bare=alone)
    line = text if alone else f"{one_line(row.key)}={text}"
    yield f"{_place(row.origin)}\t{line}" if with_origin else line
    for origin, value in row.overridden if with_origin else ():
        yield f"  overrides {_place(origin)}\t{_text(value)}"


def document(settings: Settings, chosen: list[Row], options: argparse.Namespace) -> dict[str, Any]:
    """The `--json` form: `settings` nested; with `--origin` one object a value."""
    nested: dict[str, Any] = {}
    for row in chosen:
        here = nested
        for name in row.path[:-1]:
            here = here.setdefault(name, {})
        here[row.path[-1]] = _plain(row.value)
    made: dict[str, Any] = {"settings": nested, "notices": [notice_json(notice) for notice in settings.notices]}
    if options.origin:
        made["origins"] = [
            {
                "path": list(row.path),
                "value": _plain(row.value),
                **_origin_json(row.origin),
                "overrides": [{**_origin_json(origin), "value": _plain(value)} for origin, value in row.overridden],
            }
            for row in chosen
        ]
    return made


def _is_below(key: str, asked: str) -> bool:
    return key == asked or key.startswith(asked + ".")


def _unset(key: str, every: list[Row]) -> EffectFailed:
    hint = "outfitter settings shows what is set"
    if key not in KEYS:
        hint = did_you_mean(key, dict.fromkeys((*(row.key for row in every), *KEYS)), hint, 1)
    return EffectFailed("show the setting", key, "is not set", hint)


def _place(origin: Origin) -> str:
    if not origin.path:
        return "default"
    return one_line(origin.path) + (f":{origin.at.line}" if origin.at.line else "")


def _origin_json(origin: Origin) -> dict[str, Any]:
    return {"scope": origin.scope, "file": origin.path, "line": origin.at.line, "column": origin.at.column}


def _text(value: Any, bare: bool = False) -> str:
    """A text as it is where it fits on a line, everything else as JSON; `bare` texts keep even their line breaks."""
    value = hide_credentials(value) if isinstance(value, str) else value
    if isinstance(value, str) and (bare or (value == one_line(value).strip() and value)):
        return value
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value that strict JSON can hold, the user part of every address in it hidden."""
    if isinstance(value, str):
        return hide_credentials(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
