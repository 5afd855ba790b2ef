"""Seed 004, spec/70: the result is a fold of the trace, and no edit of either goes unseen."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outfitter.evidence.files import schema_faults
from outfitter.evidence.result import SECTIONS, reconstruct, unstarted
from outfitter.evidence.trace import trace_of
from outfitter.evidence.verify import TRACE_UPGRADES, compare, upgraded
from outfitter.run.verdict import run_code
from tests.evidence.strategies import SECRET, failures, reports, steps


def pair(report, notes):
    trace = json.loads(json.dumps(trace_of(report, notes, 100)))
    return trace, json.loads(json.dumps(reconstruct(trace)))


def leaves(value, path=()):
    if isinstance(value, dict) and value:
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path


def edited(document, path):
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    old = at[path[-1]]
    at[path[-1]] = (not old) if isinstance(old, bool) else old + 1 if isinstance(old, int | float) else "edited"
    return changed


@given(reports(), steps)
def test_the_result_is_reconstructed_from_the_trace_and_both_are_valid(report, notes):
    trace, result = pair(report, notes)
    assert reconstruct(trace) == result
    assert compare(trace, result) == ()
    assert schema_faults(trace, "trace") == ()
    assert schema_faults(result, "result") == ()


@given(reports(), steps)
def test_the_verdict_is_pass_exactly_where_the_run_exits_with_0(report, notes):
    _, result = pair(report, notes)
    assert (result["verdict"] == "pass") == (run_code(report) == 0)


@given(reports(), steps)
def test_what_nobody_looked_at_lowers_the_certainty(report, notes):
    trace, result = pair(report, notes)
    unseen = trace["coverage"]["unobserved"]
    if not report.record.states:
        assert unseen == ["*"]
        assert (result["confidence"], result["epistemic_status"]) == (0.0, "unobserved")
    elif any(state.key.endswith("/") for state in report.record.states):
        assert unseen == ["sessions/", "npm/"]
        assert result["confidence"] < 1
        assert result["epistemic_status"] == "uncertain"
    else:
        assert unseen == []
    if unseen:
        assert "every change" not in result["convergence"]["reason"]


@given(reports(), steps)
def test_a_trace_that_names_nothing_unobserved_is_read_as_before(report, notes):
    trace, _ = pair(report, notes)
    del trace["coverage"]["unobserved"]
    assert schema_faults(trace, "trace") == ()
    assert reconstruct(trace)["epistemic_status"] in ("certain", "uncertain")


@given(reports(), steps, st.data())
def test_any_single_edit_of_either_file_is_found_and_classified(report, notes, data):
    trace, result = pair(report, notes)
    whole = {"trace": trace, "result": result}
    file = data.draw(st.sampled_from(["trace", "result"]))
    path = data.draw(st.sampled_from(list(leaves(whole[file]))))
    whole[file] = edited(whole[file], path)
    _, refused = upgraded(whole[file], file)
    found = (refused,) if refused else schema_faults(whole[file], file) or compare(whole["trace"], whole["result"])
    assert found
    assert {row.kind for row in found} <= {"schema", "config-drift", "model-drift", "state-drift", "outcome-drift"}
    if file == "trace" and not refused and not schema_faults(whole[file], file):
        section = next(name for name, keys in SECTIONS.items() if path[0] in keys)
        assert f"{section}-drift" in {row.kind for row in found}


@given(reports(), steps)
def test_nothing_secret_goes_into_either_file(report, notes):
    trace, result = pair(report, notes)
    assert SECRET not in json.dumps([trace, result])


@given(reports(ended=failures))
def test_a_harness_that_never_started_leaves_a_veto_without_a_trace(report):
    result = unstarted("run-1", report.ended, "linux")
    assert (result["verdict"], result["trace_path"]) == ("veto", None)
    assert schema_faults(json.loads(json.dumps(result)), "result") == ()


def test_a_dry_run_is_never_presented_as_an_execution():
    result = unstarted("run-1", None, "linux")
    assert (result["verdict"], result["stop_reason"], result["trace_path"]) == ("veto", "dry-run", None)


@pytest.mark.parametrize("version", [0, 2, "1", None, True])
def test_a_version_without_a_declared_mapping_is_refused(version):
    _, refused = upgraded({"schema_version": version}, "trace")
    assert refused
    assert refused.kind == "schema"


@settings(max_examples=20)
@given(reports(), steps)
def test_an_upgrade_of_an_older_trace_keeps_the_result(report, notes):
    trace, result = pair(report, notes)
    older = {**trace, "schema_version": 0, "convergence": None}
    TRACE_UPGRADES[0] = lambda old: {**old, "schema_version": 1, "convergence": trace["convergence"]}
    try:
        now, refused = upgraded(older, "trace")
    finally:
        del TRACE_UPGRADES[0]
    assert refused is None
    assert reconstruct(now) == result
