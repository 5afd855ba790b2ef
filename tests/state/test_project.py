"""A plan carried out: the table of spec/50, "Materializing, before launch", on real directories."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from returns.result import Success

from outfitter.adapters import Adapter
from outfitter.host import Terminal
from outfitter.model.errors import CompositionFailed, EffectFailed
from outfitter.model.projection import Bridge, Copied, Facts, Generated, LaunchPlan, Seed
from outfitter.railway import fold
from outfitter.run.plan_checks import violations
from stages.plan_projection import plan_projection
from tests.effects import fake
from tests.state.standing import SILENT, built, composition, plan, prepared, resolution, stand


@pytest.fixture
def here(tmp_path):
    return stand(tmp_path)


def put(path, text="", mode=0o644):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def project(here, *declared, retain=False, **more):
    occupied, projected = built(here, prepared(here, plan(*declared, **more), retain=retain))
    return Path(occupied.record.projection), projected


def rows(projected, side="rows"):
    return {os.fsdecode(row.path): row for row in getattr(projected, side) if row.tag != "d"}


def test_a_symlinked_file_is_a_link_and_its_missing_target_is_made(here):
    native = here.home / "n/trust.json"
    at, projected = project(here, resolution("trust.json", "symlink", str(native), create=b"{}"))
    assert os.readlink(at / "trust.json") == str(native)
    assert native.read_bytes() == b"{}"
    row = rows(projected, "durable")["trust.json"]
    assert (row.digest, row.size) == (blake3(b"{}").digest(), 2)
    status = native.stat()
    assert row.identity == (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
    assert not rows(projected)


def test_the_link_names_the_native_place_and_the_row_tells_of_the_final_target(here):
    put(here.home / "dot/real.json", "1")
    (here.home / "n").mkdir()
    (here.home / "n/trust.json").symlink_to("../dot/real.json")
    at, projected = project(here, resolution("trust.json", "symlink", str(here.home / "n/trust.json")))
    assert os.readlink(at / "trust.json") == str(here.home / "n/trust.json")
    assert rows(projected, "durable")["trust.json"].identity.inode == (here.home / "dot/real.json").stat().st_ino


def test_a_symlinked_directory_is_a_link_and_nothing_behind_it_is_looked_at(here):
    put(here.home / "n/plugins/deep/x", "1")
    at, projected = project(
        here,
        resolution("plugins/", "symlink", str(here.home / "n/plugins")),
        resolution("cache/", "symlink", str(here.home / "n/cache/")),
    )
    assert os.readlink(at / "plugins") == str(here.home / "n/plugins")
    assert os.readlink(at / "cache") == str(here.home / "n/cache")
    assert stat.S_IMODE((here.home / "n/cache").stat().st_mode) == 0o700
    assert not projected.rows
    assert not projected.durable


def test_discard_is_an_empty_directory_and_an_absent_file(here):
    put(here.home / "n/cache/x", "1")
    put(here.home / "n/s.json", "1")
    at, projected = project(
        here,
        resolution("cache/", "discard", str(here.home / "n/cache")),
        resolution("s.json", "discard", str(here.home / "n/s.json")),
    )
    assert list((at / "cache").iterdir()) == []
    assert stat.S_IMODE((at / "cache").stat().st_mode) == 0o700
    assert not (at / "s.json").exists()
    assert not projected.durable


def test_scratch_is_not_made_before_the_harness_makes_it(here):
    native = str(here.home / "n/history.jsonl")
    at, _ = project(
        here,
        resolution("auth.json.lock/", "discard", scratch=True),
        resolution("todos/", "warn", scratch=True),
        resolution("history.jsonl", "symlink", native, scratch=True),
    )
    assert [path.name for path in at.iterdir()] == ["history.jsonl"]
    assert os.readlink(at / "history.jsonl") == native


@pytest.mark.parametrize("strategy", ["warn", "error", "prompt"])
def test_a_watched_file_starts_as_a_private_copy(here, strategy):
    native = put(here.home / "n/settings.json", '{"a":1}', 0o644)
    at, projected = project(
        here,
        resolution("settings.json", strategy, str(native)),
        resolution("absent.json", strategy, str(here.home / "n/absent.json")),
        resolution("made.json", strategy, str(here.home / "n/made.json"), initial=b"{}"),
    )
    copy = at / "settings.json"
    assert copy.read_bytes() == b'{"a":1}'
    assert not copy.is_symlink()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert not (at / "absent.json").exists()
    assert (at / "made.json").read_bytes() == b"{}"
    assert not (here.home / "n/made.json").exists()
    assert not (here.home / "n/absent.json").exists()
    assert rows(projected)["settings.json"].digest == rows(projected, "durable")["settings.json"].digest
    assert set(rows(projected)) == {"settings.json", "made.json"}
    assert set(rows(projected, "durable")) == {"settings.json"}
    assert rows(projected, "durable")["settings.json"].mode == 0o644


@pytest.mark.parametrize("strategy", ["warn", "error"])
def test_a_watched_directory_starts_empty(here, strategy):
    put(here.home / "n/plugins/x", "1")
    at, _ = project(here, resolution("plugins/", strategy, str(here.home / "n/plugins")))
    assert list((at / "plugins").iterdir()) == []


def test_a_directory_under_prompt_starts_as_a_copy(here):
    put(here.home / "n/plugins/deep/x", "1")
    put(here.home / "n/plugins/y", "2")
    put(here.home / "n/plugins/made/native", "3")
    at, projected = project(
        here,
        resolution("plugins/", "prompt", str(here.home / "n/plugins")),
        generated=(Generated("plugins/made/ours", b"4"),),
    )
    assert (at / "plugins/deep/x").read_text() == "1"
    assert (at / "plugins/y").read_text() == "2"
    assert not (at / "plugins/made/native").exists()
    assert {"plugins/deep/x", "plugins/y"} == set(rows(projected, "durable"))
    assert {"plugins/deep/x", "plugins/y", "plugins/made/ours"} == set(rows(projected))


def test_an_absent_directory_under_prompt_starts_empty(here):
    at, _ = project(here, resolution("plugins/", "prompt", str(here.home / "n/plugins")))
    assert list((at / "plugins").iterdir()) == []


def test_a_directory_with_generated_entries_is_real_with_links_to_the_others(here):
    put(here.home / "n/skills/native/SKILL.md", "n")
    put(here.home / "n/skills/both/SKILL.md", "n")
    put(here.home / "n/skills/loose.md", "l")
    at, projected = project(
        here,
        resolution("skills/", "symlink", str(here.home / "n/skills")),
        generated=(Generated("skills/both/SKILL.md", b"ours"),),
    )
    assert not (at / "skills").is_symlink()
    assert (at / "skills/both/SKILL.md").read_text() == "ours"
    assert os.readlink(at / "skills/native") == str(here.home / "n/skills/native")
    assert os.readlink(at / "skills/loose.md") == str(here.home / "n/skills/loose.md")
    assert (here.home / "n/skills/both/SKILL.md").read_text() == "n"
    assert set(rows(projected, "durable")) == {"skills/loose.md"}


def test_a_generated_file_takes_the_place_of_a_declared_one(here):
    native = put(here.home / "n/settings.json", "native")
    at, projected = project(
        here,
        resolution("settings.json", "symlink", str(native)),
        resolution("mcp.json", "error", str(here.home / "n/mcp.json")),
        generated=(Generated("settings.json", b"ours"), Generated("mcp.json", b"{}", True)),
    )
    assert (at / "settings.json").read_text() == "ours"
    assert native.read_text() == "native"
    assert stat.S_IMODE((at / "mcp.json").stat().st_mode) == 0o700
    assert rows(projected)["mcp.json"].tag == "x"
    assert not projected.durable


def test_copied_files_keep_the_execute_bit_and_lead_nowhere(here):
    source = put(here.home / "layer/run.sh", "#!/bin/sh\n", 0o755)
    at, projected = project(
        here, copied=(Copied(str(source), "skills/x/run.sh", True), Copied(str(source), "skills/x/a"))
    )
    assert not (at / "skills/x/run.sh").is_symlink()
    assert stat.S_IMODE((at / "skills/x/run.sh").stat().st_mode) == 0o700
    assert stat.S_IMODE((at / "skills/x/a").stat().st_mode) == 0o600
    assert rows(projected)["skills/x/run.sh"].tag == "x"


def test_seeds_are_planted_with_both_digests_and_kept_times(here):
    session = put(here.home / "n/projects/-w/s1.jsonl", "line\n")
    put(here.home / "n/projects/-other/s.jsonl", "secret")
    put(here.home / "n/.credentials.json", "{}", 0o600)
    os.utime(session, ns=(1, 1_600_000_000_123_456_789))
    bridges = (
        Bridge("sessions", "projects/", str(here.home / "n/projects")),
        Bridge("credentials", ".credentials.json", str(here.home / "n/.credentials.json")),
    )
    at, projected = project(
        here,
        resolution("projects/", "symlink", str(here.home / "n/projects")),
        bridges=bridges,
        seeds=(
            Seed(str(here.home / "n/projects/-w"), "projects/-w/"),
            Seed(str(here.home / "n/.credentials.json"), ".credentials.json"),
            Seed(str(here.home / "n/nowhere"), "projects/-n/"),
            Seed(str(here.home / "n/absent.json"), "absent.json"),
        ),
    )
    assert not (at / "projects").is_symlink()
    assert (at / "projects/-w/s1.jsonl").stat().st_mtime_ns == 1_600_000_000_123_456_789
    assert not (at / "projects/-other").exists()
    assert not (at / "absent.json").exists()
    assert set(rows(projected, "durable")) == {"projects/-w/s1.jsonl", ".credentials.json"} == set(rows(projected))
    assert not projected.notices


def test_a_seed_that_fails_is_a_warning_and_the_launch_goes_on(here):
    (here.home / ".credentials.json").mkdir()
    at, projected = project(here, seeds=(Seed(str(here.home / ".credentials.json"), ".credentials.json"),))
    (notice,) = projected.notices
    assert notice.level == "warning"
    assert ".credentials.json" in notice.message
    assert not (at / ".credentials.json").exists()


def test_lnk_09_a_native_directory_that_leads_nowhere_ends_the_launch_with_the_settings_that_help(here):
    (here.home / ".claude").symlink_to("gone")
    native = str(here.home / ".claude")
    _, error = project(
        here,
        resolution("settings.json", "symlink", native + "/settings.json", ("symlink", "warn", "error", "prompt")),
        resolution("auth.json", "symlink", native + "/auth.json", ("symlink", "error", "prompt")),
        resolution("skills/", "symlink", native + "/skills"),
    )
    assert isinstance(error, EffectFailed)
    assert error.path == native
    assert "gone" in error.reason
    assert "settings.json: warn, auth.json: error, skills/: discard" in error.hint
    assert sorted(path.name for path in here.home.iterdir()) == [".claude", ".local"]


def test_a_durable_path_of_the_wrong_kind_names_the_line_that_helps(here):
    (here.home / "n/trust.json").mkdir(parents=True)
    _, error = project(
        here,
        resolution("trust.json", "symlink", str(here.home / "n/trust.json"), ("symlink", "warn")),
        resolution("ok.json", "symlink", str(here.home / "n/ok.json")),
    )
    assert isinstance(error, EffectFailed)
    assert error.path == str(here.home / "n/trust.json")
    assert "{trust.json: warn}" in error.hint
    assert "ok.json" not in error.hint
    assert (here.home / "n/trust.json").is_dir()


def test_what_lies_below_a_linked_directory_is_not_placed_again(here):
    at, _ = project(
        here,
        resolution("plugins/", "symlink", str(here.home / "n/plugins")),
        resolution("plugins/known.json", "symlink", str(here.home / "n/plugins/known.json")),
        resolution("plugins/tmp/", "discard"),
    )
    assert [path.name for path in at.iterdir()] == ["plugins"]
    assert list((here.home / "n/plugins").iterdir()) == []


def test_a_retained_run_keeps_small_originals_but_no_credential(here):
    put(here.home / "n/settings.json", "settings")
    put(here.home / "n/auth.json", "secret")
    put(here.home / "n/watched", "w")
    put(here.home / "n/large", "x" * (256 * 1024 + 1))
    at, _ = project(
        here,
        *(resolution(name, "symlink", str(here.home / "n" / name)) for name in ("settings.json", "auth.json", "large")),
        resolution("watched", "warn", str(here.home / "n/watched")),
        generated=(Generated("prompt.md", b"p"), Generated("env.json", b'{"x": "hidden-token"}')),
        bridges=(Bridge("credentials", "creds", "/n"),),
        launch=LaunchPlan("/bin/true", (), {"ANTHROPIC_AUTH_TOKEN": "hidden-token"}, ()),
        retain=True,
    )
    kept = at.parent / "originals"
    assert {str(path.relative_to(kept)): path.read_text() for path in kept.rglob("*") if path.is_file()} == {
        "settings.json": "settings",
        "watched": "w",
        "prompt.md": "p",
    }
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in kept.iterdir())


def test_nothing_original_is_kept_of_a_run_that_is_not_retained(here):
    at, _ = project(here, generated=(Generated("prompt.md", b"p"),))
    assert not (at.parent / "originals").exists()


def admit(made, unsupported=()):
    nothing: Any = None
    given = Adapter("pi", "pi", "V", ".pi", "", (), nothing, nothing, lambda _: unsupported, lambda *_: Success(made))
    facts = Facts("/bin/pi", "/n", "/c", "/t/projection", "/p", {})
    outcome = plan_projection(given, nothing, nothing, nothing, facts, nothing)
    return fold(outcome, lambda good: good, lambda error: error)


def test_unsupported_elements_are_one_warning_each():
    good = admit(plan(unsupported=("mcp", "plugins")), ("plugins", "subagents"))
    assert good.unsupported == ("mcp", "plugins", "subagents")
    assert [notice.code for notice in good.notices] == ["unsupported-element"] * 3
    assert all(notice.level == "warning" for notice in good.notices)


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"generated": (Generated("../x", b""),)}, "'../x'"),
        ({"generated": (Generated("/etc/x", b""),)}, "'/etc/x'"),
        ({"generated": (Generated("a//b", b""),)}, "'a//b'"),
        ({"generated": (Generated("", b""),)}, "''"),
        ({"generated": (Generated("a/../../x", b""),)}, "'a/../../x'"),
        ({"generated": (Generated("a\0b", b""),)}, "inside"),
        ({"generated": (Generated("a" * 256, b""),)}, "255"),
        ({"copied": (Copied("/s", "../x"),)}, "'../x'"),
        ({"seeds": (Seed("/s", "../x/"),)}, "'../x/'"),
        ({"bridges": (Bridge("sessions", "../x/", "/d"),)}, "'../x/'"),
        ({"generated": (Generated("a", b""), Generated("a", b""))}, "twice"),
        ({"generated": (Generated("a", b""),), "copied": (Copied("/s", "a"),)}, "twice"),
        ({"generated": (Generated("a", b""),), "seeds": (Seed("/s", "a"),)}, "twice"),
        ({"generated": (Generated("a", b""), Generated("a/b", b""))}, "below 'a'"),
        ({"generated": (Generated("d", b""),)}, "declared as a directory"),
        ({"generated": (Generated("f.json/x", b""),)}, "below 'f.json'"),
    ],
)
def test_a_plan_that_leaves_its_place_is_refused(more, word):
    error = admit(plan(resolution("d/", "symlink", "/n/d"), resolution("f.json", "symlink", "/n/f"), **more))
    assert isinstance(error, CompositionFailed)
    assert word in error.message
    assert error.message.startswith("pi: ")


def test_a_sound_plan_has_no_fault():
    made = plan(
        resolution("d/", "symlink", "/n/d"),
        resolution("f.json", "symlink", "/n/f"),
        generated=(Generated("d/x", b""), Generated("f.json", b"")),
        copied=(Copied("/s", "d/y"),),
        seeds=(Seed("/s", "p/a/"),),
    )
    assert violations(made) == ()


def test_seeding_tells_how_far_it_is(here):
    for number in range(10):
        put(here.home / f"n/p/s{number}", "x")
    seen = []
    terminal = fake(Terminal, SILENT, progress=lambda label: lambda done, total: seen.append((label, done, total)))
    from outfitter.railway import perform
    from stages.project import project as stage
    from tests.state.standing import opened

    ready = prepared(here, plan(seeds=(Seed(str(here.home / "n/p"), "projects/p/"),)))
    perform(stage(here.projecting, terminal, ready, opened(here, ready).record))
    assert seen[-1] == ("copying projects/p/", 10, 10)
    assert composition().agent == "a"
