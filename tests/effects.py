"""Fakes of the host's Protocols, checked against them: a method that does not exist, or a call that does not fit, fails."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from outfitter import host


def methods(protocol: type) -> dict[str, inspect.Signature]:
    """The methods of a Protocol, its bases' included, and their signatures without `self`."""
    names = (name for name in dir(protocol) if not name.startswith("_") and callable(getattr(protocol, name)))
    found = {name: inspect.signature(getattr(protocol, name)) for name in names}
    return {name: sign.replace(parameters=list(sign.parameters.values())[1:]) for name, sign in found.items()}


def fake(protocol: type, real: Any = None, /, **jobs: Callable[..., Any]) -> Any:
    """An object with every method of `protocol`: of `jobs` (called by place), else of `real`, else one that must not be called."""
    signatures = methods(protocol)
    unknown = sorted(jobs.keys() - signatures.keys())
    assert not unknown, f"{protocol.__name__} has no {', '.join(unknown)}"
    made = {
        name: _checked(sign, jobs.get(name) or getattr(real, name, None) or _uncalled(protocol, name))
        for name, sign in signatures.items()
    }
    return SimpleNamespace(**made)


def wrapped(protocol: type, real: Any, rule: Callable[[str, Callable[[], Any]], Any], prefix: str = "") -> Any:
    """`real`, every call of which goes through `rule(name, call)`."""

    def through(name: str) -> Callable[..., Any]:
        return lambda *given: rule(prefix + name, lambda: getattr(real, name)(*given))

    return fake(protocol, **{name: through(name) for name in methods(protocol)})


def protocol_of(group: str) -> type:
    """The Protocol of one field of `Host`."""
    protocol: type = getattr(host, group.capitalize())
    return protocol


def _checked(signature: inspect.Signature, job: Callable[..., Any]) -> Callable[..., Any]:
    inspect.signature(job).bind(*signature.parameters)

    def call(*given: Any, **named: Any) -> Any:
        return job(*signature.bind(*given, **named).args)

    return call


def _uncalled(protocol: type, name: str) -> Callable[..., Any]:
    def refuse(*given: Any) -> Any:
        raise AssertionError(f"{protocol.__name__}.{name}{given} is not expected here")

    return refuse
