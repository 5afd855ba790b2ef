"""`outfitter schema NAME`: the JSON Schemas that ship with the package, for editors and for programs that read our files."""

from __future__ import annotations

import argparse
import json
import os

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser

SUMMARY = "Print a JSON Schema: of settings.yml, of an agent's front matter, of a run's trace or result."
EXAMPLES = (
    "outfitter schema settings > settings.schema.json",
    "outfitter schema agent",
)
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schemas")


def names() -> tuple[str, ...]:
    """The schemas there are."""
    return tuple(sorted(name.removesuffix(".json") for name in os.listdir(FOLDER) if name.endswith(".json")))


def arguments(made: argparse.ArgumentParser) -> None:
    """NAME."""
    made.add_argument("name", choices=names(), metavar="NAME", help=f"one of {', '.join(names())}")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print the schema as it ships."""
    options = parser("schema", SUMMARY, arguments, EXAMPLES).parse_args(words)
    path = os.path.join(FOLDER, f"{options.name}.json")
    context.console.detail(f"schema: {path}")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if options.json:
        context.console.document({"name": options.name, "schema": json.loads(text)})
    else:
        context.console.data(text.rstrip("\n"))
    return 0
