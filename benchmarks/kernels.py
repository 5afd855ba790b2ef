"""Single steps of a launch as processes, to be timed beside other programs.

Run `python -m benchmarks.kernels STEP …`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from outfitter.fingerprint.scan import scan
from outfitter.model.errors import LaunchError
from outfitter.model.outcome import Settlement


def seed(source: str, target: str) -> None:
    """Copy and digest a session tree; print the number of files."""
    from outfitter.run.seeding import seed_tree

    _, durable, notices = seed_tree(source, target, None)
    print(len(durable), len(notices))


def prepare(home: str, root: str, slug: str) -> None:
    """Make an isolated Claude Code run directory at `root` as it is when the harness starts.

    Its record is written to `root.record`.
    """
    from outfitter.fingerprint.scan import save_baseline
    from outfitter.model.outcome import Tree
    from outfitter.model.projection import Bridge, Record, State
    from outfitter.run.record import encode
    from outfitter.run.seeding import seed_tree

    started = time.time_ns()
    durable = f"{home}/.claude/projects"
    os.makedirs(f"{root}/projection/projects", 0o700)
    rows, sources, _ = seed_tree(f"{durable}/{slug}", f"{root}/projection/projects/{slug}", None)
    prefix = f"projects/{slug}/".encode()
    tree: Tree = scan(f"{root}/projection", [row._replace(path=prefix + row.path) for row in rows], 0, True)
    state = State("projects/", "bridge", durable, "default", "", "default", ())
    record = Record(
        run_id="bench",
        agent="a",
        harness="claude",
        root=root,
        device=0,
        inode=0,
        uid=os.getuid(),
        started_ns=started,
        plan_digest="",
        strict=False,
        retained=False,
        project_root=home,
        home=home,
        native=f"{home}/.claude",
        cache=f"{home}/cache",
        states=(state,),
        unknown="warn",
        bridges=(Bridge("sessions", "projects/", durable),),
        generated=(),
        phase="started",
        baseline_digest=tree.digest.hex(),
    )
    save_baseline(f"{root}/baseline", tree, tuple([row._replace(path=prefix + row.path) for row in sources]))
    with open(f"{root}.record", "wb") as file:
        file.write(encode(record))


def merge(root: str) -> None:
    """Do what follows a harness's end: compare, classify, copy back.

    Prints the number of changes and whether all could be saved.
    """
    from outfitter.edges.console import console
    from outfitter.edges.environment import ambient
    from outfitter.edges.real import real_host
    from outfitter.fingerprint.scan import load_baseline
    from outfitter.model.outcome import Snapshot
    from outfitter.pipeline_after import settle
    from outfitter.railway import fold, perform
    from outfitter.run.record import decode

    with open(f"{root}.record", "rb") as file:
        record = decode(file.read()).unwrap()
    host = real_host(ambient(os.environ), console(os.environ))
    tree, durable = load_baseline(f"{root}/baseline")
    settlement: Settlement = fold(
        perform(settle(host, None, Snapshot(tree, durable), record)), lambda value: value, _raise
    )
    print(len(settlement.changes), settlement.saved)


def _raise(error: LaunchError) -> Settlement:
    raise RuntimeError(error)


STEPS: dict[str, Callable[..., None]] = {"seed": seed, "prepare": prepare, "merge": merge}

if __name__ == "__main__":
    STEPS[sys.argv[1]](*sys.argv[2:])
