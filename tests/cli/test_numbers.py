"""Numbers on the command line: what no clock can count to is a usage error, told in one line (spec/80)."""

import argparse

import pytest

from outfitter.cli.parser import count, days, seconds, several


@pytest.mark.parametrize("text", ["inf", "1e300", "nan", "-1", "x", "1e9"])
@pytest.mark.parametrize("kind", [days, seconds])
def test_what_no_clock_can_count_to(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"number|too large"):
        kind(text)


@pytest.mark.parametrize("kind", [several, count])
def test_whole_numbers_stay_exact(kind):
    assert kind("9007199254740993") == 9007199254740993
