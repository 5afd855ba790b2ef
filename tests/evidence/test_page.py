"""spec/70: the report is one page that asks for nothing, whatever the names in it."""

import json
import re
from html.parser import HTMLParser

from hypothesis import given

from outfitter.batch.rows import Attempt, Input, report
from outfitter.evidence.page import batch_page, run_page
from outfitter.evidence.result import reconstruct
from outfitter.evidence.trace import trace_of
from tests.evidence.strategies import reports, steps

NASTY = "<script>alert(1)</script>&\"'"


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []
        self.text = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert not [tag for tag, _ in reader.tags if tag in ("script", "link", "img", "iframe", "object")]
    assert not [attrs for _, attrs in reader.tags if {"src", "href", "onclick", "onload"} & set(attrs)]
    assert not re.search(r"url\(|@import|https?:", page)
    return "".join(reader.text)


@given(reports(), steps)
def test_a_run_page_shows_verdict_and_every_change(report, notes):
    trace = trace_of(report, notes, 100)
    text = read(run_page(trace, reconstruct(trace), []))
    assert reconstruct(trace)["verdict"] in text
    assert all(change.path.strip() in text for change in report.settlement.changes)


def test_a_page_escapes_what_it_is_told():
    inputs = [Input(NASTY, "k", "d")]
    page = batch_page(report(NASTY, "pi", inputs, {"k": Attempt("k", "failed", NASTY, 1, NASTY, True)}, complete=False))
    assert NASTY in read(page)
    assert "interrupted" in page


def test_a_broken_pair_says_so_first():
    page = run_page(*_pair(), [("outcome-drift", "result.verdict: edited")])
    assert page.index("does not hold") < page.index("Stages") if "Stages" in page else "does not hold" in page


def _pair():
    from outfitter.model.outcome import ChildExit, Settlement
    from outfitter.model.projection import Record, Report
    from tests.evidence.strategies import prepared

    record = Record("r", "a", "pi", "/t", 1, 2, 0, 5, "", False, False, "/p", "/h", "/n", "/c", (), "warn", (), ())
    trace = json.loads(json.dumps(trace_of(Report(prepared(), record, ChildExit(0), Settlement()), (), 9)))
    return trace, reconstruct(trace)
