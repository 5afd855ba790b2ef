"""One MCP server as its author wrote it, in the one normal form (spec/15 V20 to V26). Pure."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

# Spellings of one key, in the order in which they count.
_ADDRESSES = ("url", "serverUrl", "httpUrl")
_DIALECTS = ("type", "transport")
_SWITCHES = ("enabled", "disabled")
_HTTP = frozenset(("http", "streamable-http", "streamablehttp", "http-stream", "streamable_http"))
TYPES = ("stdio", "http", "sse")
_OFF = frozenset(("false", "no", "off", "0"))
_ON = frozenset(("true", "yes", "on", "1"))
# No number of milliseconds that makes sense has as many digits.
_LONGEST_NUMBER = 16
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "fish", "ksh"))

_NAMED = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)")
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}")
_BARE = re.compile(r"(?<!\$)\$[A-Za-z_][A-Za-z0-9_]*")
_SECRET_KEY = re.compile(r"(^|[_-])(KEY|TOKEN|SECRET|PASSWORD)$|^(API|ACCESS|AUTH)(KEY|TOKEN)$", re.IGNORECASE)
_BREAKS = re.compile("[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]")


class FormRemark(NamedTuple):
    """What to say about one key of a definition, such as `env.TOKEN` or `args.0`."""

    key: str
    message: str
    is_credential: bool = False


class Form(NamedTuple):
    """A definition in normal form; `fault` says why it cannot be used."""

    definition: Mapping[str, Any]
    off: bool = False
    fault: str = ""
    remarks: tuple[FormRemark, ...] = ()

    @property
    def credentials(self) -> tuple[str, ...]:
        """The key paths of literal values that look like credentials."""
        return tuple(remark.key for remark in self.remarks if remark.is_credential)


def normal_form(raw: Any) -> Form:
    """Return the normal form: `type` stdio, http or sse, with `command` or `url`.

    References are spelled `${NAME}`; every other key is kept.
    """
    if not isinstance(raw, Mapping):
        return Form({}, fault="is not a mapping")
    if is_off(raw):
        return Form({}, off=True)
    fault = _misshapen(raw)
    if fault:
        return Form({}, fault=fault)
    shaped, misshapen = _optional(raw)
    plain = {key: _renamed(value) for key, value in shaped.items() if value is not None}
    address = next((plain[name] for name in _ADDRESSES if plain.get(name)), None)
    dialect = _dialect(plain, address)
    if dialect not in TYPES:
        return Form({}, fault=f"has the transport {dialect!r}, which no harness here has")
    needed = "command" if dialect == "stdio" else "url"
    if not (plain.get("command") if needed == "command" else address):
        return Form({}, fault=f"is of type {dialect} and has no {needed}")
    dropped = (*_ADDRESSES, *_DIALECTS, *_SWITCHES, *(("command",) if needed == "url" else ()))
    rest = {key: value for key, value in plain.items() if key not in dropped}
    definition = {"type": dialect, **rest} if needed == "command" else {"type": dialect, "url": address, **rest}
    both = (FormRemark("url" if needed == "command" else "command", f"is left out: {needed} is used"),)
    twice = both if address and plain.get("command") else ()
    return Form(
        definition,
        remarks=(*misshapen, *twice, *_command_line(definition), *_secrets(definition), *_bare_references(definition)),
    )


def is_off(raw: Mapping[str, Any]) -> bool:
    """`enabled: false` or `disabled: true`, also as text (V23, V27)."""
    return _word(raw.get("enabled")) in _OFF or _word(raw.get("disabled")) in _ON


def absolute_paths(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the absolute paths in `command` and `args`, also after an option's `=`.

    A path that contains a reference is not known yet, and left out.
    """
    words = [definition.get("command", ""), *(definition.get("args") or ())]
    values = [word.partition("=")[2] if word.startswith("-") else word for word in words if isinstance(word, str)]
    return tuple(value for value in values if value.startswith("/") and "$" not in value and len(value) > 1)


def _word(value: Any) -> str:
    return "" if value is None else str(value).strip().lower()


def _dialect(plain: Mapping[str, Any], address: Any) -> str:
    """What was written, else what the definition looks like."""
    written = next((_word(plain[name]) for name in _DIALECTS if plain.get(name)), "")
    if written in _HTTP:
        return "http"
    if written == "local":
        return "stdio"
    if written and written != "remote":
        return written
    if plain.get("command") and written != "remote":
        return "stdio"
    path = re.split(r"[?#]", str(address or ""))[0].rstrip("/")
    return "sse" if path.endswith("/sse") else "http"


def _misshapen(raw: Mapping[str, Any]) -> str:
    """Why a definition has a core key of the wrong kind, "" where it has none."""
    for name in ("command", "cwd", *_ADDRESSES, *_DIALECTS):
        if raw.get(name) is not None and not isinstance(raw[name], str):
            return f"has a {name} that is not text"
    args = raw.get("args")
    if args is not None and not (isinstance(args, list) and all(isinstance(word, str) for word in args)):
        return "has args that are not a list of text"
    for name in ("env", "headers"):
        block = raw.get(name)
        if block is not None and not _is_text_map(block):
            odd = (
                [str(key) for key, value in block.items() if not isinstance(value, str)]
                if isinstance(block, Mapping)
                else []
            )
            return f"has a {name} that is not a mapping of text" + (f" ({', '.join(odd)})" if odd else "")
    for key, value in (raw.get("headers") or {}).items():
        if _BREAKS.search(key) or _BREAKS.search(value):
            return f"has a line break in header {key.split()[0] if key.split() else ''!r}"
    if not raw.get("command") and not any(raw.get(name) for name in _ADDRESSES):
        return "has neither command nor url"
    return ""


def _optional(raw: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[FormRemark, ...]]:
    """Return the definition without optional keys of the wrong kind.

    Claude Code would drop the whole server for one, and say nothing. A number or a switch that is written as text becomes what it means.
    """
    shaped = dict(raw)
    remarks: list[FormRemark] = []
    for name, (wanted, meaning) in _OPTIONAL.items():
        value = raw.get(name)
        if value is None:
            continue
        shaped[name] = meaning(value)
        if shaped[name] is None:
            remarks.append(FormRemark(name, f"is left out: it has to be {wanted}"))
    return shaped, tuple(remarks)


def _positive(value: Any) -> Any:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value) if len(value) < _LONGEST_NUMBER else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf else None


def _switch(value: Any) -> Any:
    word = _word(value)
    return True if word in _ON else False if word in _OFF else None


# Optional keys of Claude Code: what each has to be, and its value if it can be understood, else None.
_OPTIONAL: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "timeout": ("a number of milliseconds above 0", _positive),
    "alwaysLoad": ("true or false", _switch),
    "headersHelper": ("text, the command to run", lambda value: value if isinstance(value, str) and value else None),
    "oauth": ("a mapping", lambda value: value if isinstance(value, Mapping) else None),
}


def _command_line(definition: Mapping[str, Any]) -> Iterator[FormRemark]:
    """Yield a remark for a command that no harness can start.

    It holds arguments, or begins with a `~`, which nothing expands.
    """
    command = str(definition.get("command", ""))
    first, *rest = command.split() or [""]
    if command.startswith("~"):
        yield FormRemark("command", "begins with ~, which no harness expands; write ${HOME} or an absolute path")
    elif rest and ("/" not in first or any(word.startswith("-") for word in rest)):
        yield FormRemark("command", "holds arguments; no program has that name: put the arguments into `args`")


def _is_text_map(block: Any) -> bool:
    return isinstance(block, Mapping) and all(isinstance(value, str) for value in block.values())


def _renamed(value: Any) -> Any:
    """`${env:NAME}` as `${NAME}`, at every depth."""
    if isinstance(value, str):
        return _NAMED.sub(r"${\1", value)
    if isinstance(value, Mapping):
        return {key: _renamed(inner) for key, inner in value.items()}
    return [_renamed(inner) for inner in value] if isinstance(value, list) else value


def _secrets(definition: Mapping[str, Any]) -> Iterator[FormRemark]:
    """Yield a remark for each literal value that looks like a credential; it never shows the value (V25)."""
    message = "contains a literal value that looks like a credential; write ${NAME} and set the variable"
    for block in ("env", "headers"):
        for key, value in (definition.get(block) or {}).items():
            authorizing = block == "headers" and key.lower() in ("authorization", "proxy-authorization", "cookie")
            if (
                (authorizing or _SECRET_KEY.search(key))
                and value
                and not (_has_reference(value) or _BARE.search(value))
            ):
                yield FormRemark(f"{block}.{key}", message, is_credential=True)
    for key, text in _texts(definition):
        if "://" in text and _holds_password(text):
            yield FormRemark(key, message, is_credential=True)


def _has_reference(text: str) -> bool:
    # Nothing after the last brace can be one: a search there would run to the end for each `${NAME:-`.
    return _REFERENCE.search(text, 0, text.rfind("}") + 1) is not None


def _holds_password(text: str) -> bool:
    """Whether an address in a text holds a literal password."""
    from outfitter.syntax.address import user_parts

    # A reference may hold a colon of its own: `${USER:-me}`.
    passwords = (_without_references(part).partition(":")[2] for part in user_parts(text))
    return any(password and "\0" not in password for password in passwords)


def _without_references(text: str) -> str:
    """The text with a NUL in the place of each reference."""
    closed, brace, rest = text.rpartition("}")
    return _REFERENCE.sub("\0", closed + brace) + rest


def _bare_references(definition: Mapping[str, Any]) -> Iterator[FormRemark]:
    """Yield a remark for each `$NAME`, which no harness expands (V24).

    In a shell's arguments the shell expands it.
    """
    shell = str(definition.get("command", "")).rpartition("/")[2] in _SHELLS
    for key, text in _texts(definition):
        if _BARE.search(text) and not (shell and key.startswith("args")):
            yield FormRemark(key, "contains $NAME, which is passed as it is; write ${NAME} to have it replaced")


def _texts(definition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts in which a reference may stand, by key path."""
    for name in ("command", "url", "cwd"):
        if definition.get(name):
            yield name, definition[name]
    for number, word in enumerate(definition.get("args") or ()):
        yield f"args.{number}", word
    for block in ("env", "headers"):
        for key, value in (definition.get(block) or {}).items():
            yield f"{block}.{key}", value
