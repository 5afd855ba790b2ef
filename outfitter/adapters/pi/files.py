"""What Pi gets as files: prompts, skills, commands, extensions and the native overlay (spec/40). Pure.

Everything of ours stands below `outfitter/`, a folder Pi never looks into by itself, and reaches Pi through arguments.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from outfitter.adapters.controls import flat_name, skill_files
from outfitter.adapters.pi.state import MCP_LOGINS, SCRATCH, TABLE
from outfitter.model.composition import Command, Composition, Fragment, Overlay, Skill
from outfitter.model.projection import Copied, Generated
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

OURS = "outfitter"
# Overlay files that become part of a generated one.
MERGED = (".mcp.json", "mcp.json", "settings.json", "keybindings.json")


class Files(NamedTuple):
    """Files of the projection, the arguments that point Pi at them (paths absolute), and what to say."""

    generated: tuple[Generated, ...] = ()
    copied: tuple[Copied, ...] = ()
    arguments: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


def joined(parts: Iterable[Files]) -> Files:
    """Several parts as one, in order."""
    rows = tuple(parts)
    return Files(
        tuple(one for part in rows for one in part.generated),
        tuple(one for part in rows for one in part.copied),
        tuple(one for part in rows for one in part.arguments),
        tuple(one for part in rows for one in part.notices),
    )


def prompt_files(fragments: tuple[Fragment, ...], template: Fragment | None, root: str) -> Files:
    """Return `--system-prompt`, the other fragments in composition order, then the template (006.3.18).

    All are files, never text.
    """
    kept = [fragment for fragment in fragments if fragment.content.strip()]
    generated: list[Generated] = []
    arguments: list[str] = []
    for number, fragment in enumerate(sorted(kept, key=lambda fragment: fragment.kind != "system")):
        path = f"{OURS}/prompts/{number:02d}-{fragment.kind}.md"
        generated.append(Generated(path, _text(fragment.content)))
        option = "--system-prompt" if fragment.kind == "system" else "--append-system-prompt"
        arguments += [option, posixpath.join(root, path)]
    if template is not None:
        path = f"{OURS}/template/{posixpath.basename(template.path) or 'template.md'}"
        generated.append(Generated(path, _text(template.content)))
        arguments += ["--prompt-template", posixpath.join(root, path)]
    return Files(tuple(generated), (), tuple(arguments))


def skill_arguments(skills: tuple[Skill, ...], overlays: tuple[Overlay, ...], agent: str, root: str) -> Files:
    """Return `--no-skills`, then `--skill` for each selected skill and each of the agent's Pi directory.

    Without `--no-skills` Pi would load every skill of the home's and the project's tree (spec/15 V3). Of two of one id the
    Pi folder's is taken: it was written for Pi.
    """
    own = tuple(dict.fromkeys(name for overlay in overlays if (name := _overlay_skill(overlay.path))))
    taken = {name.removesuffix(".md") for name in own}
    generated: list[Generated] = []
    copied: list[Copied] = []
    paths: list[str] = []
    notices: list[Notice] = []
    for skill in skills:
        if skill.id in taken:
            message = f"agent {agent}: skill {skill.id} is taken from the agent's pi/skills/"
            notices.append(Notice("notice", "skill-overlaid", message))
            continue
        directory = f"{OURS}/skills/{flat_name(skill.id)}"
        manifest, parts = skill_files(skill, directory)
        generated.append(manifest)
        copied += parts
        paths.append(directory)
    paths += [f"skills/{name}" for name in own]
    arguments = [word for path in paths for word in ("--skill", posixpath.join(root, path))]
    return Files(tuple(generated), tuple(copied), ("--no-skills", *arguments), tuple(notices))


def command_files(commands: tuple[Command, ...], root: str) -> Files:
    """Each command as a prompt template of its id."""
    paths = [(command, f"{OURS}/commands/{flat_name(command.id)}.md") for command in commands]
    generated = tuple(Generated(path, _text(command.text)) for command, path in paths)
    arguments = tuple(word for _, path in paths for word in ("--prompt-template", posixpath.join(root, path)))
    return Files(generated, (), arguments)


def overlay_files(composition: Composition) -> Files:
    """Return the agent's native Pi files, higher layers over lower ones (spec/40).

    Files that are state or ours are skipped with a warning.
    """
    laid: dict[str, Overlay] = {}
    notices: list[Notice] = []
    for overlay in composition.overlays:
        if overlay.path in MERGED:
            continue
        why = _refused(overlay.path)
        if why:
            message = f"{overlay.source}: {overlay.path} is {why}; an overlay cannot bring it"
            notices.append(Notice("warning", "overlay-refused", message))
            continue
        for path in [path for path in laid if _shadows(overlay.path, path)]:
            del laid[path]
        laid[overlay.path] = overlay
    generated = tuple(Generated(path, overlay.content, overlay.executable) for path, overlay in laid.items())
    return Files(generated, notices=tuple(notices))


def _shadows(high: str, low: str) -> bool:
    """Whether a higher layer's file replaces a lower one: equal paths, or one is a parent of the other.

    See spec/95 CMP-05.
    """
    return high == low or low.startswith(high + "/") or high.startswith(low + "/")


def _refused(name: str) -> str:
    """Return why an overlay must not contain a path, "" if it may.

    Case is ignored: on some disks it is the same file.
    """
    path = name.lower()
    if path == OURS or path.startswith(OURS + "/"):
        return "a name of Outfitter's own"
    keys = (*(key for key, _ in TABLE), MCP_LOGINS, *SCRATCH)
    declared = any(path == key.rstrip("/") or (key.endswith("/") and path.startswith(key)) for key in keys)
    return "a path where Pi keeps its state" if declared else ""


def _overlay_skill(path: str) -> str:
    """The entry below `skills/` that an overlay file belongs to, "" if to none."""
    top, slash, rest = path.partition("/")
    return rest.partition("/")[0] if top == "skills" and slash else ""


def _text(content: str) -> bytes:
    return content.encode("utf-8", "surrogateescape")
