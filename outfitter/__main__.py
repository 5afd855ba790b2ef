"""The installed command, and `python -m outfitter`."""

import gc
import io
import os
import sys

# An option of this process to itself: how its terminal is spoken to.
SPOKEN = "outfitter_spoken"


def entry() -> None:
    """Run one command and leave at once.

    A launch allocates little that could ever be garbage before its harness starts, so collecting while modules load is time
    lost (spec/80, "Start-up"); nothing is left to tear down afterwards, so the interpreter's own farewell is skipped.
    """
    gc.disable()
    in_utf8()
    from outfitter.main import main

    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


def in_utf8() -> None:
    """Go on in UTF-8 mode where the locale names files otherwise, speaking to the terminal as before (spec/95 PYE-01).

    Settings and trees are UTF-8 whatever the locale says; without this a path in them could not be looked up. The restart
    is by options alone, so that the harness inherits the environment as it was.
    """
    spoken = getattr(sys, "_xoptions", {}).get(SPOKEN)
    if spoken:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding=spoken)
    elif sys.getfilesystemencoding() != "utf-8" and sys.executable:
        spoken = sys.stdout.encoding if sys.stdout else "ascii"
        try:
            os.execv(sys.executable, [sys.executable, "-X", "utf8", "-X", f"{SPOKEN}={spoken}", *sys.orig_argv[1:]])
        except OSError:
            return


if __name__ == "__main__":
    entry()
