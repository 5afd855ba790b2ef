"""The empty home and project that every test of the catalog starts from."""

import pytest

from tests.catalog.world import World


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)
