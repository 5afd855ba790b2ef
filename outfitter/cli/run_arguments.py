"""Run's options as argparse knows them: for its help and for completion; a launch itself splits its words in `cli.words`."""

from __future__ import annotations

import argparse

SUMMARY = "Launch an agent: compose it from its layers, run the harness in a projection, settle what it wrote."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Run's own options, for help and completion; the words themselves are split by `cli.words`."""
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="agent id; default_agent of the settings without one")
    parser.add_argument("--harness", choices=["pi", "claude", "codex"], help="which program; default_harness, else pi")
    parser.add_argument(
        "--strict", action="store_true", help="a warning before the launch refuses it, a warned write fails it"
    )
    parser.add_argument(
        "--isolated", action="store_true", help="Claude Code: the composition is the whole configuration"
    )
    parser.add_argument("--retain-projection", action="store_true", help="keep the run directory for `outfitter diff`")
    parser.add_argument(
        "--append-prompt", action="append", metavar="FILE", help="add a prompt file to this run; repeatable"
    )
    parser.add_argument(
        "--out", metavar="ROOT", help="leave the evidence of the run in ROOT, which must be absent or empty"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan and start nothing; with --json as a document"
    )
    parser.add_argument("args", nargs="*", metavar="-- ARGS", help="everything else goes to the harness, unchanged")
