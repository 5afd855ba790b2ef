"""`.agents` trees as they were read: layers, their listings and their parsed documents (spec/10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from outfitter.model.request import Notice, Position, Problem
from outfitter.model.settings import KeyPath
from outfitter.model.value import NamedTuple, Value

# "native" and "native-home" are a tool's own directory of the project or the home, used where it is.
LayerKind = Literal["project", "home", "source", "repository", "native", "native-home"]
# Kinds of layers that the user wrote or installed; every other kind may be a stranger's.
HOME_KINDS: tuple[LayerKind, ...] = ("home", "native-home")
# "settings" is YAML that must also satisfy the settings schema: every settings file, remote ones too, is read in this form.
DocumentForm = Literal["yaml", "settings", "json", "markdown", "text"]


@frozen(eq=False, repr=False)
class Document(Value):
    """One file, parsed.

    `value` is JSON-like; for `markdown` it is the front matter (None without one) and `body` the rest.

    `text` is the whole file as decoded (byte-order mark removed, line ends as they are) for `markdown` and `text`, "" for the others.
    `problems` are what is wrong with it; a document with problems may still carry a usable value (spec/15, V13).
    """

    path: str
    value: Any
    positions: Mapping[KeyPath, Position]
    body: str = ""
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()
    text: str = ""


class Entry(NamedTuple):
    """A name in a layer's listing, by its path relative to the layer's root.

    `kind` is what it is once symlinks are followed.

    `target` is the physical path, or a broken link's own text; `link` whether it is one; `unreadable` a directory whose names could not be read.
    """

    path: str
    kind: Literal["file", "directory", "special", "outside", "dangling", "unreadable"]
    target: str = ""
    executable: bool = False
    inode: tuple[int, int] = (0, 0)
    link: bool = False


@frozen(eq=False, repr=False)
class Layer(Value):
    """One tree in order of precedence.

    `root` is the tree itself (`…/.agents`), `boundary` the directory that its symlinks may not leave ("" for none).

    `entries` holds the listing a launch needs; `documents` the parsed files by path relative to `root`
    (one that was needed as plain text has a marked key of its own).
    `listed` says of which folders the names are in `entries`, and how many levels deep. Kind `repository` is the project root itself, for `repo_file`.
    A native layer is a translation of `tool`'s directory; one that `yields` gives way to every layer that does not.
    """

    kind: LayerKind
    label: str
    root: str
    boundary: str
    entries: Mapping[str, Entry]
    documents: Mapping[str, Document]
    listed: Mapping[str, int] = {}
    yields: bool = False
    tool: str = ""

    @property
    def is_native(self) -> bool:
        """Whether this is a tool's own directory, used where it is."""
        return self.kind in ("native", "native-home")


@frozen(eq=False, repr=False)
class Layers(Value):
    """The trees read for one request, highest precedence first, and what a composition needs of them.

    What is wrong with a tree is in its documents. `digests` are BLAKE3 (hex) of files that a composition copies, `contents`
    the bytes of those it carries, by physical path; `present` says which paths exist.
    `beside` names what other tools' files are in a project whose tree has no agents, "" where there is nothing to name.
    """

    project_root: str
    trees: tuple[Layer, ...]
    append_prompts: tuple[Document, ...] = ()
    repository: Layer | None = None
    digests: Mapping[str, str] = {}
    contents: Mapping[str, bytes] = {}
    present: Mapping[str, bool] = {}
    notices: tuple[Notice, ...] = ()
    beside: str = ""
