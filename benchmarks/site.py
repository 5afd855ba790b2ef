"""A throw-away place for benchmarks: a home, a project with one agent, stand-in harnesses, and trees that are made once."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable

from benchmarks import trees
from benchmarks.measure import clean_env

IDLE = "#!/bin/sh\nexit 0\n"
KILLER = (
    '#!/bin/sh\n[ "$1" = --help ] && exit 0\necho x >> "$CLAUDE_CONFIG_DIR/projects/$SLUG/new.jsonl"\nkill -9 $PPID\n'
)


class Site:
    """Everything lies below one directory, which `close` removes."""

    def __init__(self, top: str | None) -> None:
        """`top` is where to make it: the file system that is measured."""
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="outfitter-bench-", dir=top))
        self.home, self.project, self.bin, self.tmp = (self.path(n) for n in ("home", "project", "bin", "tmp"))
        for place in (self.home, self.project + "/.git", self.bin, self.tmp):
            os.makedirs(place)
        self.write("project/.agents/agents/a/agent.md", "---\nname: a\n---\n\nYou are A.\n")
        self.write("project/.agents/settings.yml", "default_agent: a\n")
        for name in ("pi", "claude"):
            self.harness(IDLE, name)
        self.env = clean_env(self.home, PATH=f"{self.bin}:{os.environ.get('PATH', '')}", TMPDIR=self.tmp)
        self._made: dict[str, str] = {}

    def path(self, name: str) -> str:
        """A place below the top."""
        return os.path.join(self.top, name)

    def write(self, name: str, text: str, mode: int = 0o644) -> str:
        """A small file."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def harness(self, script: str, name: str = "claude", place: str = "bin") -> None:
        """What a launch will start, if `place` is on its search path. A new file is asked for its help once more."""
        self.write(f"{place}/{name}", script, 0o755)

    @property
    def slug(self) -> str:
        """The name of the project's folder of sessions."""
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in self.project)

    def tree(self, tier: str, say: Callable[[str], None]) -> str:
        """The tree of a tier, made on first use: a `projects/` directory with the launch directory's folder in it."""
        if tier not in self._made:
            say(f"making {tier}")
            root = self.path(f"trees/{tier}")
            trees.make(root, tier, self.slug)
            self._made[tier] = root
        return self._made[tier]

    def durable(self, tier: str, say: Callable[[str], None]) -> str:
        """The same tree, moved to be the home's own history of sessions."""
        native = os.path.join(self.home, ".claude/projects")
        shutil.rmtree(native, ignore_errors=True)
        os.makedirs(os.path.dirname(native), exist_ok=True)
        os.rename(self.tree(tier, say), native)
        del self._made[tier]
        return native

    def outfitter(self, *words: str) -> tuple[str, ...]:
        """Our command, by this Python."""
        return (sys.executable, "-m", "outfitter", *words)

    def remove(self, path: str) -> None:
        """Take a directory away, links not followed."""
        shutil.rmtree(path, ignore_errors=True)

    def drop(self, tier: str) -> None:
        """A tree that is not needed any more."""
        if tier in self._made:
            self.remove(self._made.pop(tier))

    def close(self) -> None:
        """Leave nothing."""
        shutil.rmtree(self.top, ignore_errors=True)
