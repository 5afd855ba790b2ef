"""What a user sees of one command: exit code, stdout and stderr together, with the codes of what was said; places and times filtered."""

import json
import os
import re
import subprocess
import sys
import time

import pexpect

# Runs the real command, and notes the code of each notice and the kind of each error at the moment it is written.
DRIVER = """
import json, os, sys
from outfitter.edges.console import Console
from outfitter.model.errors import kind
codes = []
say, error = Console.say, Console.error
def saying(self, notice):
    codes.append(notice.code)
    return say(self, notice)
def erring(self, wrong, *more):
    codes.append(kind(wrong))
    return error(self, wrong, *more)
Console.say, Console.error = saying, erring
from outfitter.main import main
if sys.argv[1:2] == ["validate"]:
    from outfitter.cli import validate
    line = validate._line
    def finding(one):
        codes.append(one.code)
        return line(one)
    validate._line = finding
code = main(sys.argv[1:])
sys.stdout.flush()
with open(os.environ["SPOKEN"], "w") as file:
    json.dump(codes, file)
os._exit(code)
"""
FILTERS = (
    (re.compile(r"(outfitter-[\w.-]+-(?:pi|claude|codex)-)[\w]{8}\b"), r"\1XXXXXXXX"),
    (re.compile(r"(outfitter-demo-)\w+"), r"\1XXXXXXXX"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "<commit>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r" +[\d.]+ ms\b"), " N ms"),
    (re.compile(r"\b\d+ s\b"), "N s"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?"), "<time>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"(choose from )([^)]*)"), lambda found: found[1] + found[2].replace("'", "")),
    (re.compile(r"Python \d+\.\d+\.\d+\S*, \w+ \w+"), "Python 3.x, System machine"),
    (re.compile(r"\b\d{8}T\d{6}-\w{8}\b"), "<attempt>"),
    (re.compile(r"(?<=cache, )\d+ bytes|(?<=files, )\d+ bytes(?=, from)|(?<=file, )\d+ bytes(?=, from)"), "N bytes"),
    (re.compile(r'"seconds": [\d.]+'), '"seconds": 0'),
)


def filtered(machine, text):
    """Without what differs from one run, machine or Python to the next."""
    top = str(machine.top)
    text = text.replace(top, "/M").replace(sys.executable, "/python").replace("\r\n", "\n")
    for folder in (top.replace("/", "-"), re.sub(r"[^A-Za-z0-9]", "-", top)):
        text = text.replace(folder, "-M")
    for pattern, put in FILTERS:
        text = pattern.sub(put, text)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def told(machine, *words, script=(), cwd=None, env=None, user=None):
    """One command without a terminal."""
    spoken = machine.top / "spoken.json"
    ended = subprocess.run(
        [sys.executable, "-c", DRIVER, *words],
        cwd=cwd or machine.project,
        env=machine.env(script, **{"SPOKEN": str(spoken), "COLUMNS": "80", **(env or {})}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
        user=user,
    )
    out, err = ended.stdout.decode(errors="surrogateescape"), ended.stderr.decode(errors="surrogateescape")
    return shown(machine, ended.returncode, out, err, spoken)


def told_on_terminal(machine, *words, answers=(), script=(), env=None):
    """One command on a terminal, each answer typed when its question stands there; what the screen showed is its stdout."""
    spoken = machine.top / "spoken.json"
    child = pexpect.spawn(
        sys.executable,
        ["-c", DRIVER, *words],
        cwd=str(machine.project),
        env=machine.env(script, **{"SPOKEN": str(spoken), "TERM": "dumb", **(env or {})}),
        encoding="utf-8",
        timeout=30,
        dimensions=(40, 400),
    )
    seen = ""
    for question, answer in answers:
        child.expect_exact(question)
        seen += child.before + child.after
        child.send(answer)
    child.expect(pexpect.EOF)
    seen += child.before
    child.close()
    return shown(machine, child.exitstatus, seen, "", spoken)


def as_told(machine, notices):
    """Notices that no command can be brought to say at will, as the console writes them."""
    made = "import sys\nfrom outfitter.edges.console import console\nfrom outfitter.model.request import Notice\n"
    made += f"for row in {[tuple(notice) for notice in notices]!r}: console({{}}).say(Notice(*row))\n"
    ended = subprocess.run([sys.executable, "-c", made], capture_output=True, check=True, env=machine.env())
    spoken = machine.top / "spoken.json"
    spoken.write_text(json.dumps([notice.code for notice in notices]))
    return shown(machine, None, "", ended.stderr.decode(), spoken)


def shown(machine, code, out, err, spoken):
    """The transcript of one command."""
    parts = [] if code is None else [f"exit {code}"]
    parts += [filtered(machine, out)] if out else []
    parts += ["--- stderr", filtered(machine, err)] if err else []
    said = json.loads(spoken.read_text()) if spoken.exists() else []
    codes = sorted({*said, *re.findall(r'"code": "([a-z0-9-]+)"', out)})
    spoken.unlink(missing_ok=True)
    return "\n".join([*parts, *(["--- codes: " + " ".join(codes)] if codes else [])]) + "\n"


def wait_until(ready, seconds=20):
    """Wait for a state of the machine."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def as_nobody(path):
    """Everything below a path belongs to the user 65534, and stays readable for this one."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), 65534, 65534, follow_symlinks=False)
    os.chown(path, 65534, 65534)
