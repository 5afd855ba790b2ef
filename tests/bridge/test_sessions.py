"""The session bridge, row by row and case by case (spec/50, "Session bridge"; spec/95 SES)."""

import os

S1 = b'{"n":1}\n'


def test_a_changed_transcript_is_copied_back_private_with_its_time(bench):
    b = bench()
    h = b.history()
    b.age().launch()
    place = b.write(f"projects/{b.slug}/s1.jsonl", '{"n":2}\n', append=True)
    os.utime(place, ns=(1_000_000_000, 1_500_000_000))
    b.settle()
    assert h.read_bytes() == S1 + b'{"n":2}\n'
    assert h.stat().st_mode & 0o777 == 0o600
    assert h.stat().st_mtime_ns == 1_500_000_000
    assert b.outcome(f"projects/{b.slug}/s1.jsonl") == "bridged"
    assert b.settlement.notices == ()
    assert b.temporaries() == []


def test_new_files_land_in_their_own_folders(bench):
    b = bench()
    b.launch()
    b.write(f"projects/{b.slug}/new.jsonl", "new\n")
    b.write("projects/-elsewhere/e/deep.bin", "e\n")
    b.settle()
    assert b.durable_tree(b.native / "projects") == {
        f"{b.slug}/new.jsonl": (0o600, b"new\n"),
        "-elsewhere/e/deep.bin": (0o600, b"e\n"),
    }
    assert b.settlement.notices == ()


def test_both_sides_changed_is_kept_and_told_once(bench):
    """SES-03."""
    b = bench()
    h, g = b.history(), b.history("s2.jsonl")
    b.launch()
    for name, durable in (("s1.jsonl", h), ("s2.jsonl", g)):
        b.write(f"projects/{b.slug}/{name}", f"mine {name}\n", append=True)
        durable.write_bytes(S1 + b"theirs\n")
    b.settle()
    assert h.read_bytes() == S1 + b"theirs\n"
    assert S1 + b"mine s1.jsonl\n" in b.kept()
    assert S1 + b"mine s2.jsonl\n" in b.kept()
    (warning,) = b.warnings("s1.jsonl")
    assert warning in b.warnings("s2.jsonl")
    assert b.outcome(f"projects/{b.slug}/s1.jsonl") == "conflict"
    assert b.settlement.saved


def test_a_change_on_the_durable_side_alone_is_left(bench):
    b = bench()
    h = b.history()
    b.launch()
    h.write_bytes(S1 + b"theirs\n")
    before = h.stat()
    b.settle()
    assert h.stat() == before
    assert b.settlement.changes == ()
    assert b.settlement.notices == ()


def test_both_sides_alike_is_nothing_to_do(bench):
    b = bench()
    h = b.history()
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "same\n")
    h.write_bytes(b"same\n")
    b.settle()
    assert b.outcome(f"projects/{b.slug}/s1.jsonl") == "bridged"
    assert b.settlement.notices == ()


def test_deletions_are_never_carried_over(bench):
    """SES-01."""
    b = bench()
    for name in ("a.jsonl", "b.jsonl", "keep/sub/x.jsonl"):
        b.history(name)
    b.launch()
    b.delete(f"projects/{b.slug}/a.jsonl")
    b.delete(f"projects/{b.slug}/keep")
    before = b.durable_tree()
    b.settle()
    assert b.durable_tree() == before
    assert b.settlement.notices == ()


def test_a_cut_transcript_is_no_news(bench):
    b = bench()
    h, g, note = (
        b.history("s1.jsonl", b"one\ntwo\n"),
        b.history("s2.jsonl", b"one\n"),
        b.history("n.txt", b"one\ntwo\n"),
    )
    b.age().launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "one\n")
    b.write(f"projects/{b.slug}/s2.jsonl", "")
    b.write(f"projects/{b.slug}/n.txt", "one\n")
    b.settle()
    assert h.read_bytes() == b"one\ntwo\n"
    assert g.read_bytes() == b"one\n"
    assert note.read_bytes() == b"one\n", "only a log is never shortened"
    assert set(b.kept()) == {b"one\n", b""}
    assert len(b.warnings("s1.jsonl", "s2.jsonl", "cut")) == 1


def test_a_rewritten_transcript_that_is_no_prefix_is_taken(bench):
    b = bench()
    h = b.history("s1.jsonl", b"one\ntwo\n")
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "two\n")
    b.settle()
    assert h.read_bytes() == b"two\n"


def test_removed_from_the_durable_side_and_changed_is_a_conflict(bench):
    b = bench()
    h = b.history()
    b.launch()
    h.unlink()
    b.write(f"projects/{b.slug}/s1.jsonl", "mine\n")
    b.settle()
    assert not h.exists()
    assert b"mine\n" in b.kept()
    assert b.outcome(f"projects/{b.slug}/s1.jsonl") == "conflict"


def test_made_on_both_sides_is_a_conflict(bench):
    b = bench()
    b.launch()
    b.write(f"projects/{b.slug}/new.jsonl", "mine\n")
    h = b.history("new.jsonl", b"theirs\n")
    b.settle()
    assert h.read_bytes() == b"theirs\n"
    assert b"mine\n" in b.kept()


def test_merging_twice_changes_nothing(bench):
    b = bench()
    h = b.history()
    b.history("s2.jsonl")
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    b.write(f"projects/{b.slug}/s2.jsonl", "mine\n")
    b.history("s2.jsonl", b"theirs\n")
    b.settle()
    before, kept, stat = b.durable_tree(), b.kept(), h.stat()
    b.settle()
    assert b.durable_tree() == before
    assert b.kept() == kept
    assert h.stat() == stat


def test_the_order_of_changes_changes_nothing(bench, tmp_path):
    from outfitter.railway import perform
    from stages.bridge import bridge
    from stages.diff import diff
    from stages.fingerprint_again import fingerprint_again
    from tests.bridge.bench import Bench

    trees = []
    for turn in (1, -1):
        b = Bench(tmp_path / str(turn))
        for name in ("a/x.jsonl", "a.jsonl", "b/y/z.jsonl"):
            b.history(name)
        b.launch()
        for name in ("a/x.jsonl", "a.jsonl", "b/y/z.jsonl", "c/new.jsonl", "d.jsonl"):
            b.write(f"projects/{b.slug}/{name}", "changed\n", append=True)
        (b.native / "projects" / b.slug / "a.jsonl").write_bytes(b"theirs\n")
        host = b.host()
        actual = perform(fingerprint_again(host.trees, host.durable, b.record, b.baseline)).unwrap()
        changes = diff(b.record, b.baseline, actual).unwrap()
        perform(bridge(host.settling(), None, b.record, b.baseline, actual, changes[::turn]))
        trees.append(({k.replace(b.slug, "S"): v for k, v in b.durable_tree().items()}, sorted(b.kept())))
    assert trees[0] == trees[1]


def test_the_whole_deep_layout_goes_and_comes(bench):
    """SES-05, SES-06."""
    b = bench()
    names = [
        "id1.jsonl",
        "id1/subagents/agent-1.jsonl",
        "id1/subagents/agent-1.meta.json",
        "id1/subagents/workflows/w/journal.jsonl",
        "id1/workflows/w.json",
        "id1/workflows/scripts/s.js",
        "id1/tool-results/t.txt",
        "memory/m.md",
        "future/x/y/z.bin",
        "orphan/subagents/agent-a.jsonl",
    ]
    for name in names:
        b.history(name, name.encode())
    b.launch()
    seeded = sorted(
        str(p.relative_to(b.projection / "projects" / b.slug))
        for p in (b.projection / "projects" / b.slug).rglob("*")
        if p.is_file()
    )
    assert seeded == sorted(names)
    for name in names:
        b.write(f"projects/{b.slug}/{name}", b"+", append=True)
    b.settle()
    assert b.durable_tree(b.native / "projects" / b.slug) == {n: (0o600, n.encode() + b"+") for n in names}


def test_an_index_in_conflict_stops_no_transcript(bench):
    """SES-08."""
    b = bench()
    index, h = b.history("sessions-index.json", b"{}"), b.history()
    b.launch()
    b.write(f"projects/{b.slug}/sessions-index.json", '{"mine":1}')
    index.write_bytes(b'{"theirs":1}')
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    b.settle()
    assert index.read_bytes() == b'{"theirs":1}'
    assert h.read_bytes() == S1 + b"more\n"
    assert len(b.warnings("sessions-index.json")) == 1


def test_a_file_on_one_side_and_a_directory_on_the_other(bench):
    """SES-11."""
    b = bench()
    b.launch()
    (b.native / "projects" / b.slug / "x").mkdir(parents=True)
    b.history("y", b"file\n")
    b.write(f"projects/{b.slug}/x", "mine x\n")
    b.write(f"projects/{b.slug}/y/inner.jsonl", "mine y\n")
    b.write(f"projects/{b.slug}/fine.jsonl", "fine\n")
    b.settle()
    assert (b.native / "projects" / b.slug / "x").is_dir()
    assert (b.native / "projects" / b.slug / "y").read_bytes() == b"file\n"
    assert (b.native / "projects" / b.slug / "fine.jsonl").read_bytes() == b"fine\n"
    assert set(b.kept()) == {b"mine x\n", b"mine y\n"}
    assert len(b.warnings("/x", "y/inner.jsonl")) == 1


def test_a_linked_project_folder_stays_a_link(bench):
    """SES-13, the folder itself."""
    b = bench()
    shared = b.home / "shared/p"
    b.put("shared/p/s1.jsonl", S1)
    (b.native / "projects").mkdir(parents=True)
    (b.native / "projects" / b.slug).symlink_to(shared)
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    b.write(f"projects/{b.slug}/new.jsonl", "new\n")
    b.settle()
    assert (b.native / "projects" / b.slug).is_symlink()
    assert (shared / "s1.jsonl").read_bytes() == S1 + b"more\n"
    assert (shared / "new.jsonl").read_bytes() == b"new\n"
    assert b.settlement.notices == ()


def test_an_inner_link_is_not_followed(bench):
    """SES-13, inside the folder."""
    b = bench()
    b.history()
    b.put("dot/mem/m.md", "native\n")
    (b.native / "projects" / b.slug / "memory").symlink_to(b.home / "dot/mem")
    b.launch()
    assert not (b.projection / "projects" / b.slug / "memory/m.md").exists()
    b.settle()
    assert b.settlement.notices == (), "a run that wrote nothing there says nothing"
    b.write(f"projects/{b.slug}/memory/m.md", "mine\n")
    b.write(f"projects/{b.slug}/memory/n.md", "new\n")
    b.settle()
    assert b.durable_tree(b.home / "dot/mem") == {"m.md": (0o644, b"native\n")}
    assert set(b.kept()) == {b"mine\n", b"new\n"}
    assert len(b.warnings("memory/m.md", "memory/n.md")) == 1


def test_bytes_are_never_parsed(bench):
    """SES-16."""
    b = bench()
    content = b"\xff\xfe\0{bad\r\n\xed\xa0\x80 no newline"
    h = b.history("s1.jsonl", content)
    b.launch()
    b.write(f"projects/{b.slug}/s1.jsonl", content, append=True)
    b.settle()
    assert h.read_bytes() == content * 2


def test_untouched_files_are_not_touched(bench):
    """SES-20."""
    b = bench()
    files = [b.history(f"{i}.jsonl", b"%d\n" % i) for i in range(300)]
    b.age().launch()
    before = [f.stat() for f in files]
    b.settle()
    now = [f.stat() for f in files]
    assert [(s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for s in now] == [
        (s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for s in before
    ]
    assert b.settlement.changes == ()


def test_two_spellings_are_two_files(bench):
    """FPT-18."""
    b = bench()
    b.launch()
    for name in ("e\u0301.jsonl", "\u00e9.jsonl"):
        b.write(f"projects/{b.slug}/{name}", name)
    b.settle()
    assert len(b.durable_tree(b.native / "projects" / b.slug)) == 2


def test_names_that_are_no_utf8_or_very_long(bench):
    b = bench()
    b.launch()
    odd, long = os.fsdecode(b"fo\xffo.jsonl"), "l" * 250 + ".txt"
    for name in (odd, long):
        b.write(f"projects/{b.slug}/{name}", "x")
    b.settle()
    assert set(b.durable_tree(b.native / "projects" / b.slug)) == {odd, long}
    b.write(f"projects/{b.slug}/{odd}", "mine")
    (b.native / "projects" / b.slug / odd).write_bytes(b"theirs")
    b.settle()
    assert b"mine" in b.kept()


def test_special_files_and_links_are_said_and_left(bench):
    b = bench()
    b.history()
    b.launch()
    os.mkfifo(b.projection / "projects" / b.slug / "pipe")
    (b.projection / "projects" / b.slug / "away").symlink_to("/etc/passwd")
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    b.settle()
    assert set(b.durable_tree(b.native / "projects" / b.slug)) == {"s1.jsonl"}
    assert len(b.warnings("pipe (fifo)", "away")) == 1
    assert not b.warnings("undeclared")


def test_nothing_is_seeded_or_merged_under_another_strategy(bench):
    b = bench(handlings={"projects/": "discard"})
    h = b.history()
    b.launch()
    assert not list((b.projection / "projects").rglob("*.jsonl"))
    b.write(f"projects/{b.slug}/s1.jsonl", "mine\n")
    b.settle()
    assert h.read_bytes() == S1
    assert b.settlement.notices == ()
    assert b.outcome(f"projects/{b.slug}/s1.jsonl") == "discarded"


def test_the_strategy_shown_for_projects_is_symlink(bench):
    b = bench()
    b.launch()
    b.write(f"projects/{b.slug}/new.jsonl", "x")
    b.settle()
    change = b.changes[f"projects/{b.slug}/new.jsonl"]
    assert (change.zone, change.state_path, change.strategy, change.outcome) == (
        "declared",
        "projects/",
        "symlink",
        "bridged",
    )


def test_a_path_longer_than_the_system_takes_is_kept_and_stops_no_other(bench):
    """FPT-17."""
    b = bench()
    b.launch()
    top = b.write(f"projects/{b.slug}/ok.jsonl", "ok").parent
    handle = os.open(top, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("dddddddd", dir_fd=handle)
        inner = os.open("dddddddd", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    leaf = os.open("leaf.jsonl", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=handle)
    os.write(leaf, b"leaf")
    os.close(leaf)
    os.close(handle)
    b.settle()
    assert (b.native / "projects" / b.slug / "ok.jsonl").read_bytes() == b"ok"
    assert set(b.kept()) == {b"leaf"}
    assert b.settlement.saved
    (warning,) = b.warnings("leaf.jsonl", "File name too long")
    assert len(warning.message) < 1500
