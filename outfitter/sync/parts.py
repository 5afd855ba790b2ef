"""What a checkout needs besides its commit: submodules, and the content behind Git LFS pointers."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from outfitter.syntax.address import hide_credentials

# A git command in the checkout: its arguments → exit code, and its output (of a failed command what it wrote to stderr).
Git = Callable[..., tuple[int, str]]
LFS = "git-lfs"
# How the mode of a submodule begins in `git ls-files --stage`.
_SUBMODULE = "160000 "
_POINTER = b"version https://git-lfs.github.com/spec/"


class CheckoutParts(NamedTuple):
    """What a checkout holds besides its commit.

    `there` are paths of submodules, and `LFS` for its content; `missing` names what is not there, "" for nothing.
    """

    there: tuple[str, ...] = ()
    missing: str = ""


def complete(git: Git, target: str, path: str, reason: Callable[[str], str]) -> CheckoutParts:
    """Fetch the submodules of a checkout at, in or above `path`, and look for LFS pointers.

    `target` is the checkout's directory. A submodule that cannot be fetched does not make the rest unusable. `reason` makes one line of git's output.
    """
    there: list[str] = []
    missing: list[str] = []
    for module in _submodules(git, path):
        code, output = git(
            "submodule", "--quiet", "update", "--init", "--recursive", "--depth=1", "--", f":(top,literal){module}"
        )
        if code:
            missing.append(f"submodule {module} is missing: {reason(output)}")
        else:
            there.append(module)
    if there:
        _make_plain(target)
    pointers, content = _lfs(git, target)
    if pointers:
        missing.append(f"{pointers[0]} is only a Git LFS pointer ({len(pointers)} in all): install and set up {LFS}")
    elif content:
        there.append(LFS)
    return CheckoutParts(tuple(there), "; ".join(missing))


def filter_failure(output: str) -> str:
    """Say which filter could not run, "" if a checkout failed for another reason.

    Git writes this line before or after general ones about "the remote end".
    """
    lines = [line.strip() for line in output.splitlines()]
    told = [line for line in lines if "filter" in line or "git-lfs" in line or line.endswith("not found")]
    if not told:
        return ""
    return hide_credentials(f"a filter of this repository could not run: {told[0]}; install and set up its program")


def _submodules(git: Git, path: str) -> Iterator[str]:
    """The paths of the submodules that a tree at `path` ("" for the root) needs."""
    wanted = path.strip("/").removeprefix("./")
    _, listed = git("ls-files", "--stage", "-z")
    for row in listed.split("\0"):
        if row.startswith(_SUBMODULE):
            module = row.partition("\t")[2]
            if wanted in ("", ".") or f"{module}/".startswith(f"{wanted}/") or f"{wanted}/".startswith(f"{module}/"):
                yield module


def _make_plain(target: str) -> None:
    """Remove the `.git` files of submodules, which would travel into a skill's copy."""
    for folder, folders, files in os.walk(target):
        if ".git" in folders:
            folders.remove(".git")
        if ".git" in files:
            with suppress(OSError):
                os.unlink(os.path.join(folder, ".git"))


def _lfs(git: Git, target: str) -> tuple[list[str], list[str]]:
    """The files of Git LFS: those that are only pointers, and those with their content."""
    _, listed = git("ls-files", "-z", ":(top,attr:filter=lfs)")
    names = [name for name in listed.split("\0") if name]
    pointers = [name for name in names if _is_pointer(os.path.join(target, name))]
    return pointers, [name for name in names if name not in set(pointers)]


def _is_pointer(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(_POINTER)) == _POINTER
    except OSError:
        return False
