"""A throw-away machine whose PATH holds the real programs, and the requests that reach its loopback model server."""

import json
import os
import subprocess
import sys
import time

from tests.machine import Machine
from tests.real.programs import Programs
from tests.real.terminal import Screen

TOKEN = "loopback-token"


class RealMachine(Machine):
    """Runs `outfitter` with the real programs: a clean environment, HOME, TMPDIR and XDG directories of its own."""

    def __init__(self, top, programs: Programs, server):
        super().__init__(top)
        self.programs, self.server = programs, server
        self.path = f"{programs.bin}:/usr/bin:/bin"

    def env(self, script=(), **more):
        base = {
            "HOME": str(self.home),
            "OUTFITTER_TRUSTED_PATHS": str(self.top),
            "PATH": self.path,
            "TMPDIR": str(self.tmp),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PYTHONDONTWRITEBYTECODE": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "MODEL_TOKEN": TOKEN,
        }
        assert not script, "the real programs follow the model server's script"
        self._count += 1
        return {key: value for key, value in {**base, **more}.items() if value is not None}

    def models(self, provider="loop", api="anthropic-messages", model="scripted-model", **fields):
        """A registry with one provider: the loopback server. The anthropic dialect wants the address without `/v1`."""
        url = self.server.url if api == "anthropic-messages" else f"{self.server.url}/v1"
        entry = {"baseUrl": url, "api": api, "apiKey": "$MODEL_TOKEN", "models": [{"id": model}], **fields}
        return self.put(".agents/models.json", json.dumps({"providers": {provider: entry}}))

    def skill(self, name, description, text="Body.", **files):
        self.put(f".agents/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n\n{text}\n")
        for path, content in files.items():
            self.put(f".agents/skills/{name}/{path}", content)

    def servers(self, *names, marker="probe", **more):
        """A server file whose servers are `tests/real/mcp_server.py`, each with one tool named for it."""
        script = os.path.join(os.path.dirname(__file__), "mcp_server.py")
        entries = {
            name: {"command": sys.executable, "args": ["-I", script, f"{marker}_{name}"], **more} for name in names
        }
        return self.put(".agents/mcp.json", json.dumps({"mcpServers": entries}))

    def native(self, program, *words, timeout=120, **env):
        """The program itself, without Outfitter, in the same home: somebody's own session."""
        return subprocess.run(
            [str(self.programs.bin / program), *words],
            cwd=self.project,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def run(self, *words, script=(), cwd=None, env=None, timeout=180):
        return super().run(*words, script=script, cwd=cwd, env=env, timeout=timeout)

    def terminal(self, *words, **env):
        """`outfitter` on a terminal; close it when done."""
        return Screen([sys.executable, "-m", "outfitter", *words], self.project, self.env(**env))

    def turns(self):
        """The requests for a model's turn so far, oldest first."""
        return self.server.models_asked()

    def forget(self):
        """Start looking afresh."""
        self.server.seen.clear()

    def until(self, condition, seconds=60, what="the condition"):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{what} did not come about"
            time.sleep(0.05)
