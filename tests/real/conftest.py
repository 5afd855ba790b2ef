"""The test bed of the real programs: installed once, run on a throw-away machine against the project's own model server.

Skipped, with the reason in the summary, only where the registry cannot be reached.
"""

import pytest

from outfitter.demo.modelserver.server import ModelServer
from tests.real.machine import TOKEN, RealMachine
from tests.real.programs import OutOfReachError, pinned, programs


def pytest_collection_modifyitems(items):
    for item in items:
        if "/tests/real/" in str(item.path):
            item.add_marker(pytest.mark.real)


@pytest.fixture(scope="session")
def real_programs():
    """The three programs, each at its pinned version."""
    try:
        found = programs()
    except OutOfReachError as error:
        pytest.skip(f"the package registry cannot be reached: {error}")
    assert found.versions == pinned()
    return found


@pytest.fixture
def model():
    """The scripted model server; a test sets its `script` with `steps`."""
    with ModelServer(token=TOKEN) as server:
        yield server


@pytest.fixture
def real(tmp_path, real_programs, model):
    """A throw-away machine with the real programs on its PATH."""
    top = tmp_path / "m"
    top.mkdir()
    made = RealMachine(top, real_programs, model)
    yield made
    made.close()
