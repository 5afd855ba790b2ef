"""The scripted model server, asked over HTTP in each dialect, as clients do."""

import gzip
import http.client
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.demo.modelserver.conversation import Conversation, Mark, ScriptError, Tool, answer, check
from outfitter.demo.modelserver.server import ModelServer

ANTHROPIC, RESPONSES, CHAT = "/v1/messages", "/v1/responses", "/v1/chat/completions"
TOKEN = {"Authorization": "Bearer made-up", "Content-Type": "application/json"}


def ask(server, path, body=None, headers=TOKEN, method="POST"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body)
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def events(text):
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ") and line != "data: [DONE]"]


def said(path, document):
    if path == ANTHROPIC:
        return document["content"][0].get("text")
    if path == RESPONSES:
        return document["output"][0]["content"][0]["text"]
    return document["choices"][0]["message"]["content"]


def called(path, document):
    """The calls of a reply as (name, input)."""
    if path == ANTHROPIC:
        return [(part["name"], part["input"]) for part in document["content"]]
    if path == RESPONSES:
        return [(item["name"], json.loads(item["arguments"])) for item in document["output"]]
    calls = document["choices"][0]["message"]["tool_calls"]
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]


def with_tools(path, *tools):
    """A request that offers tools, given as (name, properties)."""
    if path == ANTHROPIC:
        offered = [{"name": name, "input_schema": {"properties": properties}} for name, properties in tools]
    elif path == RESPONSES:
        offered = [{"type": "function", "name": name, "parameters": {"properties": p}} for name, p in tools]
    else:
        offered = [{"type": "function", "function": {"name": n, "parameters": {"properties": p}}} for n, p in tools]
    return {"model": "m", "tools": offered, "input" if path == RESPONSES else "messages": []}


def went_on(path, body, document):
    """The request that follows a reply, as a client makes it."""
    key = "input" if path == RESPONSES else "messages"
    if path == RESPONSES:
        turn = document["output"]
    elif path == ANTHROPIC:
        turn = [{"role": "assistant", "content": document["content"]}]
    else:
        turn = [document["choices"][0]["message"]]
    return {**body, key: [*body[key], *turn]}


EVERY = pytest.mark.parametrize("path", [ANTHROPIC, RESPONSES, CHAT])


@EVERY
def test_a_fixed_text_whole(path):
    with ModelServer(fixed="hello") as server:
        status, text = ask(server, path, {"model": "m", "messages": []})
    assert status == 200
    assert said(path, json.loads(text)) == "hello"
    assert json.loads(text)["model"] == "m"


def test_anthropic_streams_the_text_in_pieces_that_add_up():
    with ModelServer(fixed="hello") as server:
        stream = events(ask(server, ANTHROPIC + "?beta=true", {"stream": True})[1])
    assert [event["type"] for event in stream] == [
        "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert "".join(e["delta"]["text"] for e in stream if e["type"] == "content_block_delta") == "hello"


def test_responses_stream_the_text_in_order():
    with ModelServer(fixed="hello") as server:
        stream = events(ask(server, RESPONSES, {"stream": True})[1])
    assert [event["sequence_number"] for event in stream] == list(range(len(stream)))
    assert stream[0]["type"] == "response.created"
    assert stream[-1]["type"] == "response.completed"
    assert [e["delta"] for e in stream if e["type"] == "response.output_text.delta"] == ["hello"]


def test_chat_streams_and_says_it_is_done():
    with ModelServer(fixed="hello") as server:
        text = ask(server, CHAT, {"stream": True})[1]
    assert text.endswith("data: [DONE]\n\n")
    assert events(text)[0]["choices"][0]["delta"]["content"] == "hello"
    assert events(text)[1]["choices"][0]["finish_reason"] == "stop"


@EVERY
def test_a_script_is_followed_to_its_end(path):
    script = [{"shell": "echo 1"}, {"calls": [{"shell": "a"}, {"tool": "other", "input": {"x": 1}}]}, {"text": "end"}]
    body = with_tools(path, ("bash", {"command": {"type": "string"}}), ("other", {}))
    with ModelServer(script, fixed="besides") as server:
        first = json.loads(ask(server, path, body)[1])
        assert called(path, first) == [("bash", {"command": "echo 1"})]
        body = went_on(path, body, first)
        second = json.loads(ask(server, path, body)[1])
        assert called(path, second) == [("bash", {"command": "a"}), ("other", {"x": 1})]
        body = went_on(path, body, second)
        third = json.loads(ask(server, path, body)[1])
        assert said(path, third) == "end"
        fourth = json.loads(ask(server, path, went_on(path, body, third))[1])
        assert said(path, fourth) == "besides"
        assert json.loads(ask(server, path, body)[1])["model"] == "m"
        assert [seen.step for seen in server.models_asked()] == [0, 1, 2, None, 2]


@EVERY
def test_calls_stream(path):
    body = with_tools(path, ("bash", {"command": {}}))
    with ModelServer([{"shell": "echo 1"}]) as server:
        text = ask(server, path, {**body, "stream": True})[1]
    assert "echo 1" in text
    assert "tool" in text or "function_call" in text


@EVERY
def test_a_request_without_the_tool_does_not_use_the_step_up(path):
    with ModelServer([{"shell": "echo 1"}], fixed="a title") as server:
        assert said(path, json.loads(ask(server, path, {"model": "m"})[1])) == "a title"
        body = with_tools(path, ("bash", {"command": {}}))
        assert called(path, json.loads(ask(server, path, body)[1]))


@EVERY
def test_a_second_server_begins_its_script_again_in_a_continued_conversation(path):
    body = with_tools(path, ("bash", {"command": {}}))
    with ModelServer([{"shell": "one"}]) as server:
        body = went_on(path, body, json.loads(ask(server, path, body)[1]))
    with ModelServer([{"shell": "two"}]) as server:
        assert called(path, json.loads(ask(server, path, body)[1])) == [("bash", {"command": "two"})]


def test_writing_uses_the_clients_own_tool_or_its_shell():
    step = [{"write": {"path": "/a b", "content": "it's"}}]
    for tools, expected in (
        ((("Write", {"file_path": {}, "content": {}}), ("Bash", {})), ("Write", {"file_path": "/a b", "content": "it's"})),
        ((("write", {"path": {}, "content": {}}),), ("write", {"path": "/a b", "content": "it's"})),
        ((("exec_command", {"cmd": {}}),), ("exec_command", {"cmd": "printf %s 'it'\"'\"'s' > '/a b'"})),
        ((("shell", {"command": {"type": "array"}}),), ("shell", {"command": ["sh", "-c", "printf %s 'it'\"'\"'s' > '/a b'"]})),
    ):  # fmt: skip
        with ModelServer(step) as server:
            reply = json.loads(ask(server, ANTHROPIC, with_tools(ANTHROPIC, *tools))[1])
        assert called(ANTHROPIC, reply) == [expected]


def test_tools_in_a_namespace_and_custom_tools_of_responses():
    tools = [
        {"type": "namespace", "name": "mcp__s", "tools": [{"type": "function", "name": "go", "parameters": {}}]},
        {"type": "custom", "name": "patch"},
    ]
    with ModelServer([{"calls": [{"tool": "mcp__s__go"}, {"tool": "patch", "input": "text"}]}]) as server:
        output = json.loads(ask(server, RESPONSES, {"tools": tools})[1])["output"]
    assert output[0]["namespace"] == "mcp__s"
    assert output[0]["name"] == "go"
    assert output[1]["type"] == "custom_tool_call"
    assert output[1]["input"] == "text"


def test_credentials_are_kept_nowhere(tmp_path):
    log = tmp_path / "log.jsonl"
    with ModelServer(token="made-up", log=str(log)) as server:
        ask(server, ANTHROPIC, {"a": 1}, {"x-api-key": "made-up", "Cookie": "secret-cookie"})
        ask(server, CHAT, {"a": 1}, {"Authorization": "Bearer another"})
        status, text = ask(server, CHAT, {"a": 1}, {})
        assert status == 401
        assert "authentication_error" in text
        assert [dict(seen.credentials) for seen in server.seen] == [
            {"x-api-key": True, "cookie": False}, {"authorization": False}, {},
        ]  # fmt: skip
    written = log.read_text()
    assert len(written.splitlines()) == 3
    assert not [secret for secret in ("made-up", "another", "secret-cookie") if secret in written]
    assert json.loads(written.splitlines()[0])["body"] == {"a": 1}


def test_other_endpoints():
    with ModelServer() as server:
        assert ask(server, "/api/hello", method="HEAD") == (200, "")
        assert json.loads(ask(server, "/v1/models", method="GET")[1])["data"][0]["object"] == "model"
        assert json.loads(ask(server, "/v1/messages/count_tokens", {})[1]) == {"input_tokens": 12}
        assert ask(server, "/v1/unknown", {})[0] == 404
        assert ask(server, "/v1/responses", method="GET")[0] == 404
        assert ask(server, ANTHROPIC, b"not json")[0] == 400
        assert ask(server, ANTHROPIC, b"[]")[0] == 400
        assert ask(server, "/messages", {})[0] == 200


def test_packed_and_chunked_bodies():
    with ModelServer(fixed="hello") as server:
        packed = gzip.compress(b'{"model": "m"}')
        assert ask(server, CHAT, packed, {**TOKEN, "Content-Encoding": "gzip"})[0] == 200
        assert ask(server, CHAT, b"junk", {**TOKEN, "Content-Encoding": "gzip"})[0] == 400
        assert ask(server, CHAT, b"junk", {**TOKEN, "Content-Encoding": "zstd"})[0] == 415
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.request("POST", CHAT, iter([b'{"model"', b': "m"}']), TOKEN, encode_chunked=True)
        assert connection.getresponse().status == 200
        connection.close()
        assert ask(server, CHAT, b"zz\r\n", {"Transfer-Encoding": "chunked"})[0] == 400


def test_it_listens_on_loopback_only():
    with ModelServer() as server:
        assert server._http.server_address[0] == "127.0.0.1"
        assert server.url == f"http://127.0.0.1:{server.port}"


def test_it_can_be_stopped_before_it_was_started():
    ModelServer().stop()


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "tools", "name", "messages", "input", "content", "role", "assistant", "function", "id", "tool_calls", "text", "model", "call_id", "parameters"]), inner, max_size=4), max_leaves=12)  # fmt: skip


@given(st.sampled_from([ANTHROPIC, RESPONSES, CHAT]), st.dictionaries(st.sampled_from(["tools", "messages", "input", "model", "stream"]), JSON))  # fmt: skip
def test_any_object_is_answered(path, body):
    from outfitter.demo.modelserver.dialects import DIALECTS

    dialect = DIALECTS[path]
    asked = dialect.read(body)
    whole = dialect.whole(asked.model, answer(check([{"shell": "x"}]), asked, "fixed", "c1"))
    assert json.dumps([data for _, data in dialect.events(whole)])


@pytest.mark.parametrize("script", [{}, [1], [{}], [{"say": "x"}], [{"text": 1}], [{"calls": []}], [{"write": {}}], [{"calls": [{"text": "x"}]}], [{"tool": "x", "inptu": 1}]])  # fmt: skip
def test_a_script_that_is_none_is_refused(script):
    with pytest.raises(ScriptError):
        check(script)


def test_the_same_text_twice_is_two_steps():
    script = check([{"text": "ok"}, {"text": "ok"}, {"shell": "x"}])
    tools = {"bash": Tool("bash")}
    for count, step in ((0, 0), (1, 1), (2, 2)):
        asked = Conversation("m", False, tools, (Mark("text", "ok"),) * count)
        assert answer(script, asked, "fixed", "c1").step == step


def test_the_program_says_its_address_and_ends_with_its_input(tmp_path):
    script = tmp_path / "script.json"
    script.write_text('[{"text": "scripted"}]')
    words = [sys.executable, "-m", "outfitter.demo.modelserver", "--until-eof", "--script", str(script)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"HOME": str(tmp_path)}) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = int(process.stdout.readline().decode().rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", CHAT, "{}")
        assert "scripted" in connection.getresponse().read().decode()
        connection.close()
        process.stdin.close()
        assert process.wait(timeout=20) == 0


def test_the_program_refuses_a_bad_script_in_one_line(tmp_path):
    script = tmp_path / "script.json"
    for text in ('{"a": 1}', "not json"):
        script.write_text(text)
        words = [sys.executable, "-m", "outfitter.demo.modelserver", "--script", str(script)]
        done = subprocess.run(words, capture_output=True, env={"HOME": str(tmp_path)}, timeout=20, check=False)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
