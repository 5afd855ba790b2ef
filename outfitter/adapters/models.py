"""A model selection as each harness can take it: foreign model words, unsupported dialects.

See spec/10, "Models", V16 and 006.9. Pure.
"""

from __future__ import annotations

from outfitter.model.composition import Composition, ModelTarget
from outfitter.model.errors import CompositionFailed
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

# Model words of one program: what they mean to it, and nothing to others (spec/15 V16).
_CLAUDE_WORDS = ("sonnet", "opus", "haiku", "fable", "opusplan", "best")
# How the model names of one maker begin. Pi takes those of every maker.
_OTHER_MAKERS = {"claude": ("gpt-", "gemini-", "codex-"), "codex": ("claude-", "gemini-"), "pi": ()}
_FOREIGN_WORDS = ("pro", "flash", "flash_lite")
_UNSET_WORDS = ("", "inherit", "default")


class HarnessModel(NamedTuple):
    """The target for a harness; None selects nothing, with a notice if the tree asked for a model."""

    target: ModelTarget | None
    notices: tuple[Notice, ...] = ()


def selection(
    target: ModelTarget | None, agent: str, harness: str, dialects: tuple[str, ...], provider: str = ""
) -> HarnessModel:
    """What a harness takes of a target.

    `dialects` are the API dialects it can speak; `provider` the one whose `provider/model` without a registry it knows as
    its own ("" : it takes any). A target that it cannot keep whole is left out whole, with a warning (006.9.6).
    """
    if target is None:
        return HarnessModel(None)
    if target.model.startswith("-"):
        return _lost(target, agent, f"{harness} would take a name that begins with a dash for an option")
    if target.kind == "native":
        return _native(target, agent, harness)
    if target.kind == "split" and provider and target.provider != provider:
        return _lost(target, agent, f"{harness} cannot keep the provider {target.provider!r}")
    if target.kind == "registry" and target.api not in dialects:
        return _lost(target, agent, f"{harness} does not speak {target.api!r} of provider {target.provider!r}")
    return HarnessModel(target)


def credential_missing(composition: Composition, variable: str) -> CompositionFailed:
    """Return the error for a target without its credential.

    Without it the harness would send another login to that host (spec/10).
    """
    target = composition.model
    name = f"{target.provider}/{target.model}" if target else ""
    return CompositionFailed(
        f"agent {composition.agent}: model {name} needs the environment variable {variable}, which is unset or empty",
        f"export {variable}=… before the launch",
    )


def _native(target: ModelTarget, agent: str, harness: str) -> HarnessModel:
    word = target.model.strip().lower()
    if word in _UNSET_WORDS:
        return HarnessModel(None)
    alias = word.partition("[")[0] in _CLAUDE_WORDS and harness != "claude"
    made_elsewhere = word.startswith(_OTHER_MAKERS.get(harness, ()))
    foreign = word in _FOREIGN_WORDS or " " in target.model.strip() or alias or made_elsewhere
    return _lost(target, agent, f"{target.model!r} is a name of another tool") if foreign else HarnessModel(target)


def _lost(target: ModelTarget, agent: str, why: str) -> HarnessModel:
    name = f"{target.provider}/{target.model}" if target.provider else target.model
    return HarnessModel(None, (Notice("warning", "model-omitted", f"agent {agent}: model {name}: {why}; skipped"),))
