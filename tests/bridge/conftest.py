import pytest

from tests.bridge.bench import Bench


@pytest.fixture
def bench(tmp_path):
    """Make benches over this test's own directory."""

    def make(harness="claude", handlings=None, generated=None, **options):
        return Bench(tmp_path, harness, handlings, generated, **options)

    return make
