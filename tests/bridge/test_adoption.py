"""Links that the harness replaced, and directories of links (spec/95 LNK, CLS-05; spec/50)."""

import os

import pytest

from tests.bridge.bench import Bench


def test_a_replaced_file_is_adopted_with_its_mode(bench):
    """LNK-01."""
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", '{"old":1}', 0o640)
    b.age().launch()
    b.replace("settings.json", '{"new":1}')
    b.settle()
    assert durable.read_bytes() == b'{"new":1}'
    assert durable.stat().st_mode & 0o777 == 0o640
    change = b.changes["settings.json"]
    assert (change.change, change.outcome, change.size_before, change.size_after) == ("replaced-link", "adopted", 9, 9)
    assert b.settlement.notices == ()
    assert b.temporaries() == []


def test_a_replacement_with_the_same_bytes_is_nothing_to_do(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", '{"old":1}')
    b.launch()
    before = durable.stat()
    b.replace("settings.json", '{"old":1}')
    b.settle()
    assert durable.stat() == before
    assert b.outcome("settings.json") == "adopted"
    assert b.settlement.notices == ()


def test_a_concurrent_change_is_a_conflict_that_names_both(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/trust.json", "old")
    b.launch()
    b.replace("trust.json", "mine")
    durable.write_bytes(b"theirs")
    b.settle()
    assert durable.read_bytes() == b"theirs"
    assert b"mine" in b.kept()
    (warning,) = b.warnings("trust.json")
    assert str(durable) in warning.message
    assert str(b.state / "conflicts/run-1") in warning.message
    assert b.outcome("trust.json") == "conflict"


def test_a_write_through_the_link_is_durable_and_silent(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", "{}")
    b.launch()
    b.write("settings.json", '{"a":1}')
    b.settle()
    assert durable.read_bytes() == b'{"a":1}'
    change = b.changes["settings.json"]
    assert (change.change, change.outcome, change.strategy) == ("modified", "durable", "symlink")
    assert (change.size_before, change.size_after) == (2, 7)
    assert b.settlement.notices == ()


def test_a_deleted_link_deletes_nothing(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", "{}")
    b.launch()
    b.delete("settings.json")
    b.delete("sessions")
    b.settle()
    assert durable.read_bytes() == b"{}"
    assert (b.native / "sessions").is_dir()
    assert b.outcome("settings.json") == "discarded"
    assert b.settlement.notices == ()


def test_a_chain_of_links_stays(bench):
    b = bench("pi")
    final = b.put("a/final.json", "old")
    b.put("b/x").unlink()
    (b.home / "b/middle.json").symlink_to(final)
    b.native.mkdir(parents=True)
    (b.native / "settings.json").symlink_to(b.home / "b/middle.json")
    b.launch()
    b.replace("settings.json", "new")
    b.settle()
    assert final.read_bytes() == b"new"
    assert (b.native / "settings.json").is_symlink()
    assert (b.home / "b/middle.json").is_symlink()
    assert os.listdir(b.home / "b") == ["middle.json"]


def test_a_folded_directory_gets_what_is_written_through_it(bench):
    """LNK-07."""
    b = bench(generated={"skills/mine/SKILL.md": b"generated"})
    b.put("dot/skills/native/SKILL.md", "native")
    b.native.mkdir(parents=True)
    (b.native / "skills").symlink_to(b.home / "dot/skills")
    b.launch()
    assert (b.projection / "skills/native/SKILL.md").read_bytes() == b"native"
    b.write("skills/x/SKILL.md", "new")
    b.write("skills/native/SKILL.md", "edited")
    b.write("skills/mine/SKILL.md", "spoiled")
    b.write("skills/mine/more.md", "more")
    b.settle()
    assert b.durable_tree(b.home / "dot/skills") == {
        "native/SKILL.md": (0o644, b"edited"),
        "x/SKILL.md": (0o600, b"new"),
    }
    assert b.outcome("skills/x/SKILL.md") == "adopted"
    assert b.changes["skills/mine/SKILL.md"].zone == "generated"
    assert b.changes["skills/mine/more.md"].zone == "generated"
    assert b.warnings("generated files", "skills/mine/SKILL.md")


def test_a_replaced_directory_is_merged_file_by_file(bench):
    """LNK-08."""
    b = bench("pi")
    old, both = b.put(".pi/agent/sessions/p/old.jsonl", "old\n"), b.put(".pi/agent/sessions/p/both.jsonl", "s\n")
    gone = b.put(".pi/agent/sessions/p/gone.jsonl", "gone\n")
    b.age().launch()
    b.delete("sessions")
    b.write("sessions/p/new.jsonl", "new\n")
    b.write("sessions/p/old.jsonl", "old\nmore\n")
    b.write("sessions/p/both.jsonl", "mine\n")
    both.write_bytes(b"theirs\n")
    b.settle()
    assert (b.native / "sessions/p/new.jsonl").read_bytes() == b"new\n"
    assert old.read_bytes() == b"old\nmore\n"
    assert gone.read_bytes() == b"gone\n"
    assert both.read_bytes() == b"theirs\n"
    assert set(b.kept()) == {b"mine\n"}
    assert b.outcome("sessions") == "conflict"
    assert b.outcome("sessions/p/new.jsonl") == "adopted"
    assert b.outcome("sessions/p/both.jsonl") == "conflict"
    assert len(b.warnings("sessions/p/both.jsonl")) == 1


def test_a_file_touched_after_the_launch_counts_as_changed(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/sessions/a.jsonl", "old\n")
    b.age().launch()
    b.delete("sessions")
    b.write("sessions/a.jsonl", "mine\n")
    os.utime(durable, ns=(1, 1))
    b.settle()
    assert durable.read_bytes() == b"old\n", "an old mtime beside a new ctime is no proof"
    assert b"mine\n" in b.kept()


def test_a_cut_log_in_a_replaced_directory_is_no_news(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/sessions/a.jsonl", "one\ntwo\n")
    b.age().launch()
    b.delete("sessions")
    b.write("sessions/a.jsonl", "one\n")
    b.settle()
    assert durable.read_bytes() == b"one\ntwo\n"
    assert b"one\n" in b.kept()


def test_links_in_a_replaced_directory_stay_where_they_are(bench):
    b = bench("pi")
    b.launch()
    b.delete("npm")
    b.write("npm/bin/x", "x")
    (b.projection / "npm/bin/y").symlink_to("x")
    b.settle()
    assert b.durable_tree(b.native / "npm") == {"bin/x": (0o600, b"x")}
    assert b.warnings("npm/bin/y", "link to x", str(b.projection))
    assert not b.settlement.saved


def test_an_executable_stays_one(bench):
    b = bench("pi")
    b.launch()
    b.delete("npm")
    b.write("npm/tool", "#!/bin/sh\n").chmod(0o755)
    b.settle()
    assert b.durable_tree(b.native / "npm") == {"tool": (0o700, b"#!/bin/sh\n")}


def test_a_link_that_leads_elsewhere_now_is_said(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", "{}")
    b.launch()
    b.delete("settings.json")
    (b.projection / "settings.json").symlink_to("/elsewhere.json")
    b.settle()
    assert durable.read_bytes() == b"{}"
    assert b.changes["settings.json"].change == "relinked"
    assert b.warnings("settings.json", "/elsewhere.json")


def test_a_directory_where_a_file_is_declared_is_never_lost(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", "{}")
    b.launch()
    b.delete("settings.json")
    b.write("settings.json/inner", "x")
    b.settle()
    assert durable.read_bytes() == b"{}"
    assert b.warnings("settings.json")
    assert not b.settlement.saved


def test_a_lock_directory_is_silent_an_odd_one_is_not(bench):
    """CLS-05 and PIX-03: `auth.json` is a link to the one durable file, its lock is scratch."""
    b = bench("pi")
    b.launch()
    assert os.readlink(b.projection / "auth.json") == str(b.native / "auth.json")
    (b.projection / "auth.json.lock").mkdir()
    (b.projection / "odd.lock").mkdir()
    b.settle()
    assert not (b.native / "auth.json.lock").exists()
    assert b.outcome("auth.json.lock") == "discarded"
    assert b.outcome("odd.lock") == "warned"
    assert len(b.settlement.notices) == 1
    assert b.warnings("odd.lock")


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf{}", b'{"a":'])
def test_malformed_native_files_are_never_cleaned(bench, content):
    """PIX-06, JSN-04."""
    b = bench("pi")
    files = [b.put(f".pi/agent/{name}", content) for name in ("auth.json", "settings.json", "models.json")]
    b.launch()
    b.settle()
    assert [f.read_bytes() for f in files] == [content] * 3
    assert b.settlement.notices == ()


def test_registries_that_name_the_projection_name_the_durable_place(bench):
    b = bench()
    known = b.put(".claude/plugins/known_marketplaces.json", "{}")
    b.launch()
    inside = f"{b.projection}/plugins"
    b.replace(
        "plugins/known_marketplaces.json",
        f'{{"m": {{"installLocation": "{inside}/marketplaces/m", "n": 1.0, "other": "{inside}2/x"}}, "{inside}": "see {inside}"}}',
    )
    b.settle()
    native = f"{b.native}/plugins"
    assert known.read_text() == (
        f'{{"m": {{"installLocation": "{native}/marketplaces/m", "n": 1.0, "other": "{inside}2/x"}}, "{native}": "see {native}"}}'
    )
    (told,) = b.settlement.notices
    assert f"(m.other: {inside}2/x)" in told.message
    before = known.stat()
    b.settle()
    assert known.stat() == before


def test_a_registry_that_is_no_json_is_left(bench):
    b = bench()
    b.launch()
    b.write("plugins/installed_plugins.json", f'{{"{b.projection}/plugins/x')
    b.settle()
    assert (b.native / "plugins/installed_plugins.json").read_text().startswith(f'{{"{b.projection}')


def test_an_idle_run_says_nothing(tmp_path):
    """CLS-10."""
    for harness in ("pi", "claude"):
        for strategy in ("symlink", "warn", "error", "prompt"):
            b = Bench(tmp_path / harness / strategy, harness, {"settings.json": strategy, "unknown": "error"})
            b.put(b.native / "settings.json", "{}")
            for _ in range(2):
                b.launch().settle()
                assert (b.settlement.changes, b.settlement.notices) == ((), ())


def test_a_linked_entry_beside_generated_ones_that_was_replaced(bench):
    b = bench(generated={"skills/mine/SKILL.md": b"generated"})
    native = b.put(".claude/skills/native/SKILL.md", "native")
    other = b.put(".claude/skills/native/ref.md", "ref")
    b.age().launch()
    b.delete("skills/native")
    b.write("skills/native/SKILL.md", "rewritten")
    b.settle()
    assert native.read_bytes() == b"rewritten"
    assert other.read_bytes() == b"ref"
    assert b.changes["skills/native"].change == "replaced-link"
    assert b.outcome("skills/native") == "adopted"
    assert b.settlement.notices == ()


def test_a_kept_login_of_pi_s_is_a_credential(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/auth.json", '{"a": {"access": "old"}}')
    b.launch()
    b.replace("auth.json", '{"a": {"access": "mine"}}')
    durable.write_bytes(b'{"a": {"access": "theirs"}}')
    b.settle()
    assert durable.read_bytes() == b'{"a": {"access": "theirs"}}'
    assert '"credential": true' in b.kept()[b'{"a": {"access": "mine"}}']


@pytest.mark.parametrize("content", [b"", b'{"a": {"acc', b"[]"])
def test_a_login_of_pi_s_that_came_back_cut_replaces_none(bench, content):
    b = bench("pi")
    durable = b.put(".pi/agent/auth.json", '{"a": {"access": "old"}}')
    b.launch()
    b.replace("auth.json", content)
    b.settle()
    assert durable.read_bytes() == b'{"a": {"access": "old"}}'
    assert content in b.kept()
    assert b.warnings("auth.json", "not a JSON object any more")


def test_a_logout_of_pi_s_is_carried(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/auth.json", '{"a": {"access": "old"}}')
    b.launch()
    b.replace("auth.json", "{}")
    b.settle()
    assert durable.read_bytes() == b"{}"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away, which needs root")
def test_the_owner_stays(bench):
    """JSN-07."""
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", "{}", 0o640)
    os.chown(durable, 65534, 65534)
    b.launch()
    b.replace("settings.json", '{"a":1}')
    b.settle()
    status = durable.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (65534, 65534, 0o640)
