"""The budget of `test_imports`: what no warm launch imports before the harness runs, and how much of our own it may."""

FORBIDDEN = (
    "asyncio",
    "concurrent.futures",
    "importlib.metadata",
    "importlib.resources",
    "jsonschema_rs",
    "logging",
    "multiprocessing",
    "outfitter.bridging",
    "outfitter.edges.durable",
    "outfitter.syntax.yaml_core",
    "returns.pipeline",
    "returns.pointfree",
    "rich",
    "shutil",
    "stages.bridge",
    "stages.diff",
    "subprocess",
    "tempfile",
    "yaml",
)
MOST_MODULES = 108
MOST_CLASSES = 24
