"""The report in a real headless browser: it is drawn, and it asks the network for nothing (spec/70)."""

import re
import shutil
import subprocess

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no headless browser is installed")]
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars")  # fmt: skip


def browse(machine, *words):
    command = [BROWSER, *QUIET, f"--user-data-dir={machine.top / 'profile'}", *words]
    env = {"HOME": str(machine.top), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=env, capture_output=True, timeout=90, check=True)


def test_a_report_is_drawn_and_asks_for_nothing(machine):
    machine.agent("a")
    machine.settings("state_persistence: {plugins/: warn}\n")
    script = [
        ["write", "odd <b>name</b>.txt", "1"],
        ["fill", "plugins/p", 30, 10],
        ["write", "settings.json", '{"t": 1}'],
    ]
    machine.run("run", "a", "--out", str(machine.top / "ev"), script=script)
    page = machine.top / "page.html"
    assert machine.run("report", str(machine.top / "ev"), "--html", str(page)).code == 0
    log = machine.top / "net.json"
    shot = machine.top / "page.png"
    dom = browse(
        machine,
        f"--log-net-log={log}",
        "--window-size=1000,1400",
        f"--screenshot={shot}",
        "--dump-dom",
        f"file://{page}",
    ).stdout.decode()
    assert "odd &lt;b&gt;name&lt;/b&gt;.txt" in dom
    assert "31" not in re.findall(r"verdict (\w+)", dom)
    assert shot.exists()
    assert shot.stat().st_size > 10_000
    asked = set(re.findall(r'"url":"((?:https?|ftp|ws):[^"]+)"', log.read_text(errors="replace")))
    assert not {url for url in asked if "example" in url or str(page) in url}
    assert not re.findall(r"(?:src|href)=", page.read_text())
