#!/usr/bin/env python3
"""A stand-in for pi, claude or codex (by the name it is started under): records what it was given, then does as it is told.

STANDIN_RECORD names a JSON file that receives argv, environment, working directory and the configuration directory's entries.
STANDIN_SCRIPT names a JSON list of [verb, ...] steps, carried out in the configuration directory; a path that begins with `~/`
is under HOME. Verbs: write PATH TEXT, append PATH TEXT, swap PATH TEXT (rename a new file over it), remove PATH, folder PATH,
pipe PATH, link PATH TARGET, mode PATH OCTAL, fill PATH COUNT BYTES, wait SECONDS, touch-all, run COMMAND, ignore SIGNAL,
say TEXT, die SIGNAL, exit CODE.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

VARIABLES = {"pi": "PI_CODING_AGENT_DIR", "claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
HELP = """usage: stand-in
  --plugin-dir <path>                 a plugin
  --mcp-config <files...>             servers
  --strict-mcp-config                 only those servers
  --system-prompt-file <file>         prompt
  --append-system-prompt-file <file>  more prompt
  --settings <file-or-json>           settings
  --model <m> --effort <level> --tools <t> --disallowedTools <t> --print
"""


def configuration(argv):
    place = os.environ.get(VARIABLES.get(os.path.basename(argv[0]), ""), "")
    if place:
        return place
    return argv[argv.index("--plugin-dir") + 1] if "--plugin-dir" in argv else os.getcwd()


def entries(root):
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            entry: dict[str, object] = {"mode": status.st_mode & 0o7777}
            if os.path.islink(path):
                entry["link"] = os.readlink(path)
            elif os.path.isdir(path):
                entry["folder"] = True
            elif os.path.isfile(path) and status.st_size < 1 << 16:
                with open(path, "rb") as file:
                    entry["text"] = file.read().decode("utf-8", "replace")
            found[os.path.relpath(path, root)] = entry
    return found


def texts(argv):
    found = {}
    for word in argv[1:]:
        if os.path.isfile(word) and os.path.getsize(word) < 1 << 20:
            with open(word, errors="replace") as file:
                found[word] = file.read()
    return found


def put(path, text, how="w"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, how) as file:
        file.write(text)


def swap(path, text):
    put(path + ".swap", text)
    os.rename(path + ".swap", path)


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)


def link(path, target):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def fill(path, count, size):
    for index in range(count):
        put(os.path.join(path, f"n{index:06d}"), "x" * size)


def die(name):
    os.kill(os.getpid(), getattr(signal, name))
    time.sleep(5)


def touch_all(root):
    for folder, _, files in os.walk(root):
        for name in files:
            os.utime(os.path.join(folder, name))


ON_PATHS: dict[str, Callable[..., object]] = {
    "write": put,
    "append": lambda path, text: put(path, text, "a"),
    "swap": swap,
    "remove": remove,
    "folder": lambda path: os.makedirs(path, exist_ok=True),
    "pipe": os.mkfifo,
    "link": link,
    "mode": lambda path, mode: os.chmod(path, int(mode, 8)),
    "fill": fill,
}
PLAIN: dict[str, Callable[..., object]] = {
    "wait": time.sleep,
    "ignore": lambda name: signal.signal(getattr(signal, name), signal.SIG_IGN),
    "say": lambda text: print(text, flush=True),
    "die": die,
    "exit": sys.exit,
}


def step(root, verb, rest):
    if verb in ON_PATHS:
        path, *more = rest
        ON_PATHS[verb](os.path.expanduser(path) if path.startswith("~/") else os.path.join(root, path), *more)
    elif verb == "run":
        subprocess.run(rest[0], shell=True, cwd=root, check=False)
    elif verb == "touch-all":
        touch_all(root)
    else:
        PLAIN[verb](*rest)


def main():
    argv = sys.argv
    if "--help" in argv[1:]:
        print(HELP)
        return
    if "--version" in argv[1:]:
        print("9.9.9 (stand-in)")
        return
    root = configuration(argv)
    record = os.environ.get("STANDIN_RECORD")
    if record:
        seen = {
            "argv": argv,
            "env": dict(os.environ),
            "cwd": os.getcwd(),
            "root": root,
            "entries": entries(root),
            "texts": texts(argv),
        }
        with open(f"{record}.{os.getpid()}.new", "w") as file:
            json.dump(seen, file)
        os.rename(f"{record}.{os.getpid()}.new", record)
    script = os.environ.get("STANDIN_SCRIPT")
    if script:
        with open(script) as file:
            for verb, *rest in json.load(file):
                step(root, verb, rest)


main()
