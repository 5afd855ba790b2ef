"""An agent's own limits in every spelling: tool lists, maps and permissions (spec/10, "Tools").

A limit that is not understood never widens. It is an error where the value is clearly meant as a list of tools, and
otherwise named in one warning. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from outfitter.catalog.fields import Fields
from outfitter.model.composition import Tools
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

EVERY = "*"
WRITING = ("edit", "write", "bash")
# Keys are compared without case, `_` and `-`.
_ALLOW_KEYS = ("tools", "allowedtools", "toolsallow", "toolsallowed", "toolsinclude", "includetools", "includedtools", "enabledtools")  # fmt: skip
_DENY_KEYS = (
    "disallowedtools", "deniedtools", "denytools", "toolsdeny", "toolsdenied", "toolsexclude", "excludetools",
    "excludedtools", "blockedtools", "blocktools", "toolsblocked", "forbiddentools", "forbidtools", "disabledtools",
    "restrictedtools",
)  # fmt: skip
_PERMISSION_KEYS = ("permission", "permissions")
_ALLOW_WORDS = ("allow", "allowed", "include", "included", "enable", "enabled", "only")
_DENY_WORDS = (
    "deny", "denied", "disallow", "disallowed", "exclude", "excluded", "block", "blocked", "forbid", "forbidden",
    "disable", "disabled",
)  # fmt: skip
_YES = ("true", "allow", "allowed", "yes", "on", "always", "1")
_NO = ("false", "deny", "denied", "never", "no", "off", "disabled", "none", "0")
_NOT_DENIED = ("false", "allow", "allowed", "no", "off", "0")
_ASK = ("ask", "prompt", "confirm")
# Keys of other tools that say nothing about what an agent may do.
_HARMLESS = ("modelconfig", "connection", "skillsconfig", "toolconfig", "readonly", "controls")
_SUSPECT = ("tool", "permission", "policy", "allow", "deny", "block", "forbid", "exclude", "restrict", "guard", "sandbox", "approval")  # fmt: skip
_GUARDS = ("hooks", "isolation", "maxturns", "maxsteps", "steps", "background")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.:*-]*")
_BLANKS = ", \t\r\n"


class AgentLimits(NamedTuple):
    """An agent's own limits: allowed (None: no list) and denied tools, and servers it must not have."""

    tools: Tools = Tools()
    disabled_servers: tuple[str, ...] = ()


class _Lists(NamedTuple):
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


def limits(fields: Fields) -> AgentLimits:
    """Return what narrows an agent in its front matter; warn about limits that are not applied."""
    found = [_of_key(fields, key) for key in fields.values]
    if fields.get("toolConfig", "enabledBuiltinTools"):
        found.append(_Lists(_words(fields, ("toolConfig", "enabledBuiltinTools"), denying=False)))
    allow: tuple[str, ...] | None = None
    for one in found:
        allow = one.allow if allow is None else allow if one.allow is None else _both(allow, one.allow)
    deny = dict.fromkeys(word for one in found for word in one.deny)
    _not_applied(fields)
    servers = tuple(word for word, _ in fields.slugs("toolConfig", "disabledServers"))
    return AgentLimits(Tools(allow, tuple(deny)), servers)


def union(low: Tools, high: Tools) -> Tools:
    """Inherited and own limits joined: both lists are unions, and deny wins (spec/10)."""
    allow = low.allow
    if high.allow is not None:
        allow = tuple(dict.fromkeys((*(low.allow or ()), *high.allow)))
    return Tools(allow, tuple(dict.fromkeys((*low.deny, *high.deny))))


def effective(tools: Tools) -> Tools:
    """Return limits without the star: an allowed `*` allows every tool, a denied one leaves none."""
    if EVERY in tools.deny:
        return Tools(())
    return tools._replace(allow=None) if tools.allow is not None and EVERY in tools.allow else tools


def split(text: str) -> tuple[str, ...]:
    """Split a tool list at commas and white space; what is in parentheses belongs to its word."""
    words: list[str] = []
    start, depth = 0, 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")" and depth > 0)
        if not depth and char in _BLANKS:
            words.append(text[start:at])
            start = at + 1
    return tuple(word for word in (*words, text[start:]) if word)


def _squeezed(key: object) -> str:
    return str(key).lower().replace("_", "").replace("-", "")


def _of_key(fields: Fields, key: str) -> _Lists:
    """What one top-level key allows and denies; nothing for a key that sets none."""
    name, value = _squeezed(key), fields.get(key)
    if value is None:
        return _Lists()
    if name == "readonly":
        return _Lists(deny=WRITING) if fields.flag(key) else _Lists()
    if name in ("sandbox", "sandboxmode") and _squeezed(value) == "readonly":
        return _Lists(deny=WRITING)
    if name in _DENY_KEYS:
        return _listed(fields, key, denying=True)
    if name in _ALLOW_KEYS:
        return _listed(fields, key, denying=False)
    return _permissions(fields, key) if name in _PERMISSION_KEYS else _Lists()


def _listed(fields: Fields, key: str, *, denying: bool) -> _Lists:
    """A tool list under its own key, or a map of it."""
    value = fields.get(key)
    if not isinstance(value, Mapping):
        words = _words(fields, (key,), denying=denying)
        return _Lists(deny=words) if denying else _Lists(words)
    if denying:
        off = [str(name) for name, rule in value.items() if str(rule).strip().lower() not in _NOT_DENIED]
        return _Lists(deny=_checked(fields, (key,), off, denying=True))
    return _mapped(fields, key, value)


def _mapped(fields: Fields, key: str, value: Mapping[Any, Any]) -> _Lists:
    """`{allow: […], deny: […]}`, or a map of tool to yes or no; anything else is an error."""
    allow: tuple[str, ...] | None = None
    deny: list[str] = []
    on, every = [], ""
    for name, rule in value.items():
        path, word, said = (key, str(name)), _squeezed(name), _rule(rule)
        if word in (*_ALLOW_WORDS, *_DENY_WORDS) and not isinstance(rule, (bool, Mapping)):
            found = _words(fields, path, denying=word in _DENY_WORDS)
            if word in _DENY_WORDS:
                deny += found
            elif rule is not None:
                allow = (*(allow or ()), *found)
        elif not said:
            fields.fault(path, "is not a limit that Outfitter understands", _hint(name))
        elif name == EVERY:
            every = said
        elif said == "yes":
            on.append(str(name))
        else:
            deny += [str(name)] if said == "no" else []
            _asking(fields, path, said)
    denied = _checked(fields, (key,), deny, denying=True)
    if every == "no":
        return _Lists((*(allow or ()), *_checked(fields, (key,), on, denying=False)), denied)
    return _Lists(allow, denied)


def _hint(name: object) -> str:
    from outfitter.model.wording import did_you_mean

    return did_you_mean(str(name), ("allow", "deny")) or "write allow: [...] and deny: [...], or a tool: true or false"


def _permissions(fields: Fields, key: str) -> _Lists:
    """A map of tool to rule or to rules by pattern, the lists of Claude Code's settings, or one word.

    For example `permission: {edit: deny, bash: {"rm *": deny}}`.
    """
    value = fields.get(key)
    if not isinstance(value, Mapping):
        return _permission_word(fields, key, value)
    deny: list[str] = []
    kept: list[str] = []
    every = ""
    for name, rule in value.items():
        path, said = (key, str(name)), _rule(rule)
        if isinstance(rule, (list, str)) and _squeezed(name) in _DENY_WORDS:
            deny += _words(fields, path, denying=True)
        elif isinstance(rule, Mapping) and (denied := _patterns(str(name), rule)):
            deny += denied
        elif isinstance(rule, Mapping) and all(_rule(one) == "yes" for one in rule.values()):
            kept.append(str(name))
        elif name == EVERY:
            every = said
            _asking(fields, path, said or "ask")
        elif said == "no":
            deny += _whole(str(name))
        elif said == "yes":
            kept.append(str(name))
        else:
            _asking(fields, path, said or "ask")
    allow = _checked(fields, (key,), kept, denying=False) if every == "no" else None
    return _Lists(allow, _checked(fields, (key,), deny, denying=True))


def _permission_word(fields: Fields, key: str, value: object) -> _Lists:
    word = _squeezed(value)
    if word == "readonly":
        return _Lists(deny=WRITING)
    if isinstance(value, str) and _rule(value) == "no":
        return _Lists(deny=(EVERY,))
    if not (isinstance(value, str) and _rule(value) == "yes"):
        _asking(fields, (key,), "ask")
    return _Lists()


def _patterns(name: str, rules: Mapping[Any, Any]) -> list[str]:
    """Denied argument patterns of one tool; the whole tool where `*` is denied."""
    denied = [str(pattern) for pattern, rule in rules.items() if _rule(rule) == "no"]
    if EVERY in denied:
        return list(_whole(name))
    return [f"{name}({pattern})" for pattern in denied]


def _whole(name: str) -> tuple[str, ...]:
    """A denied tool. Who may not change files cannot be left the shell."""
    return WRITING if _squeezed(name) in ("edit", "write") else (name,)


def _rule(rule: object) -> str:
    """ "yes", "no" or "ask" for a rule in any program's words, "" for anything else."""
    word = str(rule).strip().lower() if isinstance(rule, (bool, str, int)) else ""
    return "yes" if word in _YES else "no" if word in _NO else "ask" if word in _ASK else ""


def _asking(fields: Fields, path: tuple[str, ...], said: str) -> None:
    if said == "ask":
        fields.warn(path, "limit-not-understood", "this limit is not applied; only allow and deny are")


def _words(fields: Fields, path: tuple[str, ...], *, denying: bool) -> tuple[str, ...]:
    """The words of a tool list, in text or in a YAML list."""
    words = (word.strip("'\"`") for text in fields.words(*path) for word in split(text.strip("[]")))
    return _checked(fields, path, words, denying=denying)


def _checked(fields: Fields, path: tuple[str, ...], words: Iterable[str], *, denying: bool) -> tuple[str, ...]:
    """Return the words that can be tools.

    Another word is left out of an allow list, and is an error in a deny list.
    """
    found: list[str] = []
    for word in words:
        head, fence, rest = word.partition("(")
        named = _WORD.fullmatch(head) is not None and word.isprintable()
        if word == EVERY or (named and (not fence or rest.endswith(")"))):
            found.append(word)
        elif denying and named:
            found.append(head)
            fields.warn(path, "tool-name", f"{word!r} has no closing parenthesis; the whole tool is denied")
        elif denying:
            fields.fault(path, f"{word!r} is not a tool name")
        else:
            fields.warn(path, "tool-name", f"{word!r} is not a tool name; skipped")
    return tuple(dict.fromkeys(found))


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The words that two allow lists have in common; a pattern is narrower than its whole tool."""
    if EVERY in one or EVERY in other:
        return other if EVERY in one else one
    return tuple(dict.fromkeys((*_within(one, other), *_within(other, one))))


def _within(words: tuple[str, ...], others: tuple[str, ...]) -> Iterator[str]:
    names = {_squeezed(word) for word in others}
    for word in words:
        if _squeezed(word) in names or ("(" in word and _squeezed(word.partition("(")[0]) in names):
            yield word


def _not_applied(fields: Fields) -> None:
    """One warning that names every key which may restrict or guard the agent and is not applied."""
    keys = [key for key, value in fields.values.items() if _guards(_squeezed(key), value)]
    if not keys:
        return
    place = fields.place(keys[0])
    where = f"{place.path}:{place.at.line}" if place.at.line else place.path
    text = f"{where}: {', '.join(keys)}: may limit the agent and {'is' if len(keys) == 1 else 'are'} not applied"
    fields.notices.append(Notice("warning", "limit-not-understood", text))


def _guards(name: str, value: Any) -> bool:
    if name in _GUARDS:
        return value not in (None, False, "", [], {}, "none")
    if name in (*_ALLOW_KEYS, *_DENY_KEYS, *_PERMISSION_KEYS, *_HARMLESS) or _is_applied_sandbox(name, value):
        return False
    return value is not None and any(part in name for part in _SUSPECT)


def _is_applied_sandbox(name: str, value: Any) -> bool:
    return name in ("sandbox", "sandboxmode") and _squeezed(value) == "readonly"
