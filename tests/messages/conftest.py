"""The switch that writes the transcripts of all cases again."""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--update-messages", action="store_true", help="write the transcripts of tests/messages/cases again"
    )


@pytest.fixture
def updating(request):
    return bool(request.config.getoption("--update-messages", default=False))
