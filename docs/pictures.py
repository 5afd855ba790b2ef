"""Make the terminal pictures of the README: runs the real commands in a throw-away machine and draws what they print.

    .venv/bin/python docs/pictures.py

Writes docs/demo.svg and docs/diff.svg. Needs nothing but the installed package; a harness that is installed plays, else the
stand-in. Names that differ from run to run are made alike, so that a picture changes only where the output does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
WIDTH = 112
# A reader's own fonts: a picture that fetches others shows nothing where that is forbidden.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "Fira Code", "ui-monospace"
)
ALIKE = (
    (re.compile(r"outfitter-demo-\w{8}"), "outfitter-demo"),
    (re.compile(r"(outfitter-guide-pi-)\w{8}"), r"\g<1>k3v9x2ab"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:8080"),
    (re.compile(r"--[\w-]*outfitter-demo-project--"), "--project--"),
)


def printed(words: list[str], home: str, temporary: str, project: str) -> str:
    """What a command prints, in colour, on a machine of its own."""
    env = {
        "HOME": home,
        "PATH": "/usr/bin:/bin",
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "COLUMNS": str(WIDTH),
        "TERM": "xterm-256color",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "outfitter", *words],
        env=env,
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=True,
    )
    return ended.stdout.decode()


def alike(text: str, home: str) -> str:
    """Without what is different each time."""
    for pattern, put in ALIKE:
        text = pattern.sub(put, text)
    return text.replace(home, "~")


def draw(shown: str, text: str, target: Path) -> None:
    """An SVG of a terminal that shows a prompt, the command, and its output."""
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text(f"$ {shown}", style="bold"))
    console.print(Text.from_ansi(text))
    console.save_svg(str(target), title=shown, code_format=FORMAT, unique_id=target.stem)


def main() -> None:
    """Draw every picture."""
    with tempfile.TemporaryDirectory() as made:
        home = os.path.realpath(made)
        text = printed(["--color", "always", "demo"], home, home, home)
        draw("outfitter demo", alike(text, home), HERE / "demo.svg")
        kept = json.loads(printed(["demo", "--keep", "--json"], home, home, home))["kept"]
        try:
            there = (f"{kept}/home", f"{kept}/tmp", f"{kept}/project")
            text = printed(["--color", "always", "diff", "--all", "--content"], *there)
        finally:
            shutil.rmtree(kept)
        draw("outfitter diff --all --content", alike(text, f"{kept}/home"), HERE / "diff.svg")


if __name__ == "__main__":
    main()
