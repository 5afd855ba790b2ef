"""The harness-neutral composition of one agent (spec/30), which every adapter reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple, Value

FragmentKind = Literal["system", "context", "append", "body", "run"]


class Fragment(NamedTuple):
    """A piece of the identity, from `path`, declared by `agent`; `repo_file` content is not `trusted`."""

    kind: FragmentKind
    content: str
    path: str
    layer: str
    agent: str = ""
    trusted: bool = True


class Part(NamedTuple):
    """A file or directory to copy into a skill: from `source` (physical) to `path` inside the skill."""

    source: str
    path: str
    executable: bool = False


class Skill(NamedTuple):
    """A selected skill: its directory (absolute), and the text of SKILL.md as it must be projected.

    `id` is the flat name it is projected under; `extras` are the references, scripts and assets its front matter adds.
    `files` are the paths inside `source` that travel with it (SKILL.md itself aside), sorted.
    """

    id: str
    source: str
    manifest: str
    description: str
    layer: str
    agent: str
    files: tuple[Part, ...] = ()
    extras: tuple[Part, ...] = ()


class Command(NamedTuple):
    """A command (prompt file) visible to the agent: `text` is the whole file."""

    id: str
    text: str
    path: str
    layer: str


class Knowledge(NamedTuple):
    """A knowledge file or folder visible to the agent: listed and dumped, never projected."""

    id: str
    path: str
    layer: str


class Server(NamedTuple):
    """A selected MCP server in normal form: `type` stdio, http or sse; unknown keys are kept."""

    id: str
    definition: Mapping[str, Any]
    path: str
    layer: str


class ModelTarget(NamedTuple):
    """What `model:` resolved to (OFTR-006.9.1).

    `kind` native: `model` is passed as it is. registry: every other field is filled from `models.json`.
    split: `provider/model` with no registry anywhere (spec/10, "Models"). `variable` names the environment variable of the
    credential, "" where the provider has none; `definition` is the model's own entry (capabilities).
    """

    kind: Literal["native", "registry", "split"]
    model: str
    provider: str = ""
    api: str = ""
    base_url: str = ""
    variable: str = ""
    headers: Mapping[str, str] = {}
    definition: Mapping[str, Any] = {}
    layer: str = ""


class Tools(NamedTuple):
    """Tool limits as the tree spells them. `allow` None: no allow list; (): no tools at all."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class Controls(NamedTuple):
    """`controls` after inheritance; the adapter resolves them for its harness."""

    environment: Mapping[str, str] = {}
    args: tuple[str, ...] = ()
    session_directory: str = ""
    deepwork_jobs: tuple[str, ...] = ()
    extra: Mapping[str, Any] = {}


class Subagent(NamedTuple):
    """A selected subagent: a whole small identity of its own, with its own skills, model and limits.

    `skills` are the names of its skills as they are projected; `resolved` those of them that its leader does not select.
    """

    id: str
    description: str
    body: str
    tools: Tools
    model: ModelTarget | None
    thinking: str
    skills: tuple[str, ...]
    path: str
    layer: str
    resolved: tuple[Skill, ...] = ()


class JobRoot(NamedTuple):
    """A DeepWork jobs directory (absolute), with all jobs that it holds (006.3.13 to 15).

    `names` are the jobs wanted of a layer's shared directory; () for an agent's own.
    """

    path: str
    layer: str
    names: tuple[str, ...] = ()
    pi_only: bool = False
    held: tuple[str, ...] = ()


class Overlay(NamedTuple):
    """One file of an agent's native Pi overlay: from `source` (absolute) to `path` in Pi's directory."""

    source: str
    path: str
    content: bytes
    executable: bool
    layer: str


class VisibleSkill(NamedTuple):
    """A skill of the home or the project that a harness may read by itself, selected or not."""

    id: str
    manifest_path: str
    physical: str
    kind: Literal["home", "project"]
    selected: bool


@frozen(eq=False, repr=False)
class Composition(Value):
    """One agent, composed. `digest` (BLAKE3 hex) covers what reaches a harness, not where it came from.

    `foreign_hosts` names, by provider, a host that a layer other than the home's chose and that the home does not trust: it gets
    no stored login.
    """

    agent: str
    label: str
    description: str
    chain: tuple[str, ...]
    fragments: tuple[Fragment, ...]
    skills: tuple[Skill, ...]
    subagents: tuple[Subagent, ...]
    commands: tuple[Command, ...]
    knowledge: tuple[Knowledge, ...]
    servers: tuple[Server, ...]
    model: ModelTarget | None
    registry: Mapping[str, Any]
    thinking: str
    tools: Tools
    extensions: tuple[str, ...]
    plugins: tuple[str, ...]
    prompt_template: Fragment | None
    controls: Controls
    harness_controls: Mapping[str, Controls]
    job_roots: tuple[JobRoot, ...]
    overlays: tuple[Overlay, ...]
    visible_skills: tuple[VisibleSkill, ...]
    digest: str
    notices: tuple[Notice, ...] = ()
    foreign_hosts: Mapping[str, str] = {}
