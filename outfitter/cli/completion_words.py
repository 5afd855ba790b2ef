"""What shell completion asks while a user types: agent ids and retained runs, one a line, silent where there is nothing to read."""

from __future__ import annotations

from outfitter.catalog.demand import Demand
from outfitter.catalog.inventory import rows
from outfitter.cli.context import Context
from outfitter.cli.reading import tree
from outfitter.railway import fold


def completion_words(kind: str, context: Context) -> list[str]:
    """The words of a kind (`agents`, `runs`), sorted; none for any other."""
    if kind == "agents":
        return fold(
            tree(context, None, "names"),
            lambda read: sorted(row.id for row in rows(Demand(read[0]), read[1], "agents")),
            lambda _: [],
        )
    if kind == "runs":
        held = context.host().runs.journals()
        return sorted(row.record.root for row in held if row.record is not None and row.record.phase == "retained")
    return []
