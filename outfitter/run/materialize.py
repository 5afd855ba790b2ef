"""Carry out a projection plan through `Projecting`, path by path (spec/50, "Materializing")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from errno import EACCES, EDQUOT, EINVAL, EISDIR, ELOOP, ENOSPC, ENOTDIR, ENXIO, EPERM, EROFS

from returns.result import Failure, Success

from outfitter.fingerprint.tree import Folder, concat, reparent
from outfitter.host import DurableState, Projecting, Terminal
from outfitter.model.errors import EffectFailed, os_error_text
from outfitter.model.outcome import Row, path_bytes
from outfitter.model.projection import Projected, ProjectionPlan, Record, Seed, State
from outfitter.model.request import Notice
from outfitter.railway import Outcome

# Errors that the durable path itself is the reason for; any other one (a full disk) ends the launch.
_UNREADABLE = (EACCES, EPERM, EISDIR, ENOTDIR, EINVAL, ELOOP, ENXIO)
# Errors that concern every durable place alike.
_EVERYWHERE = (EACCES, EPERM, EROFS, ENOSPC, EDQUOT)
_WITHOUT = ("discard", "warn", "error", "prompt")


def durable_targets(projecting: Projecting, record: Record) -> Outcome[Mapping[str, str]]:
    """Return the final target (absolute path) of every key that will be a symlink, created if missing.

    Error: `EffectFailed` for the first one that cannot be had, with the settings that would do without it.
    """
    targets: dict[str, str] = {}
    for state in linked_states(record):
        try:
            targets[state.key] = projecting.ensure_durable(state.durable, state.key.endswith("/"), state.create)
        except OSError as error:
            return Failure(_no_target(error, state, record))
    return Success(targets)


def linked_states(record: Record) -> tuple[State, ...]:
    """Return the declared paths that become links (or directories of links); none lies below another one."""
    linked = tuple(state for state in record.states if state.handling == "symlink" and state.durable)
    above = tuple(state.key for state in linked if state.key.endswith("/"))
    return tuple(state for state in linked if not any(state.key != key and state.key.startswith(key) for key in above))


def _no_target(error: OSError, state: State, record: Record) -> EffectFailed:
    path = error.filename if isinstance(error.filename, str) else state.durable
    concerns_all = not path.startswith(state.durable) or error.errno in _EVERYWHERE
    lines = map(_setting_without, linked_states(record) if concerns_all else (state,))
    hint = "fix it, or run without it: state_persistence: {" + ", ".join(filter(None, lines)) + "}"
    return EffectFailed(f"link {state.key} to its durable place", path, os_error_text(error), hint)


def _setting_without(state: State) -> str:
    other = next((strategy for strategy in _WITHOUT if strategy in state.allowed), "")
    return f"{state.key}: {other}" if other else ""


class ProjectionBuilder:
    """Fills one projection, and collects the rows of what it wrote and of the durable files behind that."""

    def __init__(self, projecting: Projecting, record: Record, terminal: Terminal | None = None) -> None:
        """`terminal` shows how far the seeding of whole trees is; None shows nothing."""
        self._projecting = projecting
        self._record = record
        self._terminal = terminal
        self._rows: list[Row] = []
        self._durable: list[Row] = []
        self._notices: list[Notice] = []
        # The rows of both sides of whole trees, packed: there may be a hundred thousand.
        self._trees: list[tuple[Mapping[bytes, Folder], Mapping[bytes, Folder]]] = []

    def projected(self) -> Projected:
        """Return the finished projection."""
        rows = concat((rows for rows, _ in self._trees), self._rows)
        durable = concat((durable for _, durable in self._trees), self._durable)
        return Projected(self._record, rows, durable, tuple(self._notices))

    def write_plan(self, plan: ProjectionPlan) -> None:
        """Write the generated files and the copied ones. Raises `OSError`."""
        for item in plan.generated:
            row = self._projecting.write(self._path(item.path), item.content, item.executable)
            self._add(row, item.path)
        for copied in plan.copied:
            path = self._path(copied.path)
            self._projecting.make_directory(path.rpartition("/")[0])
            self._add(self._projecting.copy(copied.source, path, copied.executable)[0], copied.path)

    def notice_scripts(self, plan: ProjectionPlan) -> None:
        """Warn where the temporary directory runs no programs; the harness only says "permission denied"."""
        scripts = [item.path for item in plan.generated if item.executable]
        scripts += [item.path for item in plan.copied if item.executable]
        if not scripts or self._projecting.can_execute(self._path(scripts[0])):
            return
        from outfitter.model.wording import listed

        text = f"the temporary directory is mounted noexec: these scripts cannot run: {listed(scripts, 3)}"
        hint = "set TMPDIR to a directory where programs can run"
        self._notices.append(Notice("warning", "temporary-directory-noexec", text, hint))

    def place_states(self, targets: Mapping[str, str]) -> None:
        """Place every declared path by its strategy; generated ones stay. Raises `OSError`."""
        generated = frozenset(self._record.generated)
        for state in self._record.states:
            entries = {path[len(state.key) :].split("/")[0] for path in generated if path.startswith(state.key)}
            if state.key.endswith("/"):
                self._place_directory(state, targets, entries)
            elif state.key not in generated:
                self._place_file(state, targets)

    def plant_seeds(self, seeds: Iterable[Seed]) -> None:
        """Copy durable state in. A seed that fails is a warning, never the end of a launch (006.5.19)."""
        for seed in seeds:
            try:
                if seed.path.endswith("/"):
                    self._seed_tree(seed)
                else:
                    self._copy(seed.source, seed.path)
            except OSError as error:
                text = f"{error.filename or seed.source}: {os_error_text(error)}: {seed.path} starts without it"
                self._notices.append(Notice("warning", "not-seeded", text))

    def _place_directory(self, state: State, targets: Mapping[str, str], entries: set[str]) -> None:
        path = self._path(state.key.rstrip("/"))
        if state.key in targets and not entries:
            self._projecting.link(state.durable, path)
        elif state.key in targets:
            for name in self._projecting.names(targets[state.key]):
                if name.rstrip("/") not in entries:
                    self._link_entry(state, name)
        elif state.handling == "symlink" or state.scratch:
            return
        else:
            self._projecting.make_directory(path)
            if state.handling == "prompt" and state.durable:
                self._copy_entries(state, entries)

    def _link_entry(self, state: State, name: str) -> None:
        """Link one native entry next to generated ones."""
        bare = name.rstrip("/")
        self._projecting.link(f"{state.durable}/{bare}", self._path(state.key + bare))
        if bare == name:
            self._note_durable(f"{state.durable}/{bare}", state.key + bare)

    def _copy_entries(self, state: State, entries: set[str]) -> None:
        """Make a private copy of a durable directory (`prompt`), without the names that are generated in it."""
        for name in self._projecting.names(state.durable):
            bare = name.rstrip("/")
            if bare not in entries:
                self.plant_seeds((Seed(f"{state.durable}/{bare}", state.key + name),))

    def _place_file(self, state: State, targets: Mapping[str, str]) -> None:
        path = self._path(state.key)
        if state.key in targets:
            self._projecting.link(state.durable, path)
            self._note_durable(targets[state.key], state.key)
        elif state.handling in ("warn", "error", "prompt"):
            copied = bool(state.durable) and self._copy_watched(state)
            if not copied and state.initial is not None:
                self._add(self._projecting.write(path, state.initial, False), state.key)

    def _copy_watched(self, state: State) -> bool:
        """Copy a watched file; one that cannot be read as a file is a warning, and the run starts without it."""
        try:
            return self._copy(state.durable, state.key)
        except OSError as error:
            if error.errno not in _UNREADABLE:
                raise
            text = f"{state.durable}: {os_error_text(error)}: {state.key} starts without it"
            self._notices.append(Notice("warning", "not-copied", text))
            return False

    def _copy(self, source: str, path: str) -> bool:
        """Make a private copy of a durable file, with its digest on both sides; False if there is none."""
        target = self._path(path)
        self._projecting.make_directory(target.rpartition("/")[0])
        try:
            row, seen = self._projecting.copy(source, target, False)
        except FileNotFoundError:
            return False
        self._add(row, path)
        self._add_durable(seen, path)
        return True

    def _note_durable(self, target: str, path: str) -> None:
        """Note the durable file behind a link as it is now; only a regular file has bytes to compare."""
        try:
            seen = self._projecting.look(target)
        except OSError as error:
            text = f"{target}: {os_error_text(error)}: its changes cannot be told"
            self._notices.append(Notice("warning", "durable-unreadable", text))
            return
        if seen is not None:
            self._add_durable(seen, path)

    def _seed_tree(self, seed: Seed) -> None:
        target = self._path(seed.path.rstrip("/"))
        self._projecting.make_directory(target)
        progress = self._terminal.progress(f"copying {seed.path}") if self._terminal else None
        rows, durable, notices = self._projecting.seed_tree(seed.source, target, progress)
        prefix = path_bytes(seed.path.rstrip("/"))
        self._trees.append((reparent(rows, prefix), reparent(durable, prefix)))
        self._notices.extend(notices)

    def _path(self, relative: str) -> str:
        return f"{self._record.projection}/{relative}"

    def _add(self, row: Row, path: str) -> None:
        self._rows.append(row._replace(path=path_bytes(path)))

    def _add_durable(self, seen: DurableState, path: str) -> None:
        self._durable.append(Row(path_bytes(path), "f", seen.digest, seen.size, seen.mode, seen.identity))
