"""Run the scripted model server; the first line of output is its address."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from typing import Any

from outfitter.demo.modelserver.conversation import ScriptError
from outfitter.demo.modelserver.server import FIXED, ModelServer


def main(arguments: list[str] | None = None) -> int:
    """Serve until TERM, INT, or with `--until-eof` the end of stdin.

    Exit codes: 0, 1 for a bad script or port, 2 for usage.
    """
    parser = argparse.ArgumentParser(
        prog="python -m outfitter.demo.modelserver", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--script", metavar="FILE", help="JSON list of steps (see outfitter.demo.modelserver.conversation)"
    )
    parser.add_argument("--text", default=FIXED, help="what to answer outside the script")
    parser.add_argument("--token", default="", help="refuse requests without a credential; note whether it is this one")
    parser.add_argument("--log", default="", metavar="FILE", help="append every request to this JSONL file")
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 (default: a free one)")
    parser.add_argument("--until-eof", action="store_true", help="stop when stdin ends")
    options = parser.parse_args(arguments)
    try:
        script = _script(options.script) if options.script else []
        server = ModelServer(script, fixed=options.text, token=options.token, log=options.log, port=options.port)
    except (OSError, OverflowError, ScriptError, ValueError) as error:
        sys.stderr.write(f"outfitter: error: {error}\n")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with server:
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        try:
            if options.until_eof:
                sys.stdin.read()
            else:
                signal.pause()
        except KeyboardInterrupt:
            pass
    return 0


def _script(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


if __name__ == "__main__":
    sys.exit(main())
