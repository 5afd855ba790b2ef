"""What `setup` reads (a tree, its settings, a native directory) and how it writes the tree.

Native directories are only read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from outfitter.catalog.fields import portable
from outfitter.edges.documents import documents
from outfitter.edges.sources import read
from outfitter.fs import READ_LIMIT, write_atomic
from outfitter.setup.plan import ExistingFiles, PlannedFile, Start

# Where each harness keeps the user's instructions, agents and skills, relative to its native directory.
NATIVE: dict[str, tuple[tuple[str, ...], str, str]] = {
    "claude": (("CLAUDE.md",), "agents", "skills"),
    "pi": (("SYSTEM.md", "AGENTS.md", "APPEND_SYSTEM.md"), "", "skills"),
}


def gather(tree: str, start: Start, native: str) -> ExistingFiles:
    """Return everything that the plan depends on.

    Raises `OSError`, and `ValueError` with one line if settings.yml cannot be parsed.
    """
    path = os.path.join(tree, "settings.yml")
    text = read(path)
    document = documents(None)(path, "yaml") if text is not None else None
    if document is not None and document.problems:
        problem = document.problems[0]
        raise ValueError(f"{problem.path}:{problem.at.line}: {problem.message}")
    native_files = _native(start, native) if start in NATIVE else ExistingFiles()
    values = document.value if document is not None and isinstance(document.value, dict) else {}
    decoded = None if text is None else text.decode("utf-8", "surrogateescape")
    return native_files._replace(paths=frozenset(_paths(tree)), settings_text=decoded, settings=values)


def write(tree: str, files: tuple[PlannedFile, ...]) -> None:
    """Write the planned files, each atomically; new files must not exist. Raises `OSError`."""
    for item in files:
        path = os.path.join(tree, item.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if item.fresh:
            write_atomic(path, item.content, mode=0o755 if item.executable else 0o644, exclusive=True)
        else:
            mode = stat.S_IMODE(os.stat(path).st_mode)
            write_atomic(os.path.realpath(path), item.content, mode=mode, exact_mode=True)


def _native(start: Start, native: str) -> ExistingFiles:
    instructions, agents, skills = NATIVE[start]
    texts = [
        data.decode("utf-8", "replace").strip() for name in instructions if (data := read(os.path.join(native, name)))
    ]
    skill_files = {
        portable(skill): dict(_files(os.path.join(native, skills, skill)))
        for skill in _folders(os.path.join(native, skills))
    }
    return ExistingFiles(
        identity="\n\n".join(texts),
        agents=_agents(os.path.join(native, agents)) if agents else {},
        skills={name: files for name, files in skill_files.items() if "SKILL.md" in files},
    )


def _agents(folder: str) -> dict[str, bytes]:
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    contents = {portable(name[:-3]): read(os.path.join(folder, name)) for name in names if name.endswith(".md")}
    return {name: data for name, data in contents.items() if data}


def _folders(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    return sorted(
        name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)) and not name.startswith(".")
    )


def _files(folder: str) -> Iterator[tuple[str, tuple[bytes, bool]]]:
    """Yield the regular files below a folder, without symlinks at any depth: they may lead anywhere."""
    for inner, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(inner, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and status.st_size <= READ_LIMIT:
                data = read(path)
                if data is not None:
                    yield os.path.relpath(path, folder), (data, bool(status.st_mode & stat.S_IXUSR))


def _paths(tree: str) -> Iterator[str]:
    for folder, _, names in os.walk(tree):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), tree)
