"""Model and thinking level as Claude Code takes them (spec/10 Models, spec/40; 006.9.4, 6). Pure."""

from __future__ import annotations

import re

from outfitter.adapters.models import selection
from outfitter.model.composition import Composition, ModelTarget, Subagent
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

DIALECT = "anthropic-messages"
_LEVELS = ("low", "medium", "high", "xhigh", "max")


class Word(NamedTuple):
    """A value for a flag or a front matter key, "" for none, and what to tell where the tree had asked for one."""

    name: str
    notices: tuple[Notice, ...] = ()


def leader_target(composition: Composition) -> tuple[ModelTarget | None, tuple[Notice, ...]]:
    """The leader's target, if this program can keep it whole."""
    chosen = selection(composition.model, composition.agent, "claude", (DIALECT,), "anthropic")
    return chosen.target, chosen.notices


def subagent_model(composition: Composition, subagent: Subagent) -> Word:
    """A subagent's model: it goes where the leader's requests go, so a model of another endpoint is left out (006.9.6)."""
    chosen = selection(subagent.model, subagent.id, "claude", (DIALECT,), "anthropic")
    target = chosen.target
    if target is None:
        return Word("", chosen.notices)
    leader, _ = leader_target(composition)
    here = _endpoint(leader)
    if _endpoint(target) not in ("", here) or (target.kind == "split" and here):
        return Word(
            "",
            (
                Notice(
                    "warning",
                    "model-omitted",
                    f"agent {subagent.id}: model {target.provider}/{target.model} is not at the endpoint that"
                    f" {composition.agent} talks to, and a subagent has no other; it is left out",
                ),
            ),
        )
    return Word(target.model)


def effort(level: str, agent: str, help_text: str) -> Word:
    """The value of `--effort`: levels that the program's help lists, else the known ones; any other is left out with a warning."""
    if not level:
        return Word("")
    known = levels(help_text)
    if level in known:
        return Word(level)
    message = f"agent {agent}: claude knows no thinking level {level!r}; it is left out"
    return Word("", (Notice("warning", "thinking-unknown", message, f"known: {', '.join(known)}"),))


def levels(help_text: str) -> tuple[str, ...]:
    """The effort levels in brackets after `--effort` in the help, else the known ones."""
    found = re.search(r"--effort\s+<\w+>[^()]*\(([a-z,\s]+)\)", help_text)
    return tuple(word.strip() for word in found[1].split(",") if word.strip()) if found else _LEVELS


def _endpoint(target: ModelTarget | None) -> str:
    return f"{target.provider} {target.base_url}" if target is not None and target.kind == "registry" else ""
