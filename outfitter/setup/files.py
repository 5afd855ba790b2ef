"""What `setup` reads (a tree, its settings, a native directory) and how it writes; native directories are only ever read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from outfitter.catalog.fields import portable
from outfitter.edges.documents import documents
from outfitter.edges.sources import read
from outfitter.setup.plan import Material, Start, Write

# Where each harness keeps instructions, agents and skills of the user's, relative to its native directory.
NATIVE: dict[str, tuple[tuple[str, ...], str, str]] = {
    "claude": (("CLAUDE.md",), "agents", "skills"),
    "pi": (("SYSTEM.md", "AGENTS.md", "APPEND_SYSTEM.md"), "", "skills"),
}
FILE_LIMIT = 10 << 20


def gather(tree: str, start: Start, native: str) -> Material:
    """Everything the plan depends on. Raises `OSError`; `ValueError` with one line where settings.yml cannot be read as settings."""
    path = os.path.join(tree, "settings.yml")
    text = read(path)
    document = documents(None)(path, "yaml") if text is not None else None
    if document is not None and document.problems:
        problem = document.problems[0]
        raise ValueError(f"{problem.path}:{problem.at.line}: {problem.message}")
    offered = _native(start, native) if start in NATIVE else Material()
    values = document.value if document is not None and isinstance(document.value, dict) else {}
    decoded = None if text is None else text.decode("utf-8", "surrogateescape")
    return offered._replace(existing=frozenset(_paths(tree)), settings_text=decoded, settings=values)


def write(tree: str, writes: tuple[Write, ...]) -> None:
    """Write the planned files, each at once: new ones exclusively, settings by replacement. Raises `OSError`."""
    for item in writes:
        path = os.path.join(tree, item.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.{os.urandom(4).hex()}.tmp"
        mode = 0o755 if item.executable else 0o644
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(item.content)
            if item.fresh:
                os.link(temporary, path)
            else:
                os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
                os.replace(temporary, os.path.realpath(path))
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)


def _native(start: Start, native: str) -> Material:
    instructions, agents, skills = NATIVE[start]
    texts = [
        data.decode("utf-8", "replace").strip() for name in instructions if (data := read(os.path.join(native, name)))
    ]
    found = {
        portable(skill): dict(_files(os.path.join(native, skills, skill)))
        for skill in _folders(os.path.join(native, skills))
    }
    return Material(
        identity="\n\n".join(texts),
        agents=_agents(os.path.join(native, agents)) if agents else {},
        skills={name: files for name, files in found.items() if "SKILL.md" in files},
    )


def _agents(folder: str) -> dict[str, bytes]:
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    read_in = {portable(name[:-3]): read(os.path.join(folder, name)) for name in names if name.endswith(".md")}
    return {name: data for name, data in read_in.items() if data}


def _folders(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    return sorted(
        name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)) and not name.startswith(".")
    )


def _files(folder: str) -> Iterator[tuple[str, tuple[bytes, bool]]]:
    """Regular files below a folder, links at any depth left out: they may lead anywhere."""
    for inner, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(inner, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and status.st_size <= FILE_LIMIT:
                data = read(path)
                if data is not None:
                    yield os.path.relpath(path, folder), (data, bool(status.st_mode & stat.S_IXUSR))


def _paths(tree: str) -> Iterator[str]:
    for folder, _, names in os.walk(tree):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), tree)
