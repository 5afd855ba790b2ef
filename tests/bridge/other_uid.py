"""Running part of a test as somebody who is not root: permission cases pass vacuously otherwise."""

import os
import pickle
import shutil
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


def _import_all():
    """What is imported on use would be looked for by the other user, who may not reach this interpreter's files."""
    import importlib
    import pkgutil

    import outfitter.bridge
    import outfitter.edges

    for package in (outfitter.bridge, outfitter.edges):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)


@contextmanager
def open_directory():
    """A directory that another user can reach and owns."""
    top = Path(tempfile.mkdtemp(prefix="other-"))
    os.chown(top, NOBODY, NOBODY)
    top.chmod(0o755)
    try:
        yield top
    finally:
        for folder, _, _ in os.walk(top):
            os.chmod(folder, 0o700)
        shutil.rmtree(top)


def as_nobody(job):
    """What `job()` returns, run in a child as another user; its failure is the caller's."""
    _import_all()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            answer = (True, job())
        except BaseException:  # noqa: BLE001 - the parent says what it was
            answer = (False, traceback.format_exc())
        with open(write, "wb") as out:
            out.write(pickle.dumps(answer))
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    good, value = pickle.loads(data)
    assert good, value
    return value
