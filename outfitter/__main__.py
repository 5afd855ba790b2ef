"""The installed command, and `python -m outfitter`."""

import gc
import os
import sys


def entry() -> None:
    """Run one command and leave at once.

    A launch allocates little that could ever be garbage before its harness starts, so collecting while modules load is time
    lost (spec/80, start-up); nothing is left to tear down afterwards, so the interpreter's own farewell is skipped.
    """
    gc.disable()
    from outfitter.main import main

    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


if __name__ == "__main__":
    entry()
