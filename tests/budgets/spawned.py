"""The budget of `test_imports`: what no warm launch imports before the harness runs, and how much of our own it may."""

FORBIDDEN = (
    "asyncio",
    "concurrent.futures",
    "importlib.metadata",
    "importlib.resources",
    "jsonschema_rs",
    "logging",
    "multiprocessing",
    "outfitter.catalog.skill_files",
    "outfitter.bridge.context",
    "outfitter.bridge.durable",
    "outfitter.syntax.yaml_core",
    "outfitter.bridge.threeway",
    "outfitter.run.ownership",
    "returns.pipeline",
    "returns.pointfree",
    "rich",
    "shutil",
    "stages.bridge",
    "stages.cleanup",
    "stages.diff",
    "stages.fingerprint_again",
    "subprocess",
    "tempfile",
    "yaml",
)
MOST_MODULES = 103
MOST_CLASSES = 24
# Modules of a launch whose rows are `typing`'s, because a launch makes very many of them.
# `model.value` names it for the type checker alone.
HOT_ROWS = {"outfitter.fingerprint.tree", "outfitter.model.outcome", "outfitter.model.value"}
