"""What every adapter needs of a composition: controls, identity, parts, generated paths. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from itertools import islice

from attrs import evolve

from outfitter.model.composition import Composition, Controls, Fragment, Skill
from outfitter.model.projection import Copied, Facts, Generated
from outfitter.model.request import Notice
from outfitter.model.settings import Resolution, Settings, Strategies


def effective_controls(composition: Composition, harness: str) -> Controls:
    """Return the generic controls with the harness's own block over them (spec/10, "Front matter").

    Maps merge by key, lists are joined, the harness's scalar wins.
    """
    generic = composition.controls
    own = composition.harness_controls.get(harness, Controls())
    return Controls(
        environment={**generic.environment, **own.environment},
        args=generic.args + own.args,
        session_directory=own.session_directory or generic.session_directory,
        deepwork_jobs=tuple(dict.fromkeys(generic.deepwork_jobs + own.deepwork_jobs)),
        extra={**generic.extra, **own.extra},
    )


def unsupported_element(element: str, why: str) -> Notice:
    """Return the warning for an element that a harness cannot be given (spec/40).

    An adapter that can say more gives its own warning.
    """
    return Notice("warning", "unsupported-element", f"{element}: {why}")


def unsupported_control(agent: str, harness: str, control: str) -> Notice:
    """The warning for a control that a harness cannot translate (006.5.9)."""
    return Notice("warning", "control-unsupported", f"agent {agent}: {harness} has nothing for controls.{control}")


def unset_credential(composition: Composition, harness: str, env: Mapping[str, str]) -> str:
    """Return the credential variable of the selected target if the child would lack it, else "".

    See spec/10, "Models".
    """
    target = composition.model
    if target is None or not target.variable:
        return ""
    given = effective_controls(composition, harness).environment.get(target.variable, env.get(target.variable, ""))
    return "" if given else target.variable


def unenforced(strategies: Strategies, run: str, hint: str) -> tuple[Notice, ...]:
    """Return one notice that names every `state_persistence` entry that this run cannot keep.

    It is a warning if one of the entries is `error`, for the user relies on that one. `run` says which kind of run it is.
    """
    named = [row for row in strategies.idle if row.form != "default" and row.strategy != "symlink"]
    unknown = strategies.unknown
    if unknown.form != "default" and unknown.strategy in ("error", "prompt"):
        named.append(unknown)
    if not named:
        return ()
    entries = ", ".join(f"{row.path.key}: {row.strategy}" for row in named)
    relied_on = any(row.strategy == "error" for row in named)
    message = f"{run} writes the user's own files, so state_persistence cannot hold {entries}"
    return (Notice("warning" if relied_on else "notice", "state-not-enforced", message, hint),)


def harness_defaults(settings: Settings, harness: str) -> Mapping[str, object]:
    """The harness's native settings of `harness_defaults` (spec/20); {} where there are none."""
    block = settings.values.get("harness_defaults")
    own = block.get(harness) if isinstance(block, Mapping) else None
    return own if isinstance(own, Mapping) else {}


def without_native_context(
    fragments: tuple[Fragment, ...], facts: Facts, names: Iterable[str]
) -> tuple[tuple[Fragment, ...], str]:
    """Return the fragments without shared context that the harness reads itself (spec/15 V1).

    `names` are the files at the project's root that it reads. Gives the fragments, and the path that holds the same text or "".
    """
    for fragment in fragments:
        if fragment.kind != "context":
            continue
        for name in names:
            path = posixpath.join(facts.project_root, name)
            if _same_text(fragment.content, facts.files.get(path)):
                return tuple(other for other in fragments if other is not fragment), path
    return fragments, ""


def first_there(facts: Facts, names: Iterable[str]) -> tuple[str, ...]:
    """Return the first of these files that exists at the project's root, as a tuple; () for none."""
    there = (name for name in names if facts.files.get(posixpath.join(facts.project_root, name)) is not None)
    return tuple(islice(there, 1))


def native_context(facts: Facts, names: Iterable[str]) -> tuple[str, ...]:
    """Return the files of these names at the project's root that exist: the harness reads them as well."""
    paths = (posixpath.join(facts.project_root, name) for name in names)
    return tuple(path for path in paths if facts.files.get(path) is not None)


def skill_files(skill: Skill, directory: str) -> tuple[Generated, tuple[Copied, ...]]:
    """A skill as it is projected under `directory` (relative): its manifest as text, all else copied."""
    manifest = Generated(f"{directory}/SKILL.md", skill.manifest.encode("utf-8", "surrogateescape"))
    parts = tuple(
        Copied(part.source, f"{directory}/{part.path}", part.executable) for part in (*skill.files, *skill.extras)
    )
    return manifest, parts


def flat_name(name: str) -> str:
    """An id as one file name: `backend/api` becomes `backend-api`."""
    return name.strip("/").replace("/", "-")


def one_run(strategies: Strategies, generated: Iterable[str]) -> Strategies:
    """Return strategies that discard a declared path which is generated this time instead of linking it.

    See spec/50, "three kinds".
    """
    paths = frozenset(generated)

    def reconciled(resolution: Resolution) -> Resolution:
        if resolution.path.key in paths and resolution.strategy == "symlink":
            return resolution._replace(strategy="discard")
        return resolution

    return evolve(strategies, declared=tuple(map(reconciled, strategies.declared)))


def _same_text(content: str, raw: bytes | None) -> bool:
    if raw is None or not content.strip():
        return False
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").strip()
    wanted = content.replace("\r\n", "\n").strip()
    return wanted in (text, _after_fence(text))


def _after_fence(text: str) -> str:
    """A document without its front matter."""
    if not text.startswith("---\n"):
        return text
    _, fence, body = text[4:].partition("\n---\n")
    return body.strip() if fence else text
