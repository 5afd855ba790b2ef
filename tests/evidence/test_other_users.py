"""Roots and inputs that this user may not use: found out before a run, or met without losing its evidence (spec/70)."""

import os
import stat

from outfitter.batch.inputs import select
from outfitter.evidence.files import check_root, write_pair
from outfitter.evidence.result import RESULT_PATH, TRACE_PATH
from tests.bridge.other_uid import as_nobody, open_directory


def test_an_empty_root_in_a_folder_of_somebody_else_takes_the_pair():
    """A mount point's parent is rarely the user's: the pair is written inside."""
    with open_directory() as top:
        (top / "locked/out").mkdir(parents=True)
        os.chown(top / "locked/out", 65534, 65534)

        def job():
            root = str(top / "locked/out")
            before = check_root(root)
            write_pair(root, {"a": 1}, {"b": 2})
            return before, [os.path.exists(os.path.join(root, name)) for name in (TRACE_PATH, RESULT_PATH)]

        assert as_nobody(job) == ("", [True, True])
        assert stat.S_IMODE((top / "locked/out").stat().st_mode) == 0o700
        assert os.listdir(top / "locked") == ["out"]


def test_a_root_that_cannot_be_read_or_made_private_is_refused():
    with open_directory() as top:
        (top / "blind").mkdir()
        os.chown(top / "blind", 65534, 65534)
        (top / "blind").chmod(0o300)
        (top / "shared").mkdir()
        (top / "shared").chmod(0o777)
        assert as_nobody(lambda: [check_root(str(top / name)) for name in ("blind", "shared")]) == [
            "Permission denied",
            "belongs to another user",
        ]


def test_inputs_that_cannot_be_read_fail_alone():
    with open_directory() as top:
        (top / "closed").mkdir(mode=0o700)
        (top / "secret.md").write_text("x")
        (top / "secret.md").chmod(0o600)
        (top / "open.md").write_text("x")
        found = as_nobody(lambda: [item[3:5] for item in select(["closed", "secret.md", "open.md"], str(top))])
        assert found == [("cannot be read: Permission denied", "failed")] * 2 + [("", "failed")]
