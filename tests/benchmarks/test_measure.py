"""Racing and reporting: what counts, what is verified, and how it is told."""

import json
import sys

import pytest

from benchmarks import page, report
from benchmarks.claims import Claim
from benchmarks.measure import Contender, Figures, Spawner, race
from benchmarks.peers import Peers, find
from benchmarks.tasks import Result

SAY = (sys.executable, "-c", "print('said')")


def test_every_contender_runs_in_every_round_and_the_first_round_does_not_count():
    turns = []
    racing = [Contender(name, SAY, before=lambda name=name: turns.append(name)) for name in "abc"]
    figures = race(racing, 2)
    assert turns == [*"abc", *"bca", *"cab"]
    assert [one.rounds for one in figures] == [2, 2, 2]
    assert all(0 < one.minimum <= one.median for one in figures)
    assert all(one.verified is None for one in figures)


def test_one_wrong_result_in_any_round_is_told():
    answers = iter([True, False, True])
    (figures,) = race([Contender("a", SAY, check=lambda out: out == "said\n" and next(answers))], 2)
    assert figures.verified is False


def test_a_command_that_fails_is_an_error_with_its_own_words():
    failing = Contender("a", (sys.executable, "-c", "import sys; sys.stderr.write('oh no'); sys.exit(3)"))
    with Spawner() as spawner, pytest.raises(RuntimeError, match=r"a: exit 3: .*oh no"):
        spawner.run_once(failing)


def test_peak_memory_is_the_command_s_own():
    ballast = bytearray(80_000_000)
    with Spawner() as spawner:
        small = spawner.run_once(Contender("a", SAY))
        large = spawner.run_once(
            Contender("b", (sys.executable, "-c", "x = bytearray(60_000_000); x[::4096] = x[::4096]"))
        )
    assert small.peak < 50_000_000 < large.peak
    assert len(ballast) > large.peak - small.peak


def test_a_stamp_ends_the_time_before_the_exit(tmp_path):
    code = f"import time; open({str(tmp_path / 's')!r}, 'w').write(str(time.time_ns())); time.sleep(0.6)"
    stamped = Contender("a", (sys.executable, "-c", code), stamp=str(tmp_path / "s"))
    with Spawner() as spawner:
        assert spawner.run_once(stamped).wall < spawner.run_once(stamped._replace(stamp="")).wall


def test_a_missing_peer_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find(sys.executable, "", "node", wanted=True)
    assert found.programs == {}
    assert {"b3sum", "git", "rsync", "@ai-outfitter/outfitter"} <= {name for name, _ in found.missing}
    assert all(reason for _, reason in found.missing)


def _result(ours, theirs, required=1.15):
    figures = [Figures("outfitter", ours, ours, 1, 10**6, 3, True), Figures("b3sum", theirs, theirs, 1, 10**6, 3, None)]
    claims = (Claim("outfitter", "b3sum", required, 0.9), Claim("outfitter", "", 2, what="memory"))
    return Result("cold fingerprint", "N20k", 20_000, 840_000_000, figures, claims)


def test_the_table_says_whether_a_requirement_holds():
    text = report.table(_result(1.0, 1.0))
    assert text.startswith("cold fingerprint, N20k: 20,000 files, 840 MB\n")
    assert text.endswith("  1.00 x b3sum (at most 1.15, aim 0.9): holds\n  memory: 1 MB at its peak (at most 2): holds")
    assert "FALLS SHORT" in report.table(_result(2.0, 1.0))
    alone = _result(2.0, 1.0)
    alone = alone._replace(figures=alone.figures[:1])
    assert report.verdicts(alone) == ["memory: 1 MB at its peak (at most 2): holds"]


def test_the_document_and_the_plots(tmp_path):
    pytest.importorskip("matplotlib")
    peers = Peers({}, "", frozenset(), "", "", (("git", "not on PATH"),))
    document = json.loads(json.dumps(report.document({"cores": 2}, [_result(1.0, 2.0)], peers)))
    assert document["missing_peers"] == [{"peer": "git", "reason": "not on PATH"}]
    ratio, memory = document["results"][0]["claims"]
    assert (ratio["reached"], ratio["holds"], ratio["said"]) == (0.5, True, "0.50 x b3sum")
    assert (memory["what"], memory["reached"], memory["said"]) == ("memory", 1, "1 MB at its peak")
    assert "| cold fingerprint, memory | N20k | 1 MB at its peak | 2 |  | holds |" in page.ratios(document)
    written = report.plot(document, str(tmp_path))
    assert [path.rsplit("/", 1)[1] for path in written] == ["cold-fingerprint.png", "cold-fingerprint.svg"]
