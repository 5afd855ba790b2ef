"""`outfitter import`: what people have for another tool becomes an `.agents` tree (spec/25)."""

from __future__ import annotations

import argparse
import os
from typing import Any

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.host import Sources
from outfitter.model.errors import EffectFailed, UsageError
from outfitter.model.request import resolved
from outfitter.model.value import NamedTuple
from outfitter.porting.adoption_plan import WRITTEN, Remembered, Row, rows
from outfitter.porting.gather import all_spots, everything, unit_of
from outfitter.porting.secrets import lines_with_credentials
from outfitter.porting.telling import heading, left_lines, row_lines, shown, summary
from outfitter.porting.translation import HOME_DIRECTORIES, PROJECT_DIRECTORIES, TOOLS, LeftBehind, Translation
from outfitter.porting.writing import last_import, remember, standing, write_rows

SUMMARY = (
    "Make an .agents tree of what Claude Code, Codex, Pi, Cursor, Copilot, OpenCode or Gemini CLI read here. Shows every "
    "difference before it writes; the source is never touched, credentials are never copied."
)
EXAMPLES = ("outfitter import", "outfitter import claude --dry-run", "outfitter import codex --from ~ --to ~/.agents")


class Import(NamedTuple):
    """One import worked out.

    Where it looks, the tree as written by the user, what it would do, and what is remembered.
    """

    root: str
    tree: str
    label: str
    found: Translation
    rows: tuple[Row, ...]
    last: dict[str, Remembered]
    sources: dict[str, bytes]


def arguments(made: argparse.ArgumentParser) -> None:
    """TOOL, --from, --to, --dry-run, --yes, --json."""
    made.add_argument("tool", nargs="?", choices=TOOLS, metavar="TOOL", help=f"{', '.join(TOOLS)}; all without it")
    made.add_argument(
        "--from",
        dest="place",
        metavar="PATH",
        default="",
        help="a project, a home or a plugin; the project here without it",
    )
    made.add_argument(
        "--to",
        metavar="DIR",
        default="",
        help="the tree to write; .agents of the project, or of the home with --from ~",
    )
    made.add_argument("--dry-run", action="store_true", help="show everything, write nothing")
    made.add_argument("--yes", action="store_true", help="write without asking")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Show, confirm, write.

    Exit 0 where nothing is left to decide, 1 for a conflict, a refusal or an unwritten tree.
    """
    options = parser("import", SUMMARY, arguments, EXAMPLES).parse_args(words)
    host = context.host()
    refusal = _refused(options, context)
    if refusal is not None:
        return context.fail(refusal, options.json)
    try:
        made = plan(options, context, host.sources)
    except OSError as error:
        return context.fail(EffectFailed("read", str(error.filename or ""), error.strerror or str(error)), options.json)
    if not made.found.files and not made.found.left:
        names = ", ".join(
            dict.fromkeys(PROJECT_DIRECTORIES[tool] for tool in ([options.tool] if options.tool else TOOLS))
        )
        hint = "name another directory with --from"
        return context.fail(UsageError(f"there is nothing to import in {made.root} ({names})", hint), options.json)
    return _carry_out(options, context, made, host.terminal.progress("importing"))


def _refused(options: argparse.Namespace, context: Context) -> UsageError | None:
    place = _place(options, context)
    if not os.path.isdir(place):
        return UsageError(f"{place} is not a directory", "--from names a project, a home or a plugin")
    tree = _tree(options, context, place)
    if os.path.lexists(tree) and not os.path.isdir(tree):
        return UsageError(f"{tree} is not a directory", "move it out of the way, or name another tree with --to")
    if not os.path.isdir(os.path.dirname(tree)):
        return UsageError(f"{os.path.dirname(tree)} does not exist", "make it, or name another tree with --to")
    natives = [
        os.path.join(place, name) for names in (PROJECT_DIRECTORIES, HOME_DIRECTORIES) for name in names.values()
    ]
    real = os.path.realpath(tree)
    if real in map(os.path.realpath, [*natives, place]):
        return UsageError(
            f"{tree} is {real}, the directory to import from", "it is read as it is; there is nothing to import"
        )
    return None


def _place(options: argparse.Namespace, context: Context) -> str:
    if options.place:
        return os.path.realpath(resolved(options.place, context.ambient.home, context.ambient.cwd))
    return context.host().sources.project_root(context.ambient.cwd, context.ambient.home)[0]


def _tree(options: argparse.Namespace, context: Context, place: str) -> str:
    if options.to:
        return resolved(options.to, context.ambient.home, context.ambient.cwd)
    if place == os.path.realpath(context.ambient.home):
        return os.path.join(context.ambient.home, ".agents")
    here = context.host().sources.project_root(context.ambient.cwd, context.ambient.home)[0]
    return os.path.join(here, ".agents")


def plan(options: argparse.Namespace, context: Context, sources: Sources) -> Import:
    """Read the source and the tree, and work out each file's fate. Raises `OSError`."""
    root = _place(options, context)
    tree = _tree(options, context, root)
    home = root == os.path.realpath(context.ambient.home)
    boundary = "" if home else sources.project_root(root, context.ambient.home)[1]
    boundary = boundary if not boundary or (root + "/").startswith(boundary.rstrip("/") + "/") else root
    found = everything(sources, all_spots(root, boundary, home, (options.tool,) if options.tool else TOOLS))
    contents, found = _contents(found, sources, tree)
    last = last_import(context.ambient.state_root, tree)
    there = standing(tree, found.files)
    label = os.path.relpath(tree, context.ambient.cwd)
    label = tree if label.startswith("..") else label
    return Import(root, tree, label, found, rows(found, contents, there, last), last, _natives(found, sources))


def _natives(found: Translation, sources: Sources) -> dict[str, bytes]:
    """The Markdown files that became something else, to show the difference.

    None in which a credential was met.
    """
    secret = {one.path for one in found.left if one.manner == "secret"}
    names = {file.source for file in found.files.values() if file.source.endswith(".md") and not file.copy}
    return {name: sources.read(name) or b"" for name in sorted(names - secret)}


def _contents(found: Translation, sources: Sources, tree: str) -> tuple[dict[str, bytes], Translation]:
    """Every file's bytes.

    What lies in the tree already is left out, and so is a file that holds a live credential.
    """
    contents: dict[str, bytes] = {}
    left: list[LeftBehind] = []
    inside = os.path.realpath(tree) + os.sep
    for path, file in found.files.items():
        if file.copy and (file.copy + os.sep).startswith(inside):
            continue
        try:
            content = (sources.read(file.copy) or b"") if file.copy else file.text
        except OSError as error:
            left.append(LeftBehind("skipped", file.source, f"is {error.strerror}; skipped"))
            continue
        lines = lines_with_credentials(content)
        if lines:
            where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines[:4]))}"
            said = f"{where}: looks like a live credential; the file is left out"
            left.append(LeftBehind("secret", file.source, said, "take it out of the file, and import again"))
            continue
        contents[path] = content
    broken = {
        unit_of(path) for path in found.files if path not in contents and path.endswith(("/SKILL.md", "/agent.md"))
    }
    kept = {path: file for path, file in found.files.items() if path in contents and unit_of(path) not in broken}
    return contents, found._replace(files=kept, left=(*found.left, *left))


def _carry_out(options: argparse.Namespace, context: Context, made: Import, progress: Any) -> int:
    if not options.json:
        _show(context, made)
    wanted = [row for row in made.rows if row.fate in WRITTEN]
    open_ends = [row for row in made.rows if row.fate in ("conflict", "blocked")]
    asks = context.ambient.stdin_tty and context.ambient.stdout_tty and not options.yes and not options.json
    confirmed = not options.dry_run and (options.yes or not wanted or (asks and _confirmed()))
    if confirmed:
        try:
            write_rows(made.tree, made.rows, progress)
            remember(context.ambient.state_root, context.ambient.home, made.tree, made.rows, made.last)
        except OSError as error:
            why = error.strerror or str(error)
            hint = "what was written is whole; run the import again"
            return context.fail(EffectFailed("write", str(error.filename or made.tree), why, hint), options.json)
    if options.json:
        context.console.document(_document(made, bool(wanted) and confirmed))
    elif options.dry_run or not wanted:
        context.console.data(_end(made, wanted, options.dry_run))
    elif confirmed:
        context.console.data("written; next: outfitter validate, then outfitter list")
    else:
        context.console.data("nothing written" + ("" if asks else "; --yes writes it"))
    return 1 if open_ends or not (confirmed or options.dry_run) else 0


def _end(made: Import, wanted: list[Row], dry: bool) -> str:
    if not wanted:
        return f"{made.label} has all of it already"
    return "nothing written; without --dry-run it asks, with --yes it writes" if dry else ""


def _show(context: Context, made: Import) -> None:
    context.console.data(heading(made.found, made.root))
    lines = [
        *row_lines(made.rows, made.root, made.sources, made.label),
        *left_lines(made.found.left, made.root),
        summary(made.rows, made.label),
    ]
    context.console.data("\n".join(lines))


def _confirmed() -> bool:
    try:
        return input("write this? [y/N]: ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False


def _document(made: Import, written: bool) -> dict[str, Any]:
    return {
        "from": made.root,
        "tree": made.tree,
        "written": written,
        "agents": list(made.found.agents),
        "skills": list(made.found.skills),
        "commands": list(made.found.commands),
        "servers": list(made.found.servers),
        "files": [
            {"path": row.path, "fate": row.fate, "source": row.source, "bytes": len(row.now), "why": row.why}
            for row in made.rows
        ],
        "left": [
            {"manner": one.manner, "path": shown(one.path, made.root), "message": one.said, "hint": one.hint}
            for one in made.found.left
        ],
    }
