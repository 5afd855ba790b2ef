"""What `validate` finds in trees beyond a run's notices: spellings, shadows, unused files (spec/15).

Pure.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from outfitter.catalog import mcp
from outfitter.catalog.agents import Agent, agent, sites, unnamed_files
from outfitter.catalog.assembly import registry_of
from outfitter.catalog.closure import all_skills
from outfitter.catalog.fields import FileSource, is_portable, is_readable, portable
from outfitter.catalog.layer_warnings import FILES, FOLDERS
from outfitter.catalog.skills import MANIFESTS, SkillSite
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.layers import Document
from outfitter.model.request import Notice, Position, Problem
from outfitter.model.wording import counted, nearest

DESCRIPTION_LIMIT = 1024
NOT_PROJECTED = ("rules", "workflows", "hooks", "prompts")
AGENT_KEYS = (
    "name", "label", "description", "inherits", "skills", "subagents", "mcp", "extensions", "plugins", "model", "thinking",
    "tools", "system_prompt", "prompt_template", "append_system_prompt", "controls", "abstract", "enabled", "id",
)  # fmt: skip
_SCRIPTS = (".sh", ".py", ".pl", ".rb", ".js", ".bash")


Level = Literal["error", "warning", "note"]
_PLACED = re.compile(r"(?P<path>/[^\n:]+)(?::(?P<line>\d+))?: (?:(?P<key>[\w.-]+): )?(?P<message>.+)", re.DOTALL)


class Finding(NamedTuple):
    """One result of `validate`: an error, a warning, or a note that never fails anything.

    `hint` says what to do about it.
    """

    level: Level
    code: str
    message: str
    path: str = ""
    at: Position = Position()
    key: str = ""
    hint: str = ""


def of_problem(problem: Problem, code: str = "file") -> Finding:
    """A file's problem as an error."""
    return Finding("error", code, problem.message, problem.path, problem.at, problem.key, problem.hint)


def of_notice(notice: Notice) -> Finding:
    """Return a run's notice as a finding, with the position that its message begins with.

    Missing and ambiguous selections are errors here.
    """
    level: Level = "error" if notice.code in ERRORS else "note" if notice.level == "notice" else "warning"
    found = _PLACED.fullmatch(notice.message)
    if found is None:
        return Finding(level, notice.code, notice.message, hint=notice.hint)
    at = Position(int(found["line"] or 0))
    return Finding(level, notice.code, found["message"], found["path"], at, found["key"] or "", notice.hint)


ERRORS = (
    "skill-missing", "skill-ambiguous", "server-missing", "server-invalid", "subagent-missing", "job-missing",
)  # fmt: skip


def tree_findings(reader: TreeReader) -> Iterator[Finding]:
    """Everything about names, manifests and leftovers, layer by layer in order of precedence."""
    for layer in (number for number, tree in enumerate(reader.trees) if not tree.is_native):
        yield from _names(reader, layer, "agents")
        yield from _names(reader, layer, "skills")
        yield from _agent_folders(reader, layer)
        for path in unnamed_files(reader, layer):
            text = "has neither name nor description; it is an agent only where something names it"
            yield Finding("note", "agent-unnamed", text, reader.place(layer, path))
        yield from _flat_skills(reader, layer, "skills")
        yield from _leftovers(reader, layer)
    for skill in all_skills(reader):
        if not reader.layer(skill.layer).is_native:
            yield from _skill(reader, skill)
    for name, found in sites(reader).items():
        for site in found[1:]:
            document = reader.document(site.layer, site.path, "markdown")
            yield from (of_problem(problem) for problem in (document.problems if document else ()))
        one = agent(reader, name)
        if one:
            yield from _agent(one)


def file_findings(reader: TreeReader) -> Iterator[Finding]:
    """Everything about `models.json` and `mcp.json`, whether an agent selects it or not."""
    registry = registry_of(reader)
    yield from map(of_problem, registry.problems)
    yield from map(of_notice, registry.notices)
    for owners in ((), *((name,) for name in sites(reader))):
        found = mcp.servers(reader.ranked(), owners)
        yield from map(of_problem, found.problems)
        yield from map(of_notice, found.notices)
        yield from (of_notice(notice) for about in found.about.values() for notice in about)


def _names(reader: TreeReader, layer: int, base: str) -> Iterator[Finding]:
    """Ids that only some systems can hold (V10)."""
    seen: dict[str, str] = {}
    for name in reader.children(layer, base):
        stem = name.removesuffix(".md") if reader.is_file(layer, f"{base}/{name}") else name
        if name.startswith(("_", ".")) or (stem != name and base == "skills") or stem.lower() in ("readme", "agents"):
            continue
        if stem == name and not reader.is_folder(layer, f"{base}/{name}"):
            continue
        path = reader.place(layer, f"{base}/{name}")
        if seen.get(stem.lower(), stem) != stem:
            text = f"differs from {seen[stem.lower()]!r} only in case: they are one file on other systems"
            yield Finding("error", "id-case", text, path, hint="rename one of the two")
        elif is_readable(stem) and not is_portable(stem):
            yield Finding(
                "warning", "id-spelling", f"{stem!r} is not a portable id", path, hint=f"rename to {portable(stem)}"
            )
        seen[stem.lower()] = stem


def _agent_folders(reader: TreeReader, layer: int) -> Iterator[Finding]:
    for name in reader.children(layer, "agents"):
        base = f"agents/{name}"
        names = reader.children(layer, base)
        if "agent.json" in names and not {"agent.md", "AGENT.md"} & set(names):
            path = reader.place(layer, f"{base}/agent.json")
            yield Finding("warning", "agent-json", "is not read", path, hint=f"write {base}/agent.md")
        if "hooks" in names:
            yield Finding(
                "note", "not-projected", "hooks are reserved and not projected", reader.place(layer, f"{base}/hooks")
            )
        yield from _flat_skills(reader, layer, f"{base}/skills")


def _flat_skills(reader: TreeReader, layer: int, base: str) -> Iterator[Finding]:
    for name in reader.children(layer, base):
        stem = name.removesuffix(".md")
        if (
            stem != name
            and reader.is_file(layer, f"{base}/{name}")
            and stem.lower() not in ("readme", "agents", "index")
        ):
            path = reader.place(layer, f"{base}/{name}")
            yield Finding(
                "warning", "skill-flat", "is a file, not a skill", path, hint=f"move it to {base}/{stem}/SKILL.md"
            )


def _leftovers(reader: TreeReader, layer: int) -> Iterator[Finding]:
    tree = reader.layer(layer)
    counts = [
        f"{name}/ ({counted(sum(entry.kind == 'file' for entry in reader.below(layer, name)), 'file')})"
        for name in NOT_PROJECTED
        if reader.is_folder(layer, name)
    ]
    if counts:
        yield Finding("note", "not-projected", f"not projected: {', '.join(counts)}", tree.root)
    if tree.kind == "source" and not any(name in reader.children(layer, "") for name in (*FOLDERS, *FILES)):
        hint = f"name {tree.root}/.agents" if reader.is_folder(layer, ".agents") else "correct its path, or remove it"
        yield Finding(
            "warning", "source-empty", "this source is not an .agents tree; nothing in it is read", tree.root, hint=hint
        )
    if tree.kind == "source" and reader.is_file(layer, "settings.yml"):
        yield Finding(
            "note", "settings-of-source", "a source's settings take no effect", reader.place(layer, "settings.yml")
        )


def _skill(reader: TreeReader, site: SkillSite) -> Iterator[Finding]:
    document = reader.document(site.layer, site.manifest, "markdown")
    if document is None:
        return
    yield from (of_problem(problem) for problem in document.problems)
    yield from (of_notice(notice) for notice in document.notices)
    if not document.problems:
        yield from _manifest(site, document)
    if all(reader.is_file(site.layer, f"{site.path}/{name}") for name in MANIFESTS):
        text = "is not read: SKILL.md is next to it"
        yield Finding("warning", "skill-twice", text, reader.place(site.layer, f"{site.path}/skill.md"))
    yield from _scripts(reader, site)


def _manifest(site: SkillSite, document: Document) -> Iterator[Finding]:
    values: Mapping[str, Any] = document.value if isinstance(document.value, Mapping) else {}
    name, description = values.get("name"), str(values.get("description") or "")
    at = document.positions.get(("name",), Position())
    if name is not None and str(name) != site.leaf:
        text = f"{str(name)!r} is not the folder's name; the skill is {site.leaf!r}"
        yield Finding("warning", "skill-name", text, document.path, at, "name", f"write name: {site.leaf}")
    if not description:
        hint = "say when to use it"
        yield Finding(
            "warning",
            "skill-description",
            "no description; programs drop a skill without one",
            document.path,
            hint=hint,
        )
    elif len(description) > DESCRIPTION_LIMIT:
        text = f"{len(description)} characters; the Agent Skills specification allows {DESCRIPTION_LIMIT}"
        where = document.positions.get(("description",), Position())
        yield Finding("warning", "skill-description", text, document.path, where, "description")


def _scripts(reader: TreeReader, site: SkillSite) -> Iterator[Finding]:
    for entry in reader.below(site.layer, site.path):
        if entry.kind == "file" and not entry.executable and entry.path.endswith(_SCRIPTS):
            document = reader.document(site.layer, entry.path, "text")
            if document and document.text.startswith("#!"):
                yield Finding("note", "script-mode", "has #! but no execute bit", reader.place(site.layer, entry.path))


def _agent(one: Agent) -> Iterator[Finding]:
    path = one.place.path
    if not one.has_front_matter and not any(problem.path == path for problem in one.problems):
        yield Finding("warning", "agent-bare", "no front matter; the id is taken from the folder", path)
    name = one.values.get("name")
    if name is not None and str(name) != one.id:
        yield Finding(
            "warning",
            "agent-name",
            f"{str(name)!r} is not the id {one.id!r}; it is taken as the label",
            path,
            key="name",
        )
    for key in one.values:
        near = nearest(key, AGENT_KEYS, 1)
        if key not in AGENT_KEYS and near and _close(key, near[0]):
            yield Finding(
                "warning", "agent-key", f"unknown key {key!r}", path, key=key, hint=f"did you mean {near[0]}?"
            )
    for extension in one.extensions:
        if not isinstance(extension, FileSource) and _unpinned(extension):
            yield Finding(
                "note", "extension-unpinned", f"{extension} names no version or commit", path, key="extensions"
            )


def _close(key: str, known: str) -> bool:
    """Whether a key looks like a slip of a known one rather than a word of another tool."""
    squeezed = key.replace("-", "_").lower()
    return squeezed == known or (abs(len(key) - len(known)) <= 1 and key[:2] == known[:2])


def _unpinned(extension: str) -> bool:
    head, _, rest = extension.partition(":")
    return head in ("npm", "git") and "@" not in rest[1:]
