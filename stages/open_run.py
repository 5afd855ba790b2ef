"""Open a run.

Reads: `Prepared`.
Adds: `OpenRun`.
Effects: makes the run directory, takes its lock, writes its journal.
"""

from __future__ import annotations

from attrs import evolve
from returns.result import Success

from outfitter.host import OpenRun, Runs
from outfitter.model.projection import Prepared
from outfitter.railway import Effect, Outcome, attempt
from outfitter.run.record import record_of


def open_run(runs: Runs, prepared: Prepared) -> Effect[OpenRun]:
    """The run directory, made and locked, with its journal written in phase `preparing`.

    A first journal, without an inode, is written before the directory is made, so that a launcher killed between the two leaves
    nothing that recovery does not know of. That it cannot be written is said once, with the baseline. Errors: `EffectFailed`, naming the temporary directory where that is what is wrong.
    """

    def occupy() -> Outcome[OpenRun]:
        root = prepared.site.root
        intent = record_of(prepared, root, 0, 0)
        runs.journal(intent)
        try:
            token, device, inode = runs.open(root)
        except OSError:
            runs.forget(intent.run_id)
            raise
        record = evolve(intent, device=device, inode=inode)
        try:
            runs.journal(record)
        except OSError:
            runs.remove(root, device, inode)
            runs.forget(record.run_id)
            runs.close(token)
            raise
        return Success(OpenRun(record, token))

    return attempt("make the run directory", occupy)
