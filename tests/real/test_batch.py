"""`outfitter batch` with the real programs: each reads an input's text on its standard input, whole, as its task (spec/70)."""

import json

import pytest

from tests.real.test_claude import DIRECT

API = {"pi": "anthropic-messages", "claude": "anthropic-messages", "codex": "openai-responses"}
# A text that begins like an option, holds what a shell would expand, is longer than a pipe holds, and ends without a newline.
TASK = "--help me\n$HOME `id` \"quoted\" 'ß'\n" + "heron " * 20_000 + "\nlast words {number}"


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
def test_every_input_arrives_whole(real, harness):
    if harness == "codex":
        (real.home / ".codex").mkdir()
    real.models(api=API[harness])
    real.agent("a", "You are marker-identity.", model="loop/scripted-model")
    for number in range(2):
        real.put(f"tasks/{number}.md", TASK.replace("{number}", str(number)))
    words = ("batch", "tasks", "--agent", "a", "--harness", harness, "--out", str(real.top / "results"), "--json")
    ended = real.run(*words, env={**DIRECT, "PI_OFFLINE": "1"}, timeout=300)
    assert ended.out, ended.err
    result = json.loads(ended.out)
    said = {path.name: path.read_text(errors="replace")[-2000:] for path in (real.top / "results/output").iterdir()}
    assert (ended.code, result["counts"]["succeeded"]) == (0, 2), (result, said)
    asked = [json.dumps(seen.body, ensure_ascii=False) for seen in real.turns()]
    for number in range(2):
        whole = json.dumps(TASK.replace("{number}", str(number)), ensure_ascii=False)[1:-1]
        assert any(whole in body and "marker-identity" in body for body in asked), f"input {number} did not arrive"
