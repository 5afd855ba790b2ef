"""`outfitter --version [--json]`: ours, Python's, the platform's, and those of what we stand on."""

from __future__ import annotations

import platform

from outfitter import __version__
from outfitter.cli.context import Context
from outfitter.model.errors import UsageError

PACKAGES = ("attrs", "blake3", "jsonschema-rs", "pyyaml", "returns", "shtab", "toolz")


def main(words: list[str], context: Context) -> int:
    """Print the version; `--json` adds what a bug report needs."""
    if words not in ([], ["--json"]):
        return context.fail(UsageError(f"--version takes --json alone, not {words[0]}"), "--json" in words)
    if not words:
        context.console.data(f"outfitter {__version__}")
        return 0
    from importlib.metadata import PackageNotFoundError, version

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return ""

    context.console.document(
        {
            "outfitter": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": {name: installed(name) for name in PACKAGES},
        }
    )
    return 0
