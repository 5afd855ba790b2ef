"""Carrying a plan out, path by path: the table of spec/50, "Materializing, before launch". Effects only through `Projecting`."""

from __future__ import annotations

from collections.abc import Mapping
from errno import EACCES, EDQUOT, EINVAL, EISDIR, ELOOP, ENOSPC, ENOTDIR, ENXIO, EPERM, EROFS

from returns.result import Failure, Success

from outfitter.fingerprint.tree import Folder, concat, reparent
from outfitter.host import Projecting, Terminal
from outfitter.model.errors import EffectFailed, os_error_text
from outfitter.model.outcome import Row, path_bytes
from outfitter.model.projection import Projected, ProjectionPlan, Record, Seed, State
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple
from outfitter.railway import Outcome

# What the durable path itself is the reason for; anything else (a full disk) ends the launch.
_UNREADABLE = (EACCES, EPERM, EISDIR, ENOTDIR, EINVAL, ELOOP, ENXIO)
# What hinders the making of every durable place alike.
_EVERYWHERE = (EACCES, EPERM, EROFS, ENOSPC, EDQUOT)
_WITHOUT = ("discard", "warn", "error", "prompt")


class Made(NamedTuple):
    """What was made so far: rows of the projection, rows of the durable side, what to tell, and whole trees' rows of both sides."""

    rows: list[Row]
    durable: list[Row]
    notices: list[Notice]
    trees: list[tuple[Mapping[bytes, Folder], Mapping[bytes, Folder]]]

    def projected(self, record: Record) -> Projected:
        """The finished projection."""
        rows, durable = (
            concat((one for one, _ in self.trees), self.rows),
            concat((d for _, d in self.trees), self.durable),
        )
        return Projected(record, rows, durable, tuple(self.notices))


def durable_targets(projecting: Projecting, record: Record) -> Outcome[Mapping[str, str]]:
    """The final target of every path that will be a link, made if it is missing: key → absolute path.

    The first place that cannot be had ends the launch, with the settings that would do without it.
    """
    targets: dict[str, str] = {}
    for state in linked_states(record):
        try:
            targets[state.key] = projecting.ensure_durable(state.durable, state.key.endswith("/"), state.create)
        except OSError as error:
            return Failure(_no_place(error, state, record))
    return Success(targets)


def linked_states(record: Record) -> tuple[State, ...]:
    """The declared paths that become links (or, over generated entries, directories of links); none below another such."""
    linked = tuple(state for state in record.states if state.handling == "symlink" and state.durable)
    above = tuple(state.key for state in linked if state.key.endswith("/"))
    return tuple(state for state in linked if not any(state.key != key and state.key.startswith(key) for key in above))


def _no_place(error: OSError, state: State, record: Record) -> EffectFailed:
    place = error.filename if isinstance(error.filename, str) else state.durable
    whole = not place.startswith(state.durable) or error.errno in _EVERYWHERE
    concerned = linked_states(record) if whole else (state,)
    lines = (_line(one) for one in concerned)
    hint = "mend it, or let the run go on without it: state_persistence: {" + ", ".join(filter(None, lines)) + "}"
    return EffectFailed(f"link {state.key} to its durable place", place, os_error_text(error), hint)


def _line(state: State) -> str:
    other = next((strategy for strategy in _WITHOUT if strategy in state.allowed), "")
    return f"{state.key}: {other}" if other else ""


def write_plan(projecting: Projecting, plan: ProjectionPlan, record: Record, made: Made) -> None:
    """The generated files and the copied ones."""
    for item in plan.generated:
        row = projecting.write(f"{record.projection}/{item.path}", item.content, item.executable)
        made.rows.append(_at(row, item.path))
    for copied in plan.copied:
        place = f"{record.projection}/{copied.path}"
        projecting.make_directory(place.rpartition("/")[0])
        made.rows.append(_at(projecting.copy(copied.source, place, copied.executable)[0], copied.path))


def place_states(projecting: Projecting, record: Record, targets: Mapping[str, str], made: Made) -> None:
    """Every declared path by its strategy; what is generated stays as it was written."""
    generated = frozenset(record.generated)
    for state in record.states:
        entries = {path[len(state.key) :].split("/")[0] for path in generated if path.startswith(state.key)}
        if state.key.endswith("/"):
            _place_directory(projecting, record, state, targets, entries, made)
        elif state.key not in generated:
            _place_file(projecting, record, state, targets, made)


def _place_directory(
    projecting: Projecting,
    record: Record,
    state: State,
    targets: Mapping[str, str],
    entries: set[str],
    made: Made,
) -> None:
    path = f"{record.projection}/{state.key.rstrip('/')}"
    if state.key in targets and not entries:
        projecting.link(state.durable, path)
    elif state.key in targets:
        for name in projecting.names(targets[state.key]):
            if name.rstrip("/") not in entries:
                _link_entry(projecting, record, state, name, made)
    elif state.handling == "symlink" or state.scratch:
        return
    else:
        projecting.make_directory(path)
        if state.handling == "prompt" and state.durable:
            _copy_entries(projecting, record, state, entries, made)


def _link_entry(projecting: Projecting, record: Record, state: State, name: str, made: Made) -> None:
    """One native entry beside generated ones."""
    bare = name.rstrip("/")
    projecting.link(f"{state.durable}/{bare}", f"{record.projection}/{state.key}{bare}")
    if bare == name:
        _note_durable(projecting, f"{state.durable}/{bare}", state.key + bare, made)


def _copy_entries(projecting: Projecting, record: Record, state: State, entries: set[str], made: Made) -> None:
    """A private copy of a durable directory (`prompt`), but for what is generated in it."""
    for name in projecting.names(state.durable):
        bare, path = name.rstrip("/"), state.key + name
        if bare in entries:
            continue
        plant_seeds(projecting, None, (Seed(f"{state.durable}/{bare}", path),), record, made)


def _place_file(projecting: Projecting, record: Record, state: State, targets: Mapping[str, str], made: Made) -> None:
    path = f"{record.projection}/{state.key}"
    if state.key in targets:
        projecting.link(state.durable, path)
        _note_durable(projecting, targets[state.key], state.key, made)
    elif state.handling in ("warn", "error", "prompt"):
        copied = bool(state.durable) and _copy_watched(projecting, record, state, made)
        if not copied and state.initial is not None:
            made.rows.append(_at(projecting.write(path, state.initial, False), state.key))


def _copy_watched(projecting: Projecting, record: Record, state: State, made: Made) -> bool:
    """The private copy of a watched file. A durable path that cannot be read as a file is said, and the run goes on without it."""
    try:
        return _copy(projecting, record, state.durable, state.key, made)
    except OSError as error:
        if error.errno not in _UNREADABLE:
            raise
        text = f"{state.durable}: {os_error_text(error)}: {state.key} starts without it"
        made.notices.append(Notice("warning", "not-copied", text))
        return False


def _copy(projecting: Projecting, record: Record, source: str, path: str, made: Made) -> bool:
    """A private copy of a durable file, with its digest on both sides; False where there is none."""
    place = f"{record.projection}/{path}"
    projecting.make_directory(place.rpartition("/")[0])
    try:
        row, seen = projecting.copy(source, place, False)
    except FileNotFoundError:
        return False
    made.rows.append(_at(row, path))
    made.durable.append(Row(path_bytes(path), "f", seen.digest, seen.size, seen.mode, seen.identity))
    return True


def _note_durable(projecting: Projecting, place: str, path: str, made: Made) -> None:
    """The durable file behind a link, as it is now. What is no regular file has no bytes to compare."""
    try:
        seen = projecting.look(place)
    except OSError as error:
        reason = os_error_text(error)
        made.notices.append(Notice("warning", "durable-unreadable", f"{place}: {reason}: its changes cannot be told"))
        return
    if seen is not None:
        made.durable.append(Row(path_bytes(path), "f", seen.digest, seen.size, seen.mode, seen.identity))


def plant_seeds(
    projecting: Projecting, terminal: Terminal | None, seeds: tuple[Seed, ...], record: Record, made: Made
) -> None:
    """Durable state copied in. A seed that fails is a warning, never the end of a launch (006.5.19)."""
    for seed in seeds:
        try:
            if seed.path.endswith("/"):
                _seed_tree(projecting, record, seed, terminal, made)
            else:
                _copy(projecting, record, seed.source, seed.path, made)
        except OSError as error:
            reason = os_error_text(error)
            text = f"{error.filename or seed.source}: {reason}: {seed.path} starts without it"
            made.notices.append(Notice("warning", "not-seeded", text))


def _seed_tree(projecting: Projecting, record: Record, seed: Seed, terminal: Terminal | None, made: Made) -> None:
    place = f"{record.projection}/{seed.path.rstrip('/')}"
    projecting.make_directory(place)
    progress = terminal.progress(f"copying {seed.path}") if terminal else None
    rows, durable, notices = projecting.seed_tree(seed.source, place, progress)
    prefix = path_bytes(seed.path.rstrip("/"))
    made.trees.append((reparent(rows, prefix), reparent(durable, prefix)))
    made.notices.extend(notices)


def _at(row: Row, path: str) -> Row:
    return row._replace(path=path_bytes(path))
