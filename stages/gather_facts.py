"""Gather facts: find out what the chosen adapter must know of the machine (spec/40).

Reads: settings, composition, the adapter's requests.
Adds: `LaunchSite` (facts of the machine).
Effects: reads only; a probe of the harness's help.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Success

from outfitter.adapters import NAMES, Adapter, FactsRequest
from outfitter.catalog.tree_reader import TreeReader
from outfitter.host import Grants, Runs, Sources
from outfitter.model.composition import Composition
from outfitter.model.errors import os_error_text
from outfitter.model.projection import Facts, LaunchSite
from outfitter.model.request import Ambient, Notice, Request
from outfitter.model.settings import Settings, SettingsFiles
from outfitter.railway import Effect, Outcome, attempt
from outfitter.settings.scopes import cache_directory

if TYPE_CHECKING:
    from outfitter.model.exposure import Verdict

_PROJECTION = r".*/outfitter-[A-Za-z0-9_.-]{1,12}-(" + "|".join(NAMES) + r")-[a-z0-9]{8}/projection"
# How often an adapter may ask further: a bound, not a plan.
ROUNDS = 5


def gather_facts(
    sources: Sources,
    runs: Runs,
    adapter: Adapter,
    files: SettingsFiles,
    settings: Settings,
    request: Request,
) -> Effect[LaunchSite]:
    """Find the harness's program, its native directory, the facts its adapter wants, and a run directory.

    The program is looked up, and asked, with the PATH of the user's own environment, whatever an agent sets for the child.
    Errors: `HarnessUnavailable` before anything is made; `EffectFailed` where a native file cannot be read.
    """
    ambient = request.ambient

    def look(executable: str) -> Outcome[LaunchSite]:
        native = native_directory(sources, adapter, ambient)
        asked = adapter.first_facts(request, settings, native)
        run_id, root = runs.name(request.agent or str(settings.values.get("default_agent", "agent")), adapter.id)
        facts = Facts(
            executable=executable,
            native=native,
            cache=cache_directory(settings, ambient),
            projection=root + "/projection",
            project_root=files.project_root,
            files={path: sources.read(path) for path in asked.files},
            listings={path: sources.names(path) for path in asked.listings},
            help=sources.probe(executable, asked.help, path) if asked.help else "",
            notices=_remarks(sources, adapter, ambient, native),
        )
        return Success(LaunchSite(run_id, root, _further(sources, adapter, request, settings, facts)))

    path = ambient.env.get("PATH", "")
    return attempt("look at the machine", lambda: sources.find_harness(adapter.command, path).bind(look))


def _further(sources: Sources, adapter: Adapter, request: Request, settings: Settings, facts: Facts) -> Facts:
    """Ask the adapter what else it wants until that is nothing new."""
    for _ in range(ROUNDS):
        asked = adapter.more_facts(request, settings, facts)
        more = _find_out(sources, facts, asked)
        if more is None:
            break
        facts = more
    return facts


def _find_out(sources: Sources, facts: Facts, asked: FactsRequest) -> Facts | None:
    """Return the facts with what is wanted and not known yet; None if all of it is known."""
    files: dict[str, bytes | None] = {}
    unreadable: dict[str, str] = {}
    for path in asked.files:
        if path in facts.files:
            continue
        try:
            files[path] = sources.read(path)
        except OSError as error:
            files[path] = None
            unreadable[path] = os_error_text(error)
    listings = {path: _names(sources, path) for path in asked.listings if path not in facts.listings}
    real = {path: sources.real(path) for path in asked.real if path not in facts.real}
    heads = {path: sources.newest_head(path) for path in asked.heads if path not in facts.heads}
    if not (files or listings or real or heads):
        return None
    return evolve(
        facts,
        files={**facts.files, **files},
        unreadable={**facts.unreadable, **unreadable},
        listings={**facts.listings, **listings},
        real={**facts.real, **real},
        heads={**facts.heads, **heads},
    )


def _names(sources: Sources, path: str) -> tuple[str, ...]:
    try:
        return sources.names(path)
    except OSError:
        return ()


def native_directory(sources: Sources, adapter: Adapter, ambient: Ambient) -> str:
    """Return the harness's own directory, looking through a projection of ours (spec/50).

    One that names a projection which is gone, as a terminal keeps it that a finished run had opened, counts as not set.
    """
    place = _given(adapter, ambient)
    if not place or _gone(sources, place):
        return posixpath.join(ambient.home, adapter.home)
    outer = sources.read(_journal(place))
    try:
        native = json.loads(outer)["native"] if outer else place
    except (ValueError, KeyError, TypeError):
        return place
    return native if isinstance(native, str) and native.startswith("/") else place


def _given(adapter: Adapter, ambient: Ambient) -> str:
    given = ambient.env.get(adapter.variable, "")
    return posixpath.normpath(posixpath.join(ambient.cwd, given)) if given else ""


def _journal(place: str) -> str:
    return posixpath.join(posixpath.dirname(place), "run.json")


def _gone(sources: Sources, place: str) -> bool:
    """Whether a directory is named as our projections are, and nothing of one is there any more."""
    ours = re.fullmatch(_PROJECTION, place) is not None
    return ours and sources.read(_journal(place)) is None and not sources.names(place)


def _remarks(sources: Sources, adapter: Adapter, ambient: Ambient, native: str) -> tuple[Notice, ...]:
    place = _given(adapter, ambient)
    if not place or not _gone(sources, place):
        return ()
    text = f"{adapter.variable} names the projection of a run that is over ({place}); {native} is taken for your own directory"
    return (Notice("notice", "projection-over", text, f"unset {adapter.variable}"),)


def expose(
    sources: Sources,
    grants: Grants,
    adapter: Adapter,
    reader: TreeReader,
    settings: Settings,
    composition: Composition,
    site: LaunchSite,
    request: Request,
) -> Effect[Verdict | None]:
    """Return who allowed what this launch runs that the home did not write; None for nothing.

    Errors: `PolicyRefused` for native settings of the project that set what only the home may set.
    """

    def look() -> Outcome[Verdict | None]:
        ambient, program = request.ambient, site.facts.executable
        boundary = sources.project_root(ambient.cwd, ambient.home)[1]
        native = tuple(read_native(sources, adapter.id, ambient.cwd, boundary))
        own = (sources.real(program) + "/").startswith(sources.real(reader.layers.project_root).rstrip("/") + "/")
        if not native and not own and not (_may_expose(composition) or _has_registry(reader)):
            return Success(None)
        from outfitter.model.exposure import NativePlace
        from outfitter.trust.exposing import Inspected
        from stages.expose import look, strangers

        places = tuple((NativePlace(path, form, root), content) for path, form, root, content in native)
        trees = strangers(reader.layers, settings)
        return look(
            sources,
            grants,
            Inspected(adapter.id, reader.layers, settings, composition, trees, places, request, program),
        )

    return attempt("look at what the project would run", look)


def admit(
    adapter: Adapter,
    reader: TreeReader,
    settings: Settings,
    composition: Composition,
    verdict: Verdict | None,
    request: Request,
) -> Outcome[tuple[Request, Composition, Verdict | None]]:
    """Return the request and composition that a launch goes on with (`stages.expose.decide`)."""
    if verdict is None and not request.untrusted:
        return Success((request, composition, verdict))
    from outfitter.model.exposure import Verdict
    from stages.expose import decide

    return decide(adapter.id, reader.layers, settings, composition, verdict or Verdict(), request)


def _may_expose(composition: Composition) -> bool:
    """Whether a composition has anything that could run or send by itself."""
    controls = (composition.controls, *composition.harness_controls.values())
    parts = (composition.servers, composition.extensions, composition.overlays)
    return any(parts) or any(block.environment or block.args for block in controls)


def _has_registry(reader: TreeReader) -> bool:
    return any("models.json" in tree.documents for tree in reader.trees)


def native_places(harness: str, cwd: str, boundary: str) -> tuple[tuple[str, str, str], ...]:
    """Return each place of a project that a harness reads by itself: path, form, directory (measured).

    Claude Code reads its settings in the working directory and at the repository's top, and `.mcp.json` in every directory up
    to the root of the file system. Codex reads `.codex/` of every directory up to the top, Pi `.pi/` of the working directory.
    """
    up = [cwd]
    while up[-1] != posixpath.dirname(up[-1]):
        up.append(posixpath.dirname(up[-1]))
    inside = [folder for folder in up if (folder + "/").startswith(boundary.rstrip("/") + "/")] or [cwd]
    found: list[tuple[str, str, str]] = []
    if harness == "claude":
        for name in (".claude/settings.json", ".claude/settings.local.json"):
            found += [(folder, name, "claude-settings") for folder in inside]
        found += [(folder, ".claude/plugins", "folder") for folder in inside]
        found += [(folder, ".mcp.json", "servers") for folder in up]
    elif harness == "codex":
        for name, form in (("config.toml", "file"), ("hooks.json", "file"), ("rules", "folder"), ("agents", "folder")):
            found += [(folder, f".codex/{name}", form) for folder in inside]
    elif harness == "pi":
        found += [(cwd, ".pi/settings.json", "file"), (cwd, ".pi/mcp.json", "servers")]
        found += [(cwd, f".pi/{name}", "folder") for name in ("extensions", "hooks", "tools")]
    return tuple((posixpath.join(folder, name), form, folder) for folder, name, form in found)


def read_native(sources: Sources, harness: str, cwd: str, boundary: str) -> Iterator[tuple[str, str, str, bytes]]:
    """Return the native places that hold something, with their bytes; of a folder, its names and digests."""
    for path, form, root in native_places(harness, cwd, boundary):
        try:
            if form != "folder":
                content = sources.read(path)
            elif sources.names(path):
                content = _folder(sources, path)
            else:
                continue
        except OSError:
            # Larger than is read, or unreadable: what it is by its digest alone.
            content = f"? {sources.digest(path)}".encode()
        if content is not None and content.strip():
            yield path, form, root, content


def _folder(sources: Sources, path: str) -> bytes:
    files = [name for name, entry in sources.listing(path, "", 6).items() if entry.kind == "file"]
    return "\n".join(f"{name} {sources.digest(f'{path}/{name}')}" for name in sorted(files)).encode(
        "utf-8", "surrogateescape"
    )
