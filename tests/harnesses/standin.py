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
            entry = {"mode": status.st_mode & 0o7777}
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


def step(root, verb, rest):
    at = (
        os.path.expanduser(rest[0])
        if rest and str(rest[0]).startswith("~/")
        else os.path.join(root, str(rest[0] if rest else ""))
    )
    if verb == "write":
        put(at, rest[1])
    elif verb == "append":
        put(at, rest[1], "a")
    elif verb == "swap":
        put(at + ".swap", rest[1])
        os.rename(at + ".swap", at)
    elif verb == "remove":
        shutil.rmtree(at) if os.path.isdir(at) and not os.path.islink(at) else os.unlink(at)
    elif verb == "folder":
        os.makedirs(at, exist_ok=True)
    elif verb == "pipe":
        os.mkfifo(at)
    elif verb == "link":
        os.makedirs(os.path.dirname(at), exist_ok=True)
        os.symlink(rest[1], at)
    elif verb == "mode":
        os.chmod(at, int(rest[1], 8))
    elif verb == "fill":
        for index in range(rest[1]):
            put(os.path.join(at, f"n{index:06d}"), "x" * rest[2])
    elif verb == "wait":
        time.sleep(rest[0])
    elif verb == "touch-all":
        for folder, _, files in os.walk(root):
            for name in files:
                os.utime(os.path.join(folder, name))
    elif verb == "run":
        subprocess.run(rest[0], shell=True, cwd=root, check=False)
    elif verb == "ignore":
        signal.signal(getattr(signal, rest[0]), signal.SIG_IGN)
    elif verb == "say":
        print(rest[0], flush=True)
    elif verb == "die":
        os.kill(os.getpid(), getattr(signal, rest[0]))
        time.sleep(5)
    elif verb == "exit":
        sys.exit(rest[0])
    else:
        sys.exit(f"stand-in: no such verb: {verb}")


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
        with open(record + ".new", "w") as file:
            json.dump(seen, file)
        os.rename(record + ".new", record)
    script = os.environ.get("STANDIN_SCRIPT")
    if script:
        with open(script) as file:
            for verb, *rest in json.load(file):
                step(root, verb, rest)


main()
