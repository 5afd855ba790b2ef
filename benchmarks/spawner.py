"""Start what is timed from a small process: a child's peak memory includes its parent's at the start.

A script of its own (`python -I -S spawner.py`): one JSON request per line on stdin, {"command", "env", "cwd", "out", "err"}, and
one JSON answer per line on stdout, {"started_ns", "wall", "cpu", "peak", "code"}; times in seconds, memory in the system's unit.
"""

import json
import os
import sys
import time


def serve() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        os.chdir(request["cwd"])
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, request["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        started_ns, started = time.time_ns(), time.perf_counter()
        child = os.posix_spawnp(request["command"][0], request["command"], request["env"], file_actions=actions)
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
