"""Starts what is timed from a small process: a child's peak memory counts what its parent held when it was started.

Run as a script of its own (`python -I -S spawner.py`): one JSON request a line on stdin, {"command", "env", "cwd", "out", "err"},
one JSON answer a line on stdout, {"started_ns", "wall", "cpu", "peak", "code"}; times in seconds, memory in the system's own unit.
"""

import json
import os
import sys
import time


def serve() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        os.chdir(asked["cwd"])
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, asked["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        started_ns, started = time.time_ns(), time.perf_counter()
        child = os.posix_spawnp(asked["command"][0], asked["command"], asked["env"], file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        answer = {
            "started_ns": started_ns,
            "wall": time.perf_counter() - started,
            "cpu": usage.ru_utime + usage.ru_stime,
            "peak": usage.ru_maxrss,
            "code": os.waitstatus_to_exitcode(status),
        }
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
