"""Making trees on disk for the tests of fingerprints, from a plain description."""

import os


def make(root, entries):
    """`entries`: raw or text path → bytes (or how many of them), (these, mode), "link:<target>", "fifo" or None for a directory. Parents are made."""
    top = os.fsencode(root)
    os.makedirs(top, exist_ok=True)
    for name, value in entries.items():
        path = os.path.join(top, name if isinstance(name, bytes) else name.encode())
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if value is None:
            os.makedirs(path, exist_ok=True)
        elif value == "fifo":
            os.mkfifo(path)
        elif isinstance(value, str):
            os.symlink(value.removeprefix("link:"), path)
        else:
            content, mode = value if isinstance(value, tuple) else (value, 0o644)
            with open(path, "wb") as file:
                file.write(b"x" * content if isinstance(content, int) else content)
            os.chmod(path, mode)
    return str(root)
