"""What binds a verified pair to its task, input and configuration when it is published (seed 004, spec/70). Pure."""

from typing import Any, NamedTuple

from outfitter.evidence.canonical import digest

MANIFEST_VERSION = 1


class Binding(NamedTuple):
    """What the caller knows of an attempt: digests are BLAKE3 hex of the file's bytes, "" where it was not given."""

    task: str = ""
    input_name: str = ""
    input_digest: str = ""
    config_name: str = ""
    config_digest: str = ""
    supersedes: str = ""


def manifest(trace: dict[str, Any], result: dict[str, Any], binding: Binding, published_ns: int) -> dict[str, Any]:
    """The manifest of a verified pair. Without both input and configuration it is bounded: it proves the run, not what it ran on."""
    return {
        "schema_version": MANIFEST_VERSION,
        "attempt": trace["run"]["id"],
        "task": binding.task,
        "input": {"name": binding.input_name, "digest": binding.input_digest} if binding.input_digest else None,
        "configuration": {"name": binding.config_name, "digest": binding.config_digest}
        if binding.config_digest
        else None,
        "resolved_configuration_digest": digest(
            {name: trace["hashes"][name] for name in ("settings", "strategies", "plan")}
        ),
        "trace_digest": digest(trace),
        "result_digest": digest(result),
        "verdict": result["verdict"],
        "bounded": not (binding.input_digest and binding.config_digest),
        "supersedes": binding.supersedes or None,
        "published_ns": published_ns,
    }


def expired(manifests: dict[str, dict[str, Any]], now_ns: int, older_than_days: float, keep: int) -> list[str]:
    """Names of published attempts older than so many days, oldest first, the newest `keep` always spared."""
    by_age = sorted(manifests, key=lambda name: (manifests[name]["published_ns"], name))
    spared = set(by_age[len(by_age) - keep :]) if keep > 0 else set()
    limit = now_ns - int(older_than_days * 86_400_000_000_000)
    return [name for name in by_age if name not in spared and manifests[name]["published_ns"] < limit]
