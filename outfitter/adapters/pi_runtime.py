"""The declared files of Pi that a run generates: settings.json, keybindings.json, models.json, mcp.json (006.7, 006.8, 006.9.3). Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.adapters.native_json import Json, json_bytes, json_object
from outfitter.adapters.pi_keybindings import keybindings
from outfitter.model.composition import Composition, Overlay
from outfitter.model.projection import Facts, Generated
from outfitter.model.request import Ambient, Notice
from outfitter.model.value import NamedTuple

NATIVE_FILES = ("settings.json", "keybindings.json", "models.json", "mcp.json", "auth.json")
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
    """A native file's path and bytes; one that is there but cannot be read is bytes that no reader accepts."""
    path = posixpath.join(facts.native, name)
    return path, b"\0" if path in facts.unreadable else facts.files.get(path)


def _settings(composition: Composition, facts: Facts, ambient: Ambient) -> Runtime:
    """Generated only if a package must go or an overlay brings settings; the native file in every other case (006.7.5)."""
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
    from outfitter.adapters.pi_packages import package_identity, reconcile

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
            notices.append(Notice("warning", "overlay-unreadable", f"{overlay.source}: not a JSON object; left out"))
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
    """The canonical registry and, verbatim, the native providers of other ids (006.9.3, 006.3.11); never written back."""
    canonical = registry_providers(composition.registry)
    if not canonical:
        return Runtime()
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
    return Runtime((Generated("models.json", json_bytes(value)),), notices)


def _with_key(provider: Any) -> Any:
    """A provider that takes no credential gets one that opens nothing: Pi would look for another login of that name."""
    return {**provider, "apiKey": NO_KEY} if isinstance(provider, Mapping) and not provider.get("apiKey") else provider


def stored_login(composition: Composition, facts: Facts) -> tuple[Notice, ...]:
    """The warning that Pi prefers a login it has stored under the selected provider's id to the registry's credential."""
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
    from outfitter.adapters.pi_mcp import merged_mcp

    content, notices = merged_mcp(_native(facts, "mcp.json"), overlays, composition, ambient.env)
    return Runtime((Generated("mcp.json", content),), notices)


def _mcp_overlays(overlays: Iterable[Overlay]) -> tuple[tuple[str, bytes], ...]:
    """The overlays' server files as they lie: every `.mcp.json`, over them every `mcp.json`, lower layers first."""
    found = [overlay for overlay in overlays if overlay.path in (".mcp.json", "mcp.json")]
    ordered = sorted(found, key=lambda overlay: overlay.path != ".mcp.json")
    return tuple((overlay.source, overlay.content) for overlay in ordered)
