"""Native Pi overlays in a dump: one tree holds what several layers held (spec/30, spec/40). Pure."""

from __future__ import annotations

import json

from outfitter.catalog.dump_writer import Writer
from outfitter.catalog.native import OverlayFile, is_pi_state


def overlays(writer: Writer, files: tuple[OverlayFile, ...]) -> dict[str, list[str]]:
    """Write each agent's overlay under its own name; gives, by agent, the parents that it must get.

    Files that are merged rather than replaced may stand in several layers of one agent. A tree can hold one of them, so that
    each lower level becomes an abstract parent, in order.
    """
    by_path: dict[str, list[OverlayFile]] = {}
    for file in files:
        if not is_pi_state(file.path):
            by_path.setdefault(file.entry.path, []).append(file)
    parents: dict[str, list[str]] = {}
    for path, several in by_path.items():
        owner = path.split("/")[1]
        _write(writer, path, several[-1])
        for number, file in enumerate(several[:-1], 1):
            name = f"{owner}-below-{number}"
            if name not in parents.setdefault(owner, []):
                parents[owner].append(name)
                writer.write(
                    f"agents/{name}/agent.md", f"---\nname: {json.dumps(name)}\nabstract: true\n---\n".encode()
                )
            _write(writer, f"agents/{name}/pi/{file.path}", file)
    return {owner: sorted(names, key=_number) for owner, names in parents.items()}


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


def _write(writer: Writer, path: str, file: OverlayFile) -> None:
    writer.write(path, writer.demand.content(file.entry.target), file.entry.executable)
