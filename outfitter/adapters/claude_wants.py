"""What must be known of the machine before a Claude Code launch can be planned, question by question. Pure."""

from __future__ import annotations

import posixpath

from outfitter.adapters import Wants
from outfitter.adapters.claude_arguments import CONTEXT_FILES, folded_files
from outfitter.adapters.claude_plugin import SERVER_FILES, native_skill_places
from outfitter.adapters.claude_slug import LONGEST, alike, folder, slug
from outfitter.adapters.claude_state import mode, state_file
from outfitter.model.projection import Facts
from outfitter.model.request import Request
from outfitter.model.settings import Settings


def wants(_request: Request, _settings: Settings, _native: str) -> Wants:
    """First the program's own word on what it can do: everything else depends on it."""
    return Wants(help=("--help",))


def further(request: Request, settings: Settings, facts: Facts) -> Wants:
    """The rest. An inherited run does not even look at the durable login, state or history (006.5.21)."""
    context = tuple(posixpath.join(facts.project_root, name) for name in CONTEXT_FILES)
    directories = skill_directories(request, facts)
    servers = tuple(posixpath.join(facts.project_root, name) for name in SERVER_FILES)
    shared = Wants(
        files=(*context, servers[0], *folded_files(request.passthrough, request.ambient.cwd)),
        listings=directories,
        real=(*servers, *native_skill_places(directories, facts)),
    )
    if not mode(request, settings, facts.help).isolated:
        return shared
    projects = posixpath.join(facts.native, "projects")
    long = len(slug(request.ambient.cwd)) > LONGEST
    login = (facts.native,) if request.ambient.platform == "darwin" else ()
    return Wants(
        files=(*shared.files, state_file(request, facts.native)),
        listings=(*shared.listings, *login, *((projects,) if long else ())),
        real=shared.real,
        heads=tuple(
            posixpath.join(projects, name) for name in alike(request.ambient.cwd, facts.listings.get(projects, ()))
        ),
    )


def skill_directories(request: Request, facts: Facts) -> tuple[str, ...]:
    """Where the program finds skills by itself, as far as a tree's own may be linked there."""
    places = (request.ambient.cwd, facts.project_root)
    return tuple(
        dict.fromkeys(
            (*(posixpath.join(place, ".claude/skills") for place in places), posixpath.join(facts.native, "skills"))
        )
    )


def session_folder(request: Request, facts: Facts) -> str:
    """The name under `projects/` that belongs to the working directory."""
    projects = posixpath.join(facts.native, "projects")
    heads = {posixpath.basename(place): head for place, head in facts.heads.items()}
    return folder(request.ambient.cwd, facts.listings.get(projects, ()), heads)
