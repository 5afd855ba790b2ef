"""The exposure of one launch: its rows, whose they are, and the verdict."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from blake3 import blake3

from outfitter.host import Grants, Sources
from outfitter.model.composition import Composition
from outfitter.model.exposure import Exposure, ExposureRow, NativePlace, Verdict
from outfitter.model.layers import Layer, Layers
from outfitter.model.request import Position, Problem, Request, resolved
from outfitter.model.settings import Settings
from outfitter.model.value import NamedTuple
from outfitter.trust.declared import declared
from outfitter.trust.drafts import Draft, candidates, finished
from outfitter.trust.grants import VARIABLE, prefixes, sorted_rows, verdict
from outfitter.trust.native_files import home_only, native_drafts

# A folder that a row names is watched up to this many files.
MOST_FILES = 2000


class Inspected(NamedTuple):
    """A launch that is looked at, for one harness.

    `trees` are those that nobody vouches for, `native` the native files that are there.

    `executable` is the harness's program, "" where it does not matter.
    """

    harness: str
    layers: Layers
    settings: Settings
    composition: Composition | None
    trees: tuple[Layer, ...]
    native: tuple[tuple[NativePlace, bytes], ...]
    request: Request
    executable: str = ""


def exposed(sources: Sources, launch: Inspected) -> Exposure:
    """Return every row, sorted, with the project's place, key and origin."""
    ambient, root = launch.request.ambient, launch.layers.project_root
    drafts = [
        *_declared(launch, ambient.cwd),
        *(draft for place, content in launch.native for draft in native_drafts(place, content, (ambient.cwd, root))),
        *_program(sources, launch.executable, root),
    ]
    tops = (root, *(tree.root for tree in launch.trees), *(draft.root for draft in drafts))
    limits = tuple(dict.fromkeys(map(sources.real, tops)))
    rows = sorted_rows(_finished(sources, draft, limits) for draft in drafts)
    place = sources.real(root)
    return Exposure(rows, place, *identity(sources, place, ambient.home))


def _declared(launch: Inspected, cwd: str) -> Iterator[Draft]:
    if launch.composition is not None:
        yield from declared(launch.layers, launch.settings, launch.composition, launch.harness, cwd, launch.trees)


def judged(sources: Sources, grants: Grants, settings: Settings, request: Request, exposure: Exposure) -> Verdict:
    """Return who allowed the rows: trusted paths, the project's grant, or the digest of `--trust`."""
    if not exposure.asking:
        return Verdict("nothing", exposure)
    grant = grants.grant(exposure.key)
    return verdict(exposure, trusted_paths(sources, settings, request), grant, request.trust)


def trusted_paths(sources: Sources, settings: Settings, request: Request) -> tuple[str, ...]:
    """Return the physical paths of the user's own variable, and of `trust.paths` of the home's settings."""
    block = settings.values.get("trust")
    paths = block.get("paths") if isinstance(block, dict) else None
    listed = [str(path) for path in paths] if isinstance(paths, list) else []
    home = request.ambient.home
    absolute = [resolved(path, home, home) for path in listed if path.startswith(("/", "~"))]
    return tuple(sources.real(path) for path in (*prefixes(request.ambient.env.get(VARIABLE, "")), *absolute))


def native_refusals(native: Iterable[tuple[NativePlace, bytes]], settings: Settings) -> tuple[Problem, ...]:
    """Return what the project's native settings set that only the home may set, granted or not."""
    hosts = settings.values.get("trusted_hosts")
    trusted = frozenset(str(one).strip().lower() for one in hosts) if isinstance(hosts, list) else frozenset()
    hint = "only the home may set it: remove it, or run without the project's settings (--untrusted)"
    return tuple(
        Problem(place.path, f"{key.partition('.')[2]} {why}", key, Position(), hint)
        for place, content in native
        for key, why in home_only(place, content, trusted)
    )


def identity(sources: Sources, place: str, home: str) -> tuple[str, str]:
    """Return the key of a project's grant, and the address that it was cloned from ("" if unknown).

    The worktrees of one repository share a key, where the repository itself lists them: a `.git` file alone could claim any.
    """
    top = sources.project_root(place, home)[1]
    inner = posixpath.relpath(place, top)
    git = posixpath.join(top, ".git")
    common = ""
    gitfile = sources.read(git)
    if gitfile is not None and sources.real(git) == git:
        common = _common(sources, top, git, gitfile)
    elif sources.real(git) == git and sources.names(git):
        common = git
    base = common or top
    key = blake3(f"{base}\0{inner}".encode("utf-8", "surrogateescape")).hexdigest(16)
    return key, _remote(sources, common)


def _common(sources: Sources, top: str, git: str, gitfile: bytes) -> str:
    text = gitfile.decode("utf-8", "surrogateescape").strip()
    if not text.startswith("gitdir:"):
        return ""
    admin = sources.real(posixpath.join(top, text.removeprefix("gitdir:").strip()))
    common = _line(sources, f"{admin}/commondir")
    back = _line(sources, f"{admin}/gitdir")
    if not common or not back:
        return ""
    shared = sources.real(posixpath.join(admin, common))
    listed = sources.real(posixpath.join(admin, back)) == git and posixpath.dirname(admin) == f"{shared}/worktrees"
    return shared if listed else ""


def _line(sources: Sources, path: str) -> str:
    try:
        return (sources.read(path) or b"").decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""


def _remote(sources: Sources, common: str) -> str:
    """Return the address of `origin` without credentials."""
    from outfitter.syntax.address import without_credentials

    section = ""
    for line in _line(sources, f"{common}/config").splitlines() if common else ():
        text = line.strip()
        if text.startswith("["):
            section = text
        elif section == '[remote "origin"]' and text.partition("=")[0].strip() == "url":
            return without_credentials(text.partition("=")[2].strip())
    return ""


def _program(sources: Sources, executable: str, root: str) -> list[Draft]:
    """Return the row of a harness that is a program of the project's own."""
    program = sources.real(executable) if executable else ""
    place = sources.real(root)
    if not program.startswith(place.rstrip("/") + "/"):
        return []
    return [Draft("harness", "project", program, 0, program, program, sources.digest(program), place)]


def _finished(sources: Sources, draft: Draft, limits: tuple[str, ...]) -> ExposureRow:
    """Return the row of a draft; files that it names count where they lie in a stranger's folder."""
    files: dict[str, str] = {}
    for path in candidates(draft):
        real = sources.real(path)
        if any(real.startswith(limit.rstrip("/") + "/") for limit in limits):
            digest = sources.digest(real) or _folder(sources, real, draft)
            if digest:
                files[path] = digest
    return finished(draft._replace(root=sources.real(draft.root)) if draft.root else draft, files)


def _folder(sources: Sources, path: str, draft: Draft) -> str:
    """Return one digest of a package's files, "" for what is not one."""
    if draft.kind != "extension" or not sources.names(path):
        return ""
    names = [name for name, entry in sources.listing(path, "", 12).items() if entry.kind == "file"]
    own = [name for name in sorted(names) if "node_modules/" not in name and not name.startswith(".git/")]
    return blake3("\n".join(f"{name} {sources.digest(f'{path}/{name}')}" for name in own[:MOST_FILES]).encode("utf-8", "surrogateescape")).hexdigest()  # fmt: skip
