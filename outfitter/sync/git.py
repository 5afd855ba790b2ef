"""The user's own `git` fetches catalogs, with their credentials and proxies (spec/10).

A catalog is data: no hook of it or of a template runs, and git may use the five transports in `TRANSPORTS` only.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

from outfitter.sync.parts import CheckoutParts, complete, filter_failure
from outfitter.syntax.address import hide_credentials

# Variables that describe one repository, most of them listed by `git rev-parse --local-env-vars`. Hooks and rebases set them
# for their own, which would direct our commands at it. All other variables are the user's, and pass.
OF_A_REPOSITORY = frozenset(
    (
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_ATTR_SOURCE",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DEFAULT_HASH",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INDEX_VERSION",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    )
)
# How pathspecs are read: ours are written for the default.
OF_PATHSPECS = re.compile(r"GIT_[A-Z]+_PATHSPECS")
# The checkout has the bytes of the commit, whatever the user's own work trees have; only the catalog's attributes count.
GUARDS = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.eol=lf",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "gc.auto=0",
)
# Any other `<name>::` address would start a program `git-remote-<name>`.
TRANSPORTS = ("http", "https", "ssh", "git", "file")
SECONDS = 300
# Git's advice after any failed fetch; the lines before it tell the reason.
GENERAL = "Could not read from remote repository"


class Fetched(NamedTuple):
    """A commit that was checked out into a directory, or why not (one line, credentials hidden)."""

    commit: str
    problem: str = ""
    parts: CheckoutParts = CheckoutParts()


def fetch(uri: str, ref: str, target: str, env: Mapping[str, str], *, path: str = "", interactive: bool) -> Fetched:
    """Check out `ref` of `uri` into the new directory `target`.

    The submodules at, in or above `path` are fetched, too. `ref` is a branch, tag or commit; "" means the default branch of the remote.
    """
    if uri.startswith("-") or ref.startswith("-"):
        return Fetched("", "an address or a ref must not begin with a dash")
    git_env = _environment(env, interactive)

    def git(*arguments: str) -> tuple[int, str]:
        return _run(["git", *GUARDS, "-C", target, *arguments], git_env)

    os.makedirs(target, mode=0o700)
    code, output = git("init", "--quiet", "--template=")
    if code:
        return Fetched("", _reason(output))
    _, rules = git("config", "-z", "--get-regexp", r"^protocol\.")
    git_env["GIT_ALLOW_PROTOCOL"] = ":".join(_transports(rules, env))
    code, output = git("fetch", "--quiet", "--depth=1", "--no-tags", "--", uri, ref or "HEAD")
    if code and re.fullmatch(r"[0-9a-f]{7,64}", ref):
        # Many servers refuse to send a single commit by its id: fetch all branches and tags, and look it up there.
        code, output = git("fetch", "--quiet", "--", uri, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        start = f"{ref}^{{commit}}"
    else:
        start = "FETCH_HEAD"
    if code:
        return Fetched("", _reason(output))
    code, output = git("checkout", "--quiet", "--detach", start)
    if code:
        return Fetched("", filter_failure(output) or _reason(output))
    code, output = git("rev-parse", "HEAD")
    if code:
        return Fetched("", _reason(output))
    commit = output.strip()
    if not uri.startswith(("file:", "/")):
        # A catalog from elsewhere does not choose which of the user's own repositories are read.
        git_env["GIT_ALLOW_PROTOCOL"] = ":".join(
            name for name in git_env["GIT_ALLOW_PROTOCOL"].split(":") if name != "file"
        )
    return Fetched(commit, parts=complete(git, target, path, _reason))


def _environment(env: Mapping[str, str], interactive: bool) -> dict[str, str]:
    kept = {
        name: value for name, value in env.items() if name not in OF_A_REPOSITORY and not OF_PATHSPECS.fullmatch(name)
    }
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TEMPLATE_DIR": "",
        **({} if interactive else {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}),
    }


def _transports(rules: str, env: Mapping[str, str]) -> list[str]:
    """Return those of `TRANSPORTS` that the user has not forbidden.

    `rules` is what `git config -z` prints of the user's `protocol.*`: a key, a newline and a value, each pair ended by NUL.
    """
    values = dict(rule.lower().split("\n", 1) for rule in rules.split("\0") if "\n" in rule)
    forbidden = ("never", "user") if env.get("GIT_PROTOCOL_FROM_USER") in ("0", "false") else ("never",)
    listed = env["GIT_ALLOW_PROTOCOL"].split(":") if "GIT_ALLOW_PROTOCOL" in env else TRANSPORTS
    general = values.get("protocol.allow", "")
    return [
        name for name in TRANSPORTS if name in listed and values.get(f"protocol.{name}.allow", general) not in forbidden
    ]


def _run(command: list[str], env: dict[str, str]) -> tuple[int, str]:
    try:
        ended = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        return 127, "git is not installed"
    except subprocess.TimeoutExpired:
        return 124, f"git did not finish in {SECONDS} s"
    text = ended.stdout if ended.returncode == 0 else ended.stderr
    return ended.returncode, text.decode("utf-8", "replace")


def _reason(output: str) -> str:
    """Return the most specific line of git's output: the last `fatal:` or `error:` before general advice."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    general = next((number for number, line in enumerate(lines) if GENERAL in line), len(lines))
    lines = lines[:general] or lines or ["git failed without a message"]
    specific = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))] or lines
    return hide_credentials(re.sub(r"^(fatal|error): ", "", specific[-1]))
