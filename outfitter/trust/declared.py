"""What the trees that nobody vouches for bring to a composition, row by row. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from blake3 import blake3

from outfitter.model.composition import Composition, Server
from outfitter.model.layers import Document, Layer, Layers
from outfitter.model.request import Position
from outfitter.model.settings import HOME_SCOPES, Settings
from outfitter.trust.drafts import Draft, clipped
from outfitter.trust.refusals import arguments_of, blocks, position

# Files of a Pi overlay that are words, keys or colours: nothing in them runs or sends.
_HARMLESS = ("SYSTEM.md", "APPEND_SYSTEM.md", "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "keybindings.json")
_HARMLESS_FOLDERS = ("prompts/", "themes/")
_SCRIPTS = (".sh", ".bash", ".py", ".js", ".mjs", ".ts", ".rb", ".pl")
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


def declared(
    layers: Layers, settings: Settings, composition: Composition, harness: str, cwd: str, trees: tuple[Layer, ...]
) -> Iterator[Draft]:
    """Yield every draft of the composition, for one harness; `trees` are those that nobody vouches for."""
    bases = tuple(dict.fromkeys((cwd, layers.project_root)))
    for tree in trees:
        for document in _agents(tree, composition.chain):
            yield from _controls(tree, document, harness, bases)
        yield from _providers(tree, composition, harness)
    labels = {tree.label: tree for tree in trees}
    yield from (
        _server(server, labels[server.layer], bases) for server in composition.servers if server.layer in labels
    )
    if harness == "pi":
        yield from _extensions(layers, settings, trees, composition, bases)
        yield from _overlays(labels, composition)
    yield from _may_run(labels, composition)


def _agents(tree: Layer, chain: tuple[str, ...]) -> Iterator[Document]:
    """The files of a line's agents in one layer."""
    for name in chain:
        for path in (
            f"agents/{name}/agent.md",
            f"agents/{name}/AGENT.md",
            f"agents/{name}.md",
            f"agents/{name}/config.json",
        ):
            document = tree.documents.get(path)
            if document is not None and isinstance(document.value, Mapping):
                yield document


def _controls(tree: Layer, document: Document, harness: str, bases: tuple[str, ...]) -> Iterator[Draft]:
    for key, block in blocks(document):
        if len(key) > 1 and key[1] != harness:
            continue
        environment = block.get("environment")
        for name, value in environment.items() if isinstance(environment, Mapping) else ():
            if value is not None:
                line = position(document, (*key, "environment", str(name))).line
                shown = "***" if any(word in str(name).upper() for word in _SECRET) else clipped(str(value), 60)
                yield Draft("environment", tree.label, document.path, line, f"{clipped(str(name), 60)}={shown}", ".".join((*key, str(name))), str(value), tree.root)  # fmt: skip
        words = arguments_of(block)
        if words:
            line = position(document, (*key, "args")).line
            yield Draft("arguments", tree.label, document.path, line, clipped(" ".join(words)), ".".join(key), words, tree.root, words, bases)  # fmt: skip


def _server(server: Server, tree: Layer, bases: tuple[str, ...]) -> Draft:
    definition = server.definition
    words = server_words(definition)
    folder = definition.get("cwd")
    inner = (posixpath.join(bases[-1], folder),) if isinstance(folder, str) else ()
    return Draft("server", server.layer, server.path, _line(tree, server), server_text(server.id, definition), server.id, definition, tree.root, words, (*inner, *bases))  # fmt: skip


def server_words(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """The command and the arguments of a server."""
    args = definition.get("args")
    found = (definition.get("command"), *(args if isinstance(args, (list, tuple)) else ()))
    return tuple(str(word) for word in found if word is not None)


def server_text(name: str, definition: Mapping[str, Any]) -> str:
    """A server in one line: what it runs or where it is, and the variables it names."""
    from outfitter.catalog.model_rules import variables

    where = definition.get("url") or " ".join(server_words(definition))
    sent = ", ".join(f"${one}" for one in variables(definition))
    return clipped(f"{name}: {where}" + (f" (gets {sent})" if sent else ""))


def _line(tree: Layer, server: Server) -> int:
    for document in tree.documents.values():
        if document.path == server.path:
            for root in ("mcpServers", "servers", "mcp_servers"):
                at = document.positions.get((root, server.id), Position())
                if at.line:
                    return at.line
    return 0


def _providers(tree: Layer, composition: Composition, harness: str) -> Iterator[Draft]:
    from outfitter.catalog.model_rules import addresses, host, variables

    document = tree.documents.get("models.json")
    if document is None:
        return
    effective = composition.registry.get("providers", {})
    targets = (composition.model, *(one.model for one in composition.subagents))
    used = {target.provider for target in targets if target is not None}
    for name, key in _provider_keys(document):
        definition = effective.get(name)
        if definition is None or (harness != "pi" and name not in used):
            continue
        hosts, sent = addresses(definition), variables(definition)
        text = f"{name}: {', '.join(map(host, hosts)) or 'its own host'}" + "".join(f", gets ${one}" for one in sent)
        content = [hosts, sent, _headers(definition)]
        yield Draft("provider", tree.label, document.path, position(document, key).line, clipped(text), name, content, tree.root)  # fmt: skip


def _provider_keys(document: Document) -> Iterator[tuple[str, tuple[str, ...]]]:
    block = document.value.get("providers") if isinstance(document.value, Mapping) else None
    if isinstance(block, Mapping):
        yield from ((name, ("providers", name)) for name in block)
    elif isinstance(block, list):
        for number, raw in enumerate(block):
            if isinstance(raw, Mapping) and isinstance(raw.get("id"), str):
                yield raw["id"], ("providers", str(number))


def _headers(value: Any) -> list[Any]:
    """Every mapping of headers, at any depth."""
    found: list[Any] = []
    if isinstance(value, Mapping):
        for key, inner in value.items():
            found += [inner] if str(key).lower().endswith("headers") else _headers(inner)
    elif isinstance(value, list):
        for inner in value:
            found += _headers(inner)
    return found


def _extensions(
    layers: Layers, settings: Settings, trees: tuple[Layer, ...], composition: Composition, bases: tuple[str, ...]
) -> Iterator[Draft]:
    """Extensions that a stranger's file names, and those of anybody that lie in a stranger's folder."""
    named: dict[str, tuple[str, str, int, str]] = {}
    for tree in trees:
        for document in _agents(tree, composition.chain):
            value = document.value.get("extensions")
            line = position(document, ("extensions",)).line
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):
                    named[item.strip()] = (tree.label, document.path, line, tree.root)
    origin = settings.origins.get(("agent_defaults", "extensions"))
    if origin is not None and origin.scope not in HOME_SCOPES:
        defaults = settings.values["agent_defaults"]["extensions"]
        for item in defaults if isinstance(defaults, list) else [defaults]:
            named[str(item).strip()] = (origin.scope, origin.path, origin.at.line, posixpath.dirname(origin.path))
    for word in composition.extensions:
        place = named.get(word) or _inside(word, layers, trees, bases)
        if place is not None:
            label, path, line, root = place
            yield Draft("extension", label, path, line, clipped(word), _relative(word, root), "", root, (word,), bases)


def _relative(word: str, root: str) -> str:
    """An extension's name that does not depend on where the tree lies."""
    return posixpath.relpath(word, root) if word.startswith("/") and root else word


def _inside(
    word: str, layers: Layers, trees: tuple[Layer, ...], bases: tuple[str, ...]
) -> tuple[str, str, int, str] | None:
    if ":" in word.partition("/")[0]:
        return None
    for path in (posixpath.normpath(posixpath.join(base, word)) for base in bases):
        for label, root in (*((tree.label, tree.root) for tree in trees), ("project", layers.project_root)):
            if path.startswith(root.rstrip("/") + "/"):
                return label, path, 0, root
    return None


def _overlays(labels: Mapping[str, Layer], composition: Composition) -> Iterator[Draft]:
    for overlay in composition.overlays:
        tree = labels.get(overlay.layer)
        if tree is None or overlay.path in _HARMLESS or overlay.path.startswith(_HARMLESS_FOLDERS):
            continue
        if overlay.path.startswith("skills/"):
            continue
        content = [overlay.executable, blake3(overlay.content).hexdigest()]
        yield Draft(
            "overlay", tree.label, overlay.source, 0, f"pi/{clipped(overlay.path)}", overlay.path, content, tree.root
        )


def _may_run(labels: Mapping[str, Layer], composition: Composition) -> Iterator[Draft]:
    """What the model may run if it asks and the harness permits."""
    skills = {skill.id: skill for skill in composition.skills}
    skills.update({skill.id: skill for one in composition.subagents for skill in one.resolved})
    for skill in skills.values():
        scripts = [
            part.path for part in (*skill.files, *skill.extras) if part.executable or part.path.endswith(_SCRIPTS)
        ]
        if skill.layer in labels and scripts:
            text = clipped(f"{skill.id}: {', '.join(scripts)}")
            yield Draft(
                "skill", skill.layer, skill.source, 0, text, skill.id, scripts, labels[skill.layer].root, asks=False
            )
    for command in composition.commands:
        if command.layer in labels:
            yield Draft("command", command.layer, command.path, 0, clipped(command.id), command.id, "", labels[command.layer].root, asks=False)  # fmt: skip
    for job in composition.job_roots:
        if job.layer in labels:
            yield Draft("jobs", job.layer, job.path, 0, clipped(", ".join(job.held)), job.path, "", labels[job.layer].root, asks=False)  # fmt: skip
