"""Signals after the harness ended, and words that cannot be printed (spec/50)."""

import signal
import subprocess


def test_the_first_signal_while_saving_shortens_nothing(drive):
    process = drive.start("note('up')", env={"SAVE": "0.5"})
    drive.wait_for(drive.ready.exists)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err.decode().count("saving what this run wrote") == 1
    assert "all is saved" in err.decode()


def test_a_second_signal_leaves_it_to_recovery(drive):
    process = drive.start("note('up')", env={"SAVE": "20"})
    drive.wait_for(drive.ready.exists)
    process.send_signal(signal.SIGINT)
    process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "outfitter recover" in err.decode()
    assert not drive.report.exists()


def test_a_signal_that_the_harness_died_of_is_not_the_first_while_saving(drive):
    process = drive.start("note('up'); nap()", env={"SAVE": "0.3"})
    drive.wait_seen("up")
    process.send_signal(signal.SIGTERM)
    drive.wait_for(drive.ready.exists)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert err.decode().count("saving what this run wrote") == 1
    assert drive.report.exists()


def test_saving_goes_on_with_the_output_gone_and_keeps_the_words(drive):
    process = drive.start("nap(0.3)", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    process.stderr.close()
    assert process.wait(timeout=30) == 0
    assert drive.log() == "notice: all is saved\n"


def test_closed_descriptors_are_fine(drive):
    words = [
        "/bin/sh",
        "-c",
        'exec "$@" <&- >&- 2>&-',
        "sh",
        *drive.words("for n in (0, 1, 2): note(os.readlink(f'/proc/self/fd/{n}'))"),
    ]
    assert subprocess.run(words, env=drive.env(), timeout=30, check=False).returncode == 0
    assert drive.lines() == ["/dev/null"] * 3
    assert drive.log() == "notice: all is saved\n"


def test_words_kept_in_the_log_are_private(drive):
    process = drive.start("nap(0.2)")
    process.stdout.close()
    process.stderr.close()
    process.wait(timeout=30)
    log = drive.top / "home/.local/state/outfitter/runs/driven.log"
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700


def test_old_logs_go_when_a_new_one_begins(tmp_path):
    import os

    from outfitter.edges.terminal import RunLog, logs

    for name, age in (("old", 40), ("young", 20)):
        log = RunLog(str(tmp_path))
        log.run_id = name
        log.add("words")
        moment = os.stat(tmp_path / f"runs/{name}.log").st_mtime - age * 86400
        os.utime(tmp_path / f"runs/{name}.log", (moment, moment))
    log = RunLog(str(tmp_path))
    log.run_id = "new"
    log.add("words")
    assert logs(str(tmp_path)) == [str(tmp_path / "runs/new.log"), str(tmp_path / "runs/young.log")]
