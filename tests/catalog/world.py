"""A throw-away home and project, and a composition of what is in them, by the real stages and the real disk."""

import os
from pathlib import Path

from attrs import evolve
from returns.result import Failure

from outfitter.catalog.lint import of_notice, of_problem, tree_findings
from outfitter.edges import sources as edge
from outfitter.edges.documents import documents
from outfitter.host import Sources
from outfitter.model.composition import Composition
from outfitter.model.errors import CompositionFailed, HarnessUnavailable, SettingsInvalid
from outfitter.model.request import Ambient, Request
from outfitter.railway import fold, perform
from stages.compose import compose
from stages.load_layers import load_layers
from stages.merge_settings import merge_settings
from stages.read_settings import read_settings
from tests.effects import fake


def real_sources(cache=None):
    return fake(
        Sources,
        project_root=edge.project_root,
        listing=edge.listing,
        document=documents(cache),
        read=edge.read,
        names=edge.names,
        real=edge.real,
        find_harness=no_harness,
        digest=edge.digest,
        probe=no_help,
    )


def no_harness(_command, _path):
    return Failure(HarnessUnavailable("none", "", "not here"))


def no_help(_executable, _words, _path):
    return ""


def itself(value):
    return value


class World:
    """Home and project below one directory; `compose` gives a `Composition` or the error."""

    def __init__(self, top, git=True):
        self.top = Path(os.path.realpath(top))
        self.home, self.project = self.top / "home", self.top / "project"
        for folder in (self.home, self.project):
            folder.mkdir(exist_ok=True)
        if git:
            (self.project / ".git").mkdir(exist_ok=True)

    def put(self, path, text="", mode=0o644):
        """Write a file; a relative path is the project's."""
        place = self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        place.chmod(mode)
        return place

    def link(self, path, target):
        place = self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def agent(self, name="a", front="", body="You are A.", under=".agents"):
        return self.put(f"{under}/agents/{name}/agent.md", f"---\n{front}\n---\n{body}\n")

    def skill(self, name, front="description: d", body="do it", under=".agents/skills"):
        return self.put(f"{under}/{name}/SKILL.md", f"---\n{front}\n---\n{body}\n")

    def request(self, agent=None, cwd=None, env=None, **more):
        ambient = Ambient(
            cwd=os.path.realpath(cwd or self.project),
            home=str(self.home),
            temp_root=str(self.top),
            state_root=str(self.top / "state"),
            env=env or {},
            stdin_tty=False,
            stdout_tty=False,
            stderr_tty=False,
            now_ns=0,
            uid=0,
            platform="linux",
        )
        return Request(ambient, agent=agent, **more)

    def layers(self, request, reach="agent"):
        """The reader over everything that a request reaches, or the error."""
        sources = real_sources()
        files = fold(perform(read_settings(sources, request)), itself, itself)
        merged = merge_settings(files)
        return fold(
            merged.bind(lambda found: perform(load_layers(sources, files, found, request, reach))), itself, itself
        )

    def settings(self, request):
        return fold(perform(read_settings(real_sources(), request)).bind(merge_settings), itself, itself)

    def compose(self, agent="a", **more):
        request = self.request(agent, **more)
        layers = self.layers(request)
        settings = self.settings(request)
        if isinstance(settings, SettingsInvalid):
            return settings
        made = fold(compose(layers, settings, request), itself, itself)
        if not isinstance(made, Composition):
            return made
        return evolve(made, notices=tuple(dict.fromkeys((*settings.notices, *made.notices))))

    def findings(self):
        """What `validate` says of the tree, but for compositions."""
        request = self.request()
        layers = self.layers(request, "all")
        settings = self.settings(request)
        notices = dict.fromkeys((*settings.notices, *layers.layers.notices))
        return [*map(of_notice, notices), *tree_findings(layers)]


def summary(made):
    """A composition in few words, as the expectations of the corpus spell it."""
    if isinstance(made, SettingsInvalid | CompositionFailed):
        texts = [getattr(made, "message", ""), getattr(made, "hint", "")]
        problems = [of_problem(problem) for problem in made.problems]
        return {
            "error": " | ".join([*texts, *(f"{p.path}:{p.at.line}: {p.key}: {p.message} {p.hint}" for p in problems)])
        }
    return {
        "agent": made.agent,
        "label": made.label,
        "chain": list(made.chain),
        "fragments": [f"{fragment.kind}: {fragment.content.strip()}" for fragment in made.fragments],
        "skills": [skill.id for skill in made.skills],
        "manifests": {skill.id: skill.manifest for skill in made.skills},
        "files": {skill.id: sorted(part.path for part in (*skill.files, *skill.extras)) for skill in made.skills},
        "subagents": [one.id for one in made.subagents],
        "commands": [one.id for one in made.commands],
        "knowledge": [one.id for one in made.knowledge],
        "servers": {server.id: dict(server.definition) for server in made.servers},
        "model": "/".join(part for part in (made.model.provider, made.model.model) if part) if made.model else None,
        "thinking": made.thinking,
        "allow": None if made.tools.allow is None else list(made.tools.allow),
        "deny": list(made.tools.deny),
        "extensions": list(made.extensions),
        "visible": {one.id: one.selected for one in made.visible_skills},
        "warnings": sorted(n.code for n in made.notices if n.level == "warning"),
        "notices": sorted(n.code for n in made.notices if n.level == "notice"),
        "messages": " | ".join(f"{n.message} {n.hint}" for n in made.notices),
    }
