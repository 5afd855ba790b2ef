"""The harness-neutral composition of one agent (spec/30): what `compose` gives and every adapter reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple, Value

FragmentKind = Literal["system", "context", "append", "body", "run"]


class Fragment(NamedTuple):
    """A piece of the identity. `path` is where it came from, `agent` who declared it, `trusted` False for `repo_file` content."""

    kind: FragmentKind
    content: str
    path: str
    layer: str
    agent: str = ""
    trusted: bool = True


class Part(NamedTuple):
    """A file or directory to be copied into a skill: `source` is absolute and physical, `path` where it lands inside the skill."""

    source: str
    path: str
    executable: bool = False


class Skill(NamedTuple):
    """A selected skill: `source` is its own directory (absolute); `manifest` the text of SKILL.md as it must be projected.

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
    """A selected MCP server in the one normal form of spec/15 V20: `type` is stdio, http or sse; `definition` keeps unknown keys."""

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
    """Tool limits in the words the tree used. `allow` None: no allow list was written; () : no tools at all."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class Controls(NamedTuple):
    """`controls` after inheritance, the generic block and each harness's own, resolved per harness by the adapter."""

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
    """A DeepWork jobs directory (absolute): `always` for an agent's own, by `names` for a layer's shared one (006.3.13 to 15). `held` are all jobs in it."""

    path: str
    layer: str
    names: tuple[str, ...] = ()
    pi_only: bool = False
    held: tuple[str, ...] = ()


class Overlay(NamedTuple):
    """One file of an agent's native Pi overlay, lowest precedence first: `source` absolute, `path` inside Pi's directory."""

    source: str
    path: str
    content: bytes
    executable: bool
    layer: str


class VisibleSkill(NamedTuple):
    """A skill of the home's or the project's tree that a harness may read by itself, selected or not (spec/15 V3)."""

    id: str
    manifest_path: str
    physical: str
    kind: Literal["home", "project"]
    selected: bool


@frozen(eq=False, repr=False)
class Composition(Value):
    """One agent, composed: same inputs, same value. `digest` (BLAKE3 hex) covers what reaches a harness, not where it came from.

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
