"""Make the terminal pictures of the README: runs the real commands in a throw-away machine and draws what they print.

    .venv/bin/python docs/pictures.py

Writes docs/demo.svg. Needs nothing but the installed package.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
WIDTH = 100


def printed(command: list[str], home: str) -> str:
    """What a command prints, in colour, on a machine of its own."""
    env = {
        "HOME": home,
        "PATH": "/usr/bin:/bin",
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "COLUMNS": str(WIDTH),
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
    }
    ended = subprocess.run(
        command, env=env, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=True
    )
    return ended.stdout.decode().replace(home, "~")


def draw(title: str, shown: str, text: str, target: Path) -> None:
    """An SVG of a terminal that shows a prompt, the command, and its output."""
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text(f"$ {shown}", style="bold"))
    console.print(Text.from_ansi(text))
    console.save_svg(str(target), title=title)


def main() -> None:
    """Draw every picture."""
    with tempfile.TemporaryDirectory() as made:
        home = os.path.realpath(made)
        text = printed([sys.executable, "-m", "outfitter", "--color", "always", "demo"], home)
        draw("outfitter demo", "outfitter demo", text, HERE / "demo.svg")


if __name__ == "__main__":
    main()
