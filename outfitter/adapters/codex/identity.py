"""Identity, subagents and skills for Codex, as the real program takes them.

See spec/40 and spec/harness-facts. Pure.
"""

import posixpath
from typing import NamedTuple

from outfitter.adapters.codex.overrides import Override, Overrides, chosen_model, effort, is_bare, is_text, toml_value
from outfitter.adapters.controls import flat_name
from outfitter.model.composition import Composition, Fragment, Subagent, VisibleSkill
from outfitter.model.projection import Facts, Generated
from outfitter.model.request import Notice


class CodexIdentity(NamedTuple):
    """Generated files, the overrides that name them, and what to say."""

    generated: tuple[Generated, ...] = ()
    overrides: Overrides = Overrides()


def identity(fragments: tuple[Fragment, ...], root: str, words: tuple[str, ...]) -> CodexIdentity:
    """Return the identity's overrides: a system prompt replaces Codex's own.

    All other fragments are developer instructions, in order.
    """
    system = [fragment for fragment in fragments if fragment.kind == "system" and fragment.content.strip()]
    added = [f.content.strip("\n") for f in fragments if f.kind != "system" and f.content.strip()]
    generated: list[Generated] = []
    rows: list[Override] = []
    if system:
        generated.append(Generated("system.md", _text("\n\n".join(f.content for f in system))))
        rows.append(Override("identity", "model_instructions_file", posixpath.join(root, "system.md")))
    if added:
        rows.append(Override("identity", "developer_instructions", "\n\n".join(added)))
    notices: tuple[Notice, ...] = ()
    if added and "resume" in words:
        message = "a resumed Codex session keeps the developer instructions it began with; a changed agent needs a new session"
        notices = (Notice("notice", "resume-identity", message),)
    return CodexIdentity(tuple(generated), Overrides(tuple(rows), notices))


def subagents(composition: Composition, root: str) -> CodexIdentity:
    """Return each subagent as `agents.<id>` with a generated file: instructions, model, effort.

    A subagent whose limits would widen is skipped.
    """
    generated: list[Generated] = []
    rows: list[Override] = []
    notices: list[Notice] = []
    for agent in composition.subagents:
        why = _refused(agent, composition)
        if why:
            notices.append(Notice("warning", "subagent-omitted", f"subagent {agent.id}: {why}; skipped"))
            continue
        content, providers, said = _subagent_file(agent, composition)
        path = f"agents/{flat_name(agent.id)}.toml"
        generated.append(Generated(path, content))
        value = {"description": agent.description or agent.id, "config_file": posixpath.join(root, path)}
        rows += [*providers, Override(f"subagent {agent.id}", f"agents.{agent.id}", value)]
        notices += said
    return CodexIdentity(tuple(generated), Overrides(tuple(rows), tuple(notices)))


def _still_visible(count: int) -> Notice:
    from outfitter.model.wording import counted

    skills = counted(count, "skill of this tree is", "skills of this tree are")
    text = f"{skills} visible to codex although the agent does not select {'it' if count == 1 else 'them'}"
    return Notice("warning", "skills-visible", text, "an override cannot hold a path that is not Unicode text")


def own_skills(facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the directories to list, and the manifests in Codex's own ones whose names the tree has, too."""
    tree = posixpath.join(facts.project_root, ".agents/skills")
    names = facts.listings.get(tree, ())
    own = (posixpath.join(facts.project_root, ".codex/skills"), posixpath.join(facts.native, "skills"))
    same = (f"{place}/{name}/SKILL.md" for place in own for name in facts.listings.get(place, ()) if name in names)
    return (tree, *own), tuple(same)


def copied_skills(composition: Composition, facts: Facts) -> tuple[str, ...]:
    """Return manifests in Codex's own directories that equal a selected skill: it would list that twice."""
    texts = {skill.id: skill.manifest.encode("utf-8", "surrogateescape") for skill in composition.skills}
    visible = {posixpath.dirname(one.manifest_path) for one in composition.visible_skills}
    return tuple(
        path
        for path in own_skills(facts)[1]
        if posixpath.dirname(path) not in visible
        and facts.files.get(path) == texts.get(posixpath.basename(posixpath.dirname(path)), b"\0")
    )


def skill_switches(composition: Composition, copies: tuple[str, ...] = ()) -> Overrides:
    """Switch off every skill of the tree that Codex would list and the agent did not select (spec/15 V3).

    The user's own switches stay: Codex heeds the lists of all its sources (measured).
    """
    surplus = [skill for skill in composition.visible_skills if not skill.selected]
    off = _off(surplus) + [{"path": path, "enabled": False} for path in copies if is_text(path)]
    left = len(surplus) - len(_off(surplus))
    notices = (*((_still_visible(left),) if left else ()), *_without_extras(composition))
    return Overrides((Override("skills", "skills.config", off),) if off else (), notices)


def skills_out_of_reach(composition: Composition) -> tuple[str, ...]:
    """Selected skills that Codex does not read by itself, which nothing can add (spec/40)."""
    read = {skill.physical for skill in composition.visible_skills if skill.selected}
    return tuple(skill.id for skill in composition.skills if skill.source not in read)


def _without_extras(composition: Composition) -> tuple[Notice, ...]:
    """Warn about each skill that Codex reads in place, without the files added by front matter or agent."""
    read = {skill.physical for skill in composition.visible_skills if skill.selected}
    return tuple(
        Notice(
            "warning",
            "skill-extras",
            f"skill {skill.id}: codex reads it where it lies, without the added {', '.join(part.path for part in skill.extras)}",
        )
        for skill in composition.skills
        if skill.extras and skill.source in read
    )


def _off(skills: list[VisibleSkill]) -> list[dict[str, object]]:
    """The entries that switch skills off; a path that is not Unicode text cannot be one."""
    paths = [skill.manifest_path for skill in skills if is_text(skill.manifest_path)]
    return [{"path": path, "enabled": False} for path in paths]


def _refused(agent: Subagent, composition: Composition) -> str:
    if not is_bare(agent.id):
        return "codex key paths cannot express its id"
    if agent.tools.allow is not None or agent.tools.deny:
        return "codex cannot keep its tool limits, and would give it every tool"
    try:
        _subagent_file(agent, composition)
    except ValueError as error:
        return f"codex cannot be given it: {error}"
    return ""


def _subagent_file(agent: Subagent, composition: Composition) -> tuple[bytes, tuple[Override, ...], tuple[Notice, ...]]:
    """Return a subagent's configuration, the providers it needs, and notices.

    Of the leader's skills it keeps its own.
    """
    chosen = chosen_model(agent.model, agent.id)
    level, said = effort(agent.thinking, agent.id)
    shared = {skill.source for skill in composition.skills if skill.id in agent.skills}
    others = [skill for skill in composition.visible_skills if skill.selected and skill.physical not in shared]
    if agent.resolved:
        missing = ", ".join(skill.id for skill in agent.resolved)
        message = f"subagent {agent.id}: codex can give it none but its leader's skills; not {missing}"
        said = (*said, Notice("warning", "subagent-skills", message))
    values: dict[str, object] = {
        "name": agent.id,
        "description": agent.description or agent.id,
        "developer_instructions": agent.body,
        "model": chosen.model,
        "model_provider": chosen.provider,
        "model_reasoning_effort": level,
        "skills": {"config": _off(others)} if others else "",
    }
    lines = [f"{key} = {toml_value(value)}" for key, value in values.items() if value]
    return _text("\n".join(lines) + "\n"), chosen.rows, (*chosen.notices, *said)


def _text(content: str) -> bytes:
    return content.encode("utf-8", "surrogateescape")
