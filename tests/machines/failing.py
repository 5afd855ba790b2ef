"""A host whose effects fail or are killed, one by one: Host → Host wrappers for tests."""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from outfitter.host import Host
from tests.effects import protocol_of, wrapped

GROUPS = ("sources", "projecting", "durable", "trees", "runs", "processes", "terminal")


class Killed(BaseException):
    """The launcher is gone at this point: nothing below may catch it, and no clean-up runs."""


def failing(host: Host, rule: Callable[[str, Callable[[], Any]], Any]) -> Host:
    """Every effect goes through `rule(name, call)`, which calls it, raises before or after, or counts."""

    groups = {group: wrapped(protocol_of(group), getattr(host, group), rule, f"{group}.") for group in GROUPS}
    return evolve(host, **groups)
