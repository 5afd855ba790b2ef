"""Claude Code's command line: prompt files, the merged append file, pass-through words, their order.

OFTR-006.5.4 to 7 and 11. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from returns.result import Failure, Success

from outfitter.adapters.claude.gateway import Gateway, settings_document, settings_object
from outfitter.adapters.claude.state import Mode
from outfitter.adapters.controls import harness_defaults, without_native_context
from outfitter.model.composition import Composition, Controls, Fragment
from outfitter.model.errors import CompositionFailed, UsageError
from outfitter.model.projection import Facts, Generated
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Settings
from outfitter.model.value import NamedTuple
from outfitter.railway import Outcome, collect

SYSTEM_FILE = "system-prompt.md"
APPENDED_FILE = "append-system-prompt.md"
SETTINGS_FILE = "launch-settings.json"
# The files of a project that the program reads itself; the last only if no other exists or another includes it.
CONTEXT_FILES = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md")
SETTINGS = "--settings"
APPEND_FILE = "--append-system-prompt-file"
APPEND_TEXT = "--append-system-prompt"
SYSTEM = ("--system-prompt-file", "--system-prompt")
# Options that take every word up to the next option: none of them may come last before a prompt.
LISTS = frozenset(
    (
        "--mcp-config",
        "--tools",
        "--allowedTools",
        "--allowed-tools",
        "--disallowedTools",
        "--disallowed-tools",
        "--add-dir",
        "--betas",
        "--file",
    )
)


class Folded(NamedTuple):
    """The words that are left after folding, and what was folded.

    Texts for the append file, settings objects, and whether a system prompt was among the words.
    """

    rest: tuple[str, ...]
    appended: tuple[str, ...] = ()
    settings: tuple[Mapping[str, Any], ...] = ()
    replaces_system: bool = False


class Prompts(NamedTuple):
    """The texts of the two prompt files, "" for no file."""

    system: str
    appended: str


class Words(NamedTuple):
    """The generated texts and settings, and the remaining words of the tree and of the user."""

    prompts: Prompts
    settings: bytes | None
    args: tuple[str, ...]
    passthrough: tuple[str, ...]
    notices: tuple[Notice, ...] = ()


def folded_files(words: tuple[str, ...], cwd: str) -> tuple[str, ...]:
    """The files that folding has to read: values of the pass-through file options, made absolute."""
    found = [value for option, value, _ in _options(words) if option in (SETTINGS, APPEND_FILE)]
    return tuple(posixpath.join(cwd, value) for value in found if not value.lstrip().startswith("{"))


def fold(words: tuple[str, ...], taken: frozenset[str], read: Callable[[str, str], Outcome[str]]) -> Outcome[Folded]:
    """Take the options in `taken` out of the words, for the program lets a second one replace the first.

    `read(option, value)` gives the text of a file option. Errors: its own, and `UsageError` for settings that are no JSON object.
    """
    chosen = [(option, value, places) for option, value, places in _options(words) if option in taken]
    gone = {place for _, _, places in chosen for place in places}
    rest = tuple(word for place, word in enumerate(words) if place not in gone)
    replaces = any(option in SYSTEM for option, _, _ in _options(words))

    def text(option: str, value: str) -> Outcome[str]:
        plain = option == APPEND_TEXT or (option == SETTINGS and value.lstrip().startswith("{"))
        return Success(value) if plain else read(option, value)

    appended = collect([text(option, value) for option, value, _ in chosen if option != SETTINGS])
    settings = collect([text(option, value).bind(settings_object) for option, value, _ in chosen if option == SETTINGS])
    return appended.bind(lambda texts: settings.map(lambda objects: Folded(rest, texts, objects, replaces)))


def passed_file(cwd: str, files: Mapping[str, bytes | None]) -> Callable[[str, str], Outcome[str]]:
    """Return a reader, over the facts, of files that the user named on the command line.

    Its error: `UsageError` if the file cannot be read.
    """

    def read(option: str, value: str) -> Outcome[str]:
        raw = files.get(posixpath.join(cwd, value))
        if raw is None:
            return Failure(UsageError(f"{option}: {value} cannot be read", "it is merged with what this run generates"))
        return Success(raw.decode("utf-8-sig", "replace"))

    return read


def declared_file(agent: str) -> Callable[[str, str], Outcome[str]]:
    """Return a reader that rejects every file which the tree's own arguments name.

    Such a file would silently replace the generated one.
    """

    def read(option: str, value: str) -> Outcome[str]:
        return Failure(
            CompositionFailed(
                f"agent {agent}: controls.args has {option} {value}, which would replace what this run generates",
                "use append_system_prompt, or harness_defaults of the home settings, instead",
            )
        )

    return read


def prompts(fragments: tuple[Fragment, ...], appended: tuple[str, ...]) -> Prompts:
    """Return the system prompt, and everything else in composition order as one text (006.5.7)."""
    system = [fragment.content for fragment in fragments if fragment.kind == "system"]
    rest = [fragment.content for fragment in fragments if fragment.kind != "system"]
    return Prompts(_joined(system), _joined([*rest, *appended]))


def guarded(words: tuple[str, ...], guard: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words, followed by `guard` if their last option would consume a prompt that follows."""
    last = next((word.partition("=")[0] for word in reversed(words) if word.startswith("-") and word != "-"), "")
    return (*words, *guard) if last in LISTS else words


def replaced_system(agent: str, passed: bool) -> Notice:
    """The warning for a system prompt on the command line: it wins whole."""
    what = "there is a pass-through" if passed else "controls.args has a"
    return Notice(
        "warning",
        "system-prompt-replaced",
        f"agent {agent}: {what} system prompt, which takes the place of the composed one",
    )


def composed_words(
    request: Request,
    settings: Settings,
    composition: Composition,
    facts: Facts,
    chosen: Mode,
    controls: Controls,
    off: Mapping[str, Any],
    way: Gateway,
) -> Outcome[Words]:
    """Prompts and settings, with the pass-through ones of the same kind folded in."""
    fragments, notices = _fragments(request, composition, facts, chosen)
    native = harness_defaults(settings, "claude")
    taken = {SETTINGS} if native or off or way.settings else set()
    if prompts(fragments, ()).appended:
        taken |= {APPEND_FILE, APPEND_TEXT}

    def joined(tree: Folded, user: Folded) -> Words:
        texts = prompts(fragments, tree.appended + user.appended)
        replaced = bool(texts.system) and (tree.replaces_system or user.replaces_system)
        layers = (off, native, *tree.settings, *user.settings)
        return Words(
            texts._replace(system="") if replaced else texts,
            settings_document(layers, way) if SETTINGS in taken else None,
            tree.rest,
            user.rest,
            (*notices, *((replaced_system(composition.agent, user.replaces_system),) if replaced else ())),
        )

    kinds = frozenset(taken)
    passed = passed_file(request.ambient.cwd, facts.files)
    return fold(controls.args, kinds, declared_file(composition.agent)).bind(
        lambda tree: fold(request.passthrough, kinds, passed).map(lambda user: joined(tree, user))
    )


def _fragments(
    request: Request, composition: Composition, facts: Facts, chosen: Mode
) -> tuple[tuple[Fragment, ...], tuple[Notice, ...]]:
    """Return the identity without the text that an inherited program reads itself (spec/15 V1).

    A dry run gets a notice about it.
    """
    if chosen.isolated or request.untrusted:
        return composition.fragments, ()
    fragments, twice = without_native_context(composition.fragments, facts, context_names(facts))
    message = f"{twice} has the same text as the tree's agents.md; claude reads it itself, so it is not appended again"
    return fragments, (Notice("notice", "context-native", message),) if twice and request.dry_run else ()


def generated_texts(words: Words) -> tuple[Generated, ...]:
    """The files of the texts and settings that are not empty."""
    texts = ((SYSTEM_FILE, words.prompts.system), (APPENDED_FILE, words.prompts.appended))
    made = tuple(Generated(path, text.encode("utf-8", "surrogateescape")) for path, text in texts if text)
    return (*made, *((Generated(SETTINGS_FILE, words.settings),) if words.settings is not None else ()))


def context_names(facts: Facts) -> tuple[str, ...]:
    """Return the context files at the project's root that the program reads.

    `AGENTS.md` is one of them if there is no other, or if another includes it.
    """
    own = [name for name in CONTEXT_FILES[:-1] if _text(facts, name) is not None]
    includes = any(b"@AGENTS.md" in (_text(facts, name) or b"") for name in own)
    return (*own, *((CONTEXT_FILES[-1],) if includes or not own else ()))


def _text(facts: Facts, name: str) -> bytes | None:
    return facts.files.get(posixpath.join(facts.project_root, name))


def _options(words: tuple[str, ...]) -> list[tuple[str, str, tuple[int, ...]]]:
    """(option, value, places) of every option with a value that concerns folding, up to a bare `--`."""
    known = {SETTINGS, APPEND_FILE, APPEND_TEXT, *SYSTEM}
    found: list[tuple[str, str, tuple[int, ...]]] = []
    place = 0
    while place < len(words) and words[place] != "--":
        name, equals, value = words[place].partition("=")
        if name in known and equals:
            found.append((name, value, (place,)))
        elif name in known and place + 1 < len(words) and words[place + 1] != "--":
            found.append((name, words[place + 1], (place, place + 1)))
            place += 1
        place += 1
    return found


def _joined(texts: list[str]) -> str:
    """Join texts with a blank line between them and a final newline; "" if all are empty."""
    kept = [text.strip("\n") for text in texts if text.strip()]
    return "\n\n".join(kept) + "\n" if kept else ""
