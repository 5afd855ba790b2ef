"""The user's own `git`, for fetching catalogs: their credentials and proxies, nothing of this repository's surroundings (spec/10).

A catalog is data: no hook of it or of a template runs, and no transport that is a command.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

from outfitter.syntax.address import hide_credentials

# What may pass of GIT_*: how to reach and trust a server. The rest (GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE …) is set by hooks
# and rebases for their own repository, and would aim our commands at it.
ALLOWED = (
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_HTTP_PROXY_AUTHMETHOD",
)
ALLOWED_PREFIXES = ("GIT_SSL_", "GIT_CONFIG_")
GUARDS = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "gc.auto=0",
)
SECONDS = 300
# What git says last whatever went wrong before.
GENERAL = "Could not read from remote repository"


class Fetched(NamedTuple):
    """A commit checked out into a directory, or why it could not be (one line, credentials hidden)."""

    commit: str
    problem: str = ""


def fetch(uri: str, ref: str, target: str, env: Mapping[str, str], *, interactive: bool) -> Fetched:
    """Check `ref` (a branch, tag or commit; "" for the remote's own default) of `uri` out into the new directory `target`."""
    if uri.startswith("-") or ref.startswith("-"):
        return Fetched("", "an address or a ref that begins with a dash is refused")
    surroundings = _environment(env, interactive)

    def git(*words: str) -> tuple[int, str]:
        return _run(["git", *GUARDS, "-C", target, *words], surroundings)

    os.makedirs(target, mode=0o700)
    code, said = git("init", "--quiet", "--template=")
    if code:
        return Fetched("", _reason(said))
    code, said = git("fetch", "--quiet", "--depth=1", "--no-tags", "--", uri, ref or "HEAD")
    if code and re.fullmatch(r"[0-9a-f]{7,64}", ref):
        # Many servers give no single commit by its name: then all branches and tags are asked for, and it is looked up among them.
        code, said = git("fetch", "--quiet", "--", uri, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        start = f"{ref}^{{commit}}"
    else:
        start = "FETCH_HEAD"
    if code:
        return Fetched("", _reason(said))
    code, said = git("checkout", "--quiet", "--detach", start)
    if code:
        return Fetched("", _reason(said))
    code, said = git("rev-parse", "HEAD")
    return Fetched(said.strip()) if code == 0 else Fetched("", _reason(said))


def _environment(env: Mapping[str, str], interactive: bool) -> dict[str, str]:
    kept = {
        name: value
        for name, value in env.items()
        if not name.startswith("GIT_") or name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
    }
    return {
        **kept,
        "LC_ALL": "C",
        **({} if interactive else {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}),
    }


def _run(command: list[str], env: dict[str, str]) -> tuple[int, str]:
    try:
        ended = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        return 127, "git is not installed"
    except subprocess.TimeoutExpired:
        return 124, f"no answer in {SECONDS} s"
    text = ended.stdout if ended.returncode == 0 else ended.stderr
    return ended.returncode, text.decode("utf-8", "replace")


def _reason(said: str) -> str:
    """The line of git's complaint that says most: the last `fatal:` or `error:` before the advice it gives for any of them."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    general = next((number for number, line in enumerate(lines) if GENERAL in line), len(lines))
    lines = lines[:general] or lines or ["git failed without a word"]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))] or lines
    return hide_credentials(re.sub(r"^(fatal|error): ", "", telling[-1]))
