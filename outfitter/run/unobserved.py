"""What a harness could write without anybody looking: unobserved, not unchanged (spec/50). Pure."""

from __future__ import annotations

from outfitter.model.projection import Record
from outfitter.run.materialize import linked_states

# Stands for the harness's whole own directory in the evidence of a run that declares no state path.
EVERYTHING = "*"


def unobserved(record: Record) -> tuple[str, ...]:
    """Return the keys of the state paths that nobody looks into, in the order of their declaration.

    `("*",)` means that the harness wrote in its own directory, of which nothing is observed: Codex, and Claude Code in an
    inherited run. Else they are the directories that are links to the user's own.
    """
    if not record.states:
        return (EVERYTHING,)
    return tuple(state.key for state in linked_states(record) if state.key.endswith("/"))
