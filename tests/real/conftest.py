"""The test bed of the real programs: installed once, run on a throw-away machine against the project's own model server.

Skipped, with one line in the summary, where the registry cannot be used; a program that is installed and does not run fails.
"""

import pytest

from outfitter.demo.modelserver.server import ModelServer
from tests.real.machine import TOKEN, RealMachine
from tests.real.programs import RegistryUnusableError, pinned, programs

UNUSABLE = "the real programs cannot be installed"


def pytest_collection_modifyitems(items):
    for item in items:
        if "/tests/real/" in str(item.path):
            item.add_marker(pytest.mark.real)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Give every test that the missing programs skip one location, so that the summary has one line for all."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and UNUSABLE in report.longrepr[2]:
        report.longrepr = (str(item.config.rootpath / "tests/real"), 1, report.longrepr[2])
    return report


@pytest.fixture(scope="session")
def real_programs():
    """The three programs, each at its pinned version."""
    try:
        found = programs()
    except RegistryUnusableError as error:
        pytest.skip(f"{UNUSABLE}: {error}")
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
