"""A host whose effects fail or are killed, one by one: Host → Host wrappers for tests."""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from outfitter.host import Host

GROUPS = ("sources", "projecting", "durable", "trees", "runs", "processes", "terminal")


class Killed(BaseException):
    """The launcher is gone at this point: nothing below may catch it, and no clean-up runs."""


def failing(host: Host, rule: Callable[[str, Callable[[], Any]], Any]) -> Host:
    """Every effect goes through `rule(name, call)`, which calls it, raises before or after, or counts."""

    def wrapped(name: str, effect: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: rule(name, lambda: effect(*given))

    groups = {
        group: type(record)(*(wrapped(f"{group}.{name}", effect) for name, effect in record._asdict().items()))
        for group in GROUPS
        for record in (getattr(host, group),)
    }
    return evolve(host, **groups)
