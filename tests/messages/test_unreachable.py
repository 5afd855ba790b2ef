"""Messages that no command can be brought to say at will, each made by the function that says it."""

import json
from types import SimpleNamespace
from typing import Any

from outfitter import pipeline_after
from outfitter.adapters.claude.plan import _keychain
from outfitter.cli.fingerprint import _tell
from outfitter.cli.sync import _waiting
from outfitter.host import WriteFailure
from outfitter.model.errors import Crashed, EffectFailed, Interrupted
from outfitter.model.exposure import Exposure
from outfitter.model.outcome import Identity, Row
from outfitter.model.request import Notice
from outfitter.render import error_json, error_notices
from outfitter.run import materialize, removal
from outfitter.trust.consent import granted_now
from stages import bridge, cleanup
from tests.messages.runner import UNREACHABLE, said


def test_what_no_command_can_be_brought_to_say(machine, updating):
    heard: list[Notice] = []
    listening: Any = SimpleNamespace(console=SimpleNamespace(say=heard.append))
    row = Row(b"x", "u", b"", 0, 0, Identity(0, 0, 0, 0), b"", "EACCES")
    _tell(listening, row)
    _tell(listening, row._replace(tag="f", note="unstable"))
    _waiting(listening, "github:example/agents")
    host: Any = SimpleNamespace(
        durable=SimpleNamespace(flush=lambda: WriteFailure("error", "/M/home: Input/output error"))
    )
    heard += bridge._flushed(host)
    heard.append(
        pipeline_after._refused(
            EffectFailed("compare the projection with its baseline", "/M/tmp/r", "Input/output error")
        )
    )
    heard.append(bridge._not_looked_through("/M/tmp/r", OSError(5, "Input/output error")))
    heard.append(cleanup._left("/M/tmp/outfitter-a-pi-XXXXXXXX", "the harness is still running"))

    def failing() -> Any:
        raise OSError(28, "No space left on device", "/M/state/run.json")

    heard += cleanup._tell(failing, Any)
    unreadable: Any = SimpleNamespace(look=lambda _: failing())
    builder = materialize.ProjectionBuilder(unreadable, Any)
    builder._note_durable("/M/home/.pi/agent/auth.json", "auth.json")
    heard += builder.projected().notices
    builder = materialize.ProjectionBuilder(
        SimpleNamespace(can_execute=lambda _: False), SimpleNamespace(projection="/M")
    )
    scripts = (SimpleNamespace(path="skills/s/run.sh", executable=True),)
    builder.notice_scripts(SimpleNamespace(generated=(), copied=scripts))
    heard += builder.projected().notices
    here: Any = SimpleNamespace(ambient=SimpleNamespace(env={}, platform="darwin"))
    facts: Any = SimpleNamespace(listings={}, native="/M/home/.claude")
    heard += _keychain(here, facts)
    heard += removal.remove_new(str(machine.put(machine.tmp / "outfitter-a-pi-XXXXXXXX/file", "").parent))
    grants: Any = SimpleNamespace(grant=lambda _: None, keep=lambda *_: failing())
    heard += granted_now(grants, Exposure(), 0)
    errors = (Interrupted(15), Crashed(KeyError("name"), "compose"))
    documents = "".join(json.dumps(error_json(error)) + "\n" for error in errors)
    heard += (Notice(*row) for error in errors for row in error_notices(error))
    now = said(machine, documents, heard)
    if updating:
        UNREACHABLE.write_text(now)
    assert now == UNREACHABLE.read_text()
