"""A throw-away place for benchmarks: a home, a project with one agent, stand-in harnesses, and trees."""

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


class Workspace:
    """Everything lies below one directory, which `close` removes."""

    def __init__(self, top: str | None) -> None:
        """Create it below `top`, the file system that is measured."""
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="outfitter-bench-", dir=top))
        self.home, self.project, self.bin, self.tmp = (self.path(n) for n in ("home", "project", "bin", "tmp"))
        for directory in (self.home, self.project + "/.git", self.bin, self.tmp):
            os.makedirs(directory)
        self.write("project/.agents/agents/a/agent.md", "---\nname: a\n---\n\nYou are A.\n")
        self.write("project/.agents/settings.yml", "default_agent: a\n")
        for name in ("pi", "claude"):
            self.harness(IDLE, name)
        self.env = clean_env(self.home, PATH=f"{self.bin}:{os.environ.get('PATH', '')}", TMPDIR=self.tmp)
        self._trees: dict[str, str] = {}

    def path(self, name: str) -> str:
        """Return a path below the top."""
        return os.path.join(self.top, name)

    def write(self, name: str, text: str, mode: int = 0o644) -> str:
        """Write a small file."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def harness(self, script: str, name: str = "claude", directory: str = "bin") -> None:
        """Write what a launch will start if `directory` is on its search path.

        A new file is asked for its help again.
        """
        self.write(f"{directory}/{name}", script, 0o755)

    @property
    def slug(self) -> str:
        """The name of the project's folder of sessions."""
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in self.project)

    def tree(self, tier: str, say: Callable[[str], None]) -> str:
        """Return the tree of a tier, made on first use.

        It is a `projects/` directory that holds the launch directory's folder.
        """
        if tier not in self._trees:
            say(f"making {tier}")
            root = self.path(f"trees/{tier}")
            trees.make(root, tier, self.slug)
            self._trees[tier] = root
        return self._trees[tier]

    def durable(self, tier: str, say: Callable[[str], None]) -> str:
        """Move the tree of a tier to be the home's own history of sessions."""
        native = os.path.join(self.home, ".claude/projects")
        shutil.rmtree(native, ignore_errors=True)
        os.makedirs(os.path.dirname(native), exist_ok=True)
        os.rename(self.tree(tier, say), native)
        del self._trees[tier]
        return native

    def outfitter(self, *arguments: str) -> tuple[str, ...]:
        """Return our command, run by this Python."""
        return (sys.executable, "-m", "outfitter", *arguments)

    def remove(self, path: str) -> None:
        """Remove a directory; symlinks are not followed."""
        shutil.rmtree(path, ignore_errors=True)

    def drop(self, tier: str) -> None:
        """Remove a tree that is no longer needed."""
        if tier in self._trees:
            self.remove(self._trees.pop(tier))

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.top, ignore_errors=True)
