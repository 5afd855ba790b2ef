"""What a launch would run or send that the home did not write, and who allowed it."""

from __future__ import annotations

from typing import Literal

from blake3 import blake3

from outfitter.model.value import NamedTuple

ExposureKind = Literal[
    "harness", "environment", "arguments", "server", "provider", "extension", "overlay", "settings", "permissions",
    "skill", "command", "jobs",
]  # fmt: skip


class ExposureRow(NamedTuple):
    """One thing that runs or sends by itself (`asks`), or may run if the model asks for it.

    `path` and `line` say where it was written, `what` what it is in one line, `digest` (BLAKE3, hex) covers its content and that
    of the project's files it names. `root` is the physical directory that must be trusted for it.
    """

    kind: ExposureKind
    layer: str
    path: str
    line: int
    what: str
    digest: str
    root: str
    asks: bool = True


class NativePlace(NamedTuple):
    """A native file of a project that a harness reads by itself, or a folder whose files count as one.

    `form` is `claude-settings`, `servers`, `file` or `folder`; `root` is the directory that must be trusted for it.
    """

    path: str
    form: str
    root: str


class Exposure(NamedTuple):
    """Every row of a launch, sorted, and whose they are.

    `place` is the physical root of the project; `key` names its grant; `remote` is the address it was cloned from, "" if unknown.
    """

    rows: tuple[ExposureRow, ...] = ()
    place: str = ""
    key: str = ""
    remote: str = ""

    @property
    def asking(self) -> tuple[ExposureRow, ...]:
        """The rows that run or send by themselves."""
        return tuple(row for row in self.rows if row.asks)

    @property
    def digest(self) -> str:
        """One digest (BLAKE3, hex) of all rows that run or send by themselves, "" for none."""
        rows = sorted({row.digest for row in self.asking})
        return blake3("\n".join(rows).encode()).hexdigest() if rows else ""


TrustState = Literal["nothing", "granted", "path", "digest", "without", "pending"]


class Grant(NamedTuple):
    """What one project was granted.

    `place` is its physical path, `remote` where it was cloned from; `rows` are (digest, kind, what, time) of each row.
    """

    place: str
    remote: str
    rows: tuple[tuple[str, str, str, str], ...]

    @property
    def digests(self) -> frozenset[str]:
        """The digests of the granted rows."""
        return frozenset(row[0] for row in self.rows)


class Verdict(NamedTuple):
    """Who allowed the rows of a launch.

    `nothing`: there are none. `granted`: by a grant; `path`: by a trusted path, or by one and a grant; `digest`: by `--trust`.
    `without`: the launch goes on without them. `pending`: nobody yet; `pending` rows are those to ask about.
    """

    state: TrustState = "nothing"
    exposure: Exposure = Exposure()
    pending: tuple[ExposureRow, ...] = ()
