"""The declared files that a run generates: settings, keybindings, models and mcp (`.json`).

006.7, 006.8, 006.9.3. Pure.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.adapters.native_json import Json, json_bytes, json_object
from outfitter.model.composition import Composition, Overlay, Server
from outfitter.model.projection import Facts, Generated
from outfitter.model.request import Ambient, Notice, resolved
from outfitter.model.value import NamedTuple

MODE_KEY = "shift+tab"
THINKING_KEY = "ctrl+shift+t"
THINKING_ACTION = "app.thinking.cycle"
# The action's name before Pi gave its actions dotted names.
_OLD_THINKING_ACTION = "cycleThinkingLevel"
# A comment that is not closed is kept, by its two first characters: it runs to the end of the file.
_COMMENTS = rb"//[^\n]*|/\*(?s:.*?)\*/|(/\*)(?s:.*)"


def keybindings(sources: Iterable[tuple[str, bytes | None]]) -> tuple[bytes, tuple[Notice, ...]]:
    """Return the generated file, and one notice for each source that cannot be read.

    `sources` are (path, bytes) of the native file and the overlays, lowest first.
    """
    merged: Json = {}
    notices: list[Notice] = []
    for path, raw in sources:
        if raw is None or not re.sub(_COMMENTS, rb"\1", raw.removeprefix(b"\xef\xbb\xbf")).strip():
            continue
        found = json_object(raw)
        if found is None:
            message = f"{path}: not a JSON object; its key bindings are left out of this run"
            notices.append(Notice("warning", "keybindings-unreadable", message))
        else:
            merged |= {action: kept for action, value in found.items() if (kept := _unreserved(value)) is not None}
    merged.pop(_OLD_THINKING_ACTION, None)
    merged[THINKING_ACTION] = THINKING_KEY
    return json_bytes(merged), tuple(notices)


def _unreserved(value: Any) -> str | list[str] | None:
    """Return a binding without the reserved keys; None if nothing is left, or if it is not a binding."""
    if isinstance(value, str):
        return None if _key(value) in _RESERVED else value
    if not isinstance(value, list) or not all(isinstance(key, str) for key in value):
        return None
    kept = [key for key in value if _key(key) not in _RESERVED]
    return kept if kept or not value else None


def _key(text: str) -> tuple[str, ...]:
    """A key with its modifiers in one order: `Ctrl+Shift+T` and `shift+ctrl+t` are one."""
    return tuple(sorted(part.strip() for part in text.lower().split("+")))


_RESERVED = frozenset({_key(MODE_KEY), _key(THINKING_KEY)})


NATIVE_FILES = ("settings.json", "keybindings.json", "models.json", "mcp.json", "auth.json")
# Providers built into Pi that keep a login under their own name, which may be stored while a run lasts.
BUILT_IN = frozenset(
    [
        "amazon-bedrock",
        "ant-ling",
        "anthropic",
        "azure-openai-responses",
        "baseten",
        "cerebras",
        "deepseek",
        "fireworks",
        "github-copilot",
        "google",
        "google-gemini-cli",
        "google-antigravity",
        "google-vertex",
        "groq",
        "huggingface",
        "kimi-coding",
        "meta",
        "minimax",
        "minimax-cn",
        "mistral",
        "moonshotai",
        "moonshotai-cn",
        "nvidia",
        "openai",
        "openai-codex",
        "opencode",
        "openrouter",
        "radius",
        "together",
        "typesafe",
        "vercel-ai-gateway",
        "xai",
        "xiaomi",
        "zai",
    ]
)
# What a provider without a credential is given, for Pi wants one to offer its models.
NO_KEY = "none"


class Runtime(NamedTuple):
    """Generated files at declared paths, and what to say about them."""

    generated: tuple[Generated, ...] = ()
    notices: tuple[Notice, ...] = ()


def runtime_files(composition: Composition, facts: Facts, ambient: Ambient) -> Runtime:
    """All declared files that this composition needs generated; those not among them stay native state."""
    parts = (
        _settings(composition, facts, ambient),
        _keybindings(composition, facts),
        _models(composition, facts),
        _servers(composition, facts, ambient),
    )
    return Runtime(
        tuple(one for part in parts for one in part.generated), tuple(one for part in parts for one in part.notices)
    )


def overlaid(composition: Composition, name: str) -> tuple[Overlay, ...]:
    """The overlays' files of one path, lowest layer first."""
    return tuple(overlay for overlay in composition.overlays if overlay.path == name)


def _native(facts: Facts, name: str) -> tuple[str, bytes | None]:
    """Return a native file's path and bytes; bytes that no reader accepts if it is unreadable."""
    path = posixpath.join(facts.native, name)
    return path, b"\0" if path in facts.unreadable else facts.files.get(path)


def _settings(composition: Composition, facts: Facts, ambient: Ambient) -> Runtime:
    """Generate `settings.json` only if a package must go or an overlay brings settings (006.7.5).

    Otherwise Pi gets the native file.
    """
    overlays = overlaid(composition, "settings.json")
    if not composition.extensions and not overlays:
        return Runtime()
    path, raw = _native(facts, "settings.json")
    native = {} if raw is None or not raw.strip() else json_object(raw)
    if native is None:
        return _unreadable_settings(path, bool(overlays))
    return _reconciled(composition, facts, ambient, native, overlays)


def _reconciled(
    composition: Composition, facts: Facts, ambient: Ambient, native: Json, overlays: tuple[Overlay, ...]
) -> Runtime:
    over, notices = _overlay_settings(overlays)
    brought = [package_identity(source, ambient.cwd, ambient.home) for source in composition.extensions]
    result = reconcile({**native, **over}, brought, facts.native, ambient.home)
    if result is None:
        unreadable = _unreadable_settings(posixpath.join(facts.native, "settings.json"), bool(over))
        return Runtime((), (*notices, *unreadable.notices))
    if not result.removed and not over:
        return Runtime((), notices)
    said = tuple(
        Notice(
            "notice",
            "package-doubled",
            f"Pi package {source!r} of your settings comes with the agent already; taken once",
        )
        for source in result.removed
    )
    return Runtime((Generated("settings.json", json_bytes(result.settings)),), (*notices, *said))


def _overlay_settings(overlays: tuple[Overlay, ...]) -> tuple[Json, tuple[Notice, ...]]:
    merged: Json = {}
    notices: list[Notice] = []
    for overlay in overlays:
        found = json_object(overlay.content)
        if found is None:
            notices.append(Notice("warning", "overlay-unreadable", f"{overlay.source}: not a JSON object; skipped"))
        else:
            merged |= found
    return merged, tuple(notices)


def _unreadable_settings(path: str, overlay: bool) -> Runtime:
    level, rest = ("warning", ", and the overlay's settings are left out") if overlay else ("notice", "")
    message = f"{path}: cannot be read safely; Pi gets it as it is{rest}"
    return Runtime((), (Notice("warning" if level == "warning" else "notice", "settings-unreadable", message),))


def _keybindings(composition: Composition, facts: Facts) -> Runtime:
    sources = [_native(facts, "keybindings.json")]
    sources += [(overlay.source, overlay.content) for overlay in overlaid(composition, "keybindings.json")]
    content, notices = keybindings(sources)
    return Runtime((Generated("keybindings.json", content),), notices)


def _models(composition: Composition, facts: Facts) -> Runtime:
    """Return the canonical registry, and native providers of other ids as they are (006.9.3, 006.3.11).

    The file is never written back.
    """
    stored = _logins(composition, facts)
    all_providers = registry_providers(composition.registry)
    canonical = {name: provider for name, provider in all_providers.items() if name not in stored}
    if not canonical:
        return Runtime((), tuple(map(_kept_from, stored.items())))
    path, raw = _native(facts, "models.json")
    native = {} if raw is None or not raw.strip() else json_object(raw)
    providers = {} if native is None else native.get("providers", {})
    notices: tuple[Notice, ...] = ()
    if native is None or not isinstance(providers, dict):
        native, providers = {}, {}
        notices = (
            Notice("warning", "models-unreadable", f"{path}: cannot be read; its providers are left out of this run"),
        )
    keyed = {name: _with_key(provider) for name, provider in canonical.items()}
    value = {**native, "providers": {**providers, **keyed}}
    told = (*notices, *map(_kept_from, stored.items()))
    return Runtime((Generated("models.json", json_bytes(value)),), told)


def _logins(composition: Composition, facts: Facts) -> dict[str, str]:
    """Return provider → host for each foreign host that would get a login which Pi has or may store."""
    if not composition.foreign_hosts:
        return {}
    _, raw = _native(facts, "auth.json")
    logins = {} if raw is None or not raw.strip() else json_object(raw)
    return {
        name: host
        for name, host in composition.foreign_hosts.items()
        if logins is None or name in logins or not _has_models(composition, name) or name in BUILT_IN
    }


def _has_models(composition: Composition, name: str) -> bool:
    """Whether a provider brings models of its own; one without changes a provider that is built in."""
    provider = registry_providers(composition.registry).get(name)
    return bool(isinstance(provider, Mapping) and provider.get("models"))


def _kept_from(row: tuple[str, str]) -> Notice:
    name, host = row
    text = f"provider {name!r} is left out: Pi would send the login it stores for {name!r} to {host}, which this tree names"
    return Notice(
        "warning", "login-host", text, f"if {host} may have it, add it to trusted_hosts in ~/.agents/settings.yml"
    )


def _with_key(provider: Any) -> Any:
    """Give a provider without a credential a key that opens nothing.

    Pi would otherwise look for another login of that name.
    """
    return {**provider, "apiKey": NO_KEY} if isinstance(provider, Mapping) and not provider.get("apiKey") else provider


def stored_login(composition: Composition, facts: Facts) -> tuple[Notice, ...]:
    """Warn that Pi prefers a stored login of the selected provider's id to the registry's credential."""
    target = composition.model
    path, raw = _native(facts, "auth.json")
    if target is None or target.kind != "registry" or target.provider not in (json_object(raw) or {}):
        return ()
    message = f"{path}: Pi has a login stored for provider {target.provider!r} and sends that to {target.base_url}"
    hint = f"pi auth logout {target.provider}, or give the provider another id"
    return (Notice("warning", "login-preferred", message, hint),)


def registry_providers(registry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The providers of a canonical registry, by id; {} where no layer has one."""
    providers = registry.get("providers", {})
    return providers if isinstance(providers, Mapping) else {}


def _servers(composition: Composition, facts: Facts, ambient: Ambient) -> Runtime:
    overlays = _mcp_overlays(composition.overlays)
    if not overlays and not composition.servers:
        return Runtime()
    content, notices = merged_mcp(_native(facts, "mcp.json"), overlays, composition, ambient.env)
    return Runtime((Generated("mcp.json", content),), notices)


def _mcp_overlays(overlays: Iterable[Overlay]) -> tuple[tuple[str, bytes], ...]:
    """Return the overlays' server files: every `.mcp.json`, then every `mcp.json`, lower layers first."""
    found = [overlay for overlay in overlays if overlay.path in (".mcp.json", "mcp.json")]
    ordered = sorted(found, key=lambda overlay: overlay.path != ".mcp.json")
    return tuple((overlay.source, overlay.content) for overlay in ordered)


_PI_ID = re.compile(r"^[A-Za-z0-9_-]+$")
_DEFAULTED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):-([^}]*)\}")
_IDENTITIES = ("id", "name", "source", "path")


def merged_mcp(
    native: tuple[str, bytes | None],
    overlays: Iterable[tuple[str, bytes]],
    composition: Composition,
    env: Mapping[str, str],
) -> tuple[bytes, tuple[Notice, ...]]:
    """The generated file, and what to say.

    `native` and `overlays` are (path, bytes), lowest first. A file that is not a JSON object is skipped with a warning.
    """
    merged: Json = {}
    notices: list[Notice] = []
    for path, raw in (native, *overlays):
        if raw is None or not raw.strip():
            continue
        found = json_object(raw)
        if found is None:
            message = f"{path}: not a JSON object; its MCP servers are left out of this run"
            notices.append(Notice("warning", "mcp-unreadable", message))
        else:
            merged = merge_documents(merged, found)
    selected, lost = _selected(composition, env)
    merged = merge_documents(merged, {"mcpServers": selected})
    return json_bytes(merged), (*notices, *lost)


def merge_documents(low: Mapping[str, Any], high: Mapping[str, Any]) -> Json:
    """Merge two `.mcp.json` documents (006.3.10).

    Servers are replaced whole by id, other mappings merge key by key, arrays by the identity of their entries.
    """
    made = dict(low)
    for key, value in high.items():
        old = made.get(key)
        if key == "mcpServers" and isinstance(old, dict) and isinstance(value, dict):
            made[key] = {**old, **value}
        elif isinstance(old, dict) and isinstance(value, dict):
            made[key] = merge_documents(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            made[key] = list({_identity(entry): entry for entry in (*old, *value)}.values())
        else:
            made[key] = value
    return made


def _identity(entry: Any) -> str:
    """What makes an array entry the same as another: its id or name, else its whole content."""
    if isinstance(entry, dict):
        for key in _IDENTITIES:
            if isinstance(entry.get(key), str):
                return f"{key}={entry[key]}"
    return json.dumps(entry, sort_keys=True)


def _selected(composition: Composition, env: Mapping[str, str]) -> tuple[Json, tuple[Notice, ...]]:
    """The selected servers as Pi can take them, and a warning for each that it would drop without a word.

    By default Pi offers a server's tools through its script tool alone. Where an allow list names them, they are offered
    directly: the script tool is not on that list.
    """
    made: Json = {}
    notices: list[Notice] = []
    agent = composition.agent
    direct = {} if composition.tools.allow is None else {"exposure": "direct"}
    for server in composition.servers:
        why = _refused(server)
        if why:
            message = f"agent {agent}: MCP server {server.id!r}: {why}; skipped"
            notices.append(Notice("warning", "mcp-omitted", message))
            continue
        if "available_tools" in server.definition:
            message = f"agent {agent}: MCP server {server.id!r}: pi has no list of available_tools; all its tools are in reach"
            notices.append(Notice("warning", "mcp-tools-unlimited", message))
        made[server.id] = _defaulted({**direct, **server.definition}, env)
    return made, tuple(notices)


def _refused(server: Server) -> str:
    if not _PI_ID.match(server.id):
        return "pi takes only letters, digits, _ and - in a server's name"
    kind = server.definition.get("type")
    return "" if kind in (None, "stdio", "http") else f"pi has no {kind!r} transport"


def _defaulted(value: Any, env: Mapping[str, str]) -> Any:
    """Replace each `${NAME:-text}`, which Pi does not know, by `${NAME}` if it is set, else by the text.

    See spec/15 V24.
    """
    if isinstance(value, str):
        # Nothing after the last brace can be one: a search there would run to the end for each `${NAME:-`.
        closed, brace, rest = value.rpartition("}")
        return _DEFAULTED.sub(lambda m: "${" + m[1] + "}" if env.get(m[1]) else m[2], closed + brace) + rest
    if isinstance(value, dict):
        return {key: _defaulted(inner, env) for key, inner in value.items()}
    return [_defaulted(inner, env) for inner in value] if isinstance(value, list) else value


_SCHEMES = ("https://", "http://", "ssh://", "git://", "git+https://", "git+ssh://", "file://")
_SCP = re.compile(r"^(?:[^@/\s]+@)([^:/\s]+):(?!//)(.+)$")


class Reconciled(NamedTuple):
    """Settings with the doubled packages taken out, and the sources that went."""

    settings: Json
    removed: tuple[str, ...]


def package_identity(source: str, base: str, home: str) -> str:
    """One name for all spellings of a package (006.7.2).

    npm: the name without its version; git: host and path without scheme, user, `.git` and ref; else the absolute path,
    a relative one standing in `base`.
    """
    text = source.strip()
    if text.startswith("npm:"):
        return "npm:" + _npm_name(text[4:].strip())
    if text.startswith("github:"):
        return _git_identity("github.com/" + text[7:])
    if text.startswith("git:") and not text.startswith("git://"):
        return _git_identity(text[4:].strip())
    if text.startswith("file://"):
        return "path:" + posixpath.normpath(_unquoted(text.removeprefix("file://")))
    if text.startswith(_SCHEMES) or _SCP.match(text):
        return _git_identity(text)
    return "path:" + resolved(text, home, base)


def reconcile(settings: Json, brought: Iterable[str], native: str, home: str) -> Reconciled | None:
    """Return the settings without the `packages` entries that are in `brought` (006.7.1, 3).

    Everything else is kept, in order.

    None where `packages` is not what Pi writes, so that nothing is guessed (006.7.5).
    """
    packages = settings.get("packages", [])
    if not isinstance(packages, list):
        return None
    sources = [_source(entry) for entry in packages]
    if any(source is None for source in sources):
        return None
    taken = frozenset(brought)
    doubled = [package_identity(str(source), native, home) in taken for source in sources]
    removed = tuple(str(source) for source, gone in zip(sources, doubled, strict=True) if gone)
    if not removed:
        return Reconciled(settings, ())
    kept = [entry for entry, gone in zip(packages, doubled, strict=True) if not gone]
    return Reconciled({**settings, "packages": kept}, removed)


def distinct(sources: tuple[str, ...], base: str, home: str) -> tuple[str, ...]:
    """Return each package once, in its first place and last spelling: an agent's beats its parents'."""
    return tuple({package_identity(source, base, home): source for source in sources}.values())


def _source(entry: Any) -> str | None:
    """The source of an entry: a string, or an object with one."""
    value = entry.get("source") if isinstance(entry, dict) else entry
    return value if isinstance(value, str) and value.strip() else None


def _npm_name(spec: str) -> str:
    """`@scope/name@1.2` → `@scope/name`."""
    start = 1 if spec.startswith("@") else 0
    at = spec.find("@", start)
    return (spec if at < 0 else spec[:at]).strip()


def _git_identity(url: str) -> str:
    scp = _SCP.match(url)
    if scp:
        host, path = scp[1], scp[2]
    else:
        bare = url.split("://", 1)[1] if "://" in url else url
        authority, _, path = bare.partition("/")
        host = authority.rpartition("@")[2].partition(":")[0]
    path = path.partition("#")[0].partition("@")[0]
    path = _unquoted(path).strip("/").removesuffix(".git").strip("/")
    return f"git:{host.lower()}/{path}"


def _unquoted(text: str) -> str:
    """A URL's path with its percent escapes resolved."""
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)
