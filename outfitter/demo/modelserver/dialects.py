"""Three dialects: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions.

Pure except for fresh ids. Each dialect reads a request body into a `Conversation`, and writes a `Reply` as one document or as
a stream of events.
"""

import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from outfitter.demo.modelserver.conversation import Call, Conversation, Mark, Reply, Tool

# The events of a stream: (name or "", data); a plain text is sent as it is.
Events = list[tuple[str, "dict[str, Any] | str"]]


class Dialect(NamedTuple):
    """The format of one service.

    `read` reads a request body, `whole` (model, reply) writes a document, `events` splits a document into a stream.
    """

    read: Callable[[Mapping[str, Any]], Conversation]
    whole: Callable[[str, Reply], dict[str, Any]]
    events: Callable[[dict[str, Any]], Events]


def fresh(prefix: str) -> str:
    """Return a new id; clients drop or merge repeated ones."""
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _text(content: Any) -> str:
    """Return the text of a message, which is one string or parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in _objects(content) if isinstance(part.get("text"), str))


def _properties(schema: Any) -> Mapping[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _conversation(body: Mapping[str, Any], tools: Iterable[Tool], marks: Iterable[Mark]) -> Conversation:
    """Return the conversation; tools are keyed by name, and also by `space__name` if they have a space."""
    named: dict[str, Tool] = {}
    for tool in tools:
        named.setdefault(tool.name, tool)
        if tool.space:
            named[f"{tool.space}__{tool.name}"] = tool
    model = body.get("model")
    return Conversation(model if isinstance(model, str) else "", body.get("stream") is True, named, tuple(marks))


def _read_messages(body: Mapping[str, Any]) -> Conversation:
    tools = (
        Tool(tool["name"], _properties(tool.get("input_schema")))
        for tool in _objects(body.get("tools"))
        if isinstance(tool.get("name"), str)
    )
    marks: list[Mark] = []
    for message in _objects(body.get("messages")):
        if message.get("role") == "assistant":
            calls = [str(part.get("id")) for part in _objects(message.get("content")) if part.get("type") == "tool_use"]
            marks += [Mark("call", call) for call in calls] or [Mark("text", _text(message.get("content")))]
    return _conversation(body, tools, marks)


def _whole_message(model: str, reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = [
        {"type": "tool_use", "id": call.id, "name": call.tool.name, "input": call.input} for call in reply.calls
    ]
    return {
        "id": fresh("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content or [{"type": "text", "text": reply.text}],
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 12,
            "output_tokens": 6,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def _message_events(whole: dict[str, Any]) -> Events:
    events: Events = [
        ("message_start", {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}})
    ]
    for index, block in enumerate(whole["content"]):
        opened, delta = _block_stream(block)
        for kind, data in (
            ("content_block_start", {"content_block": opened}),
            ("content_block_delta", {"delta": delta}),
            ("content_block_stop", {}),
        ):
            events.append((kind, {"type": kind, "index": index, **data}))
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append(("message_delta", {"type": "message_delta", "delta": end, "usage": whole["usage"]}))
    events.append(("message_stop", {"type": "message_stop"}))
    return events


def _block_stream(block: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


def _read_responses(body: Mapping[str, Any]) -> Conversation:
    tools: list[Tool] = []
    for tool in _objects(body.get("tools")):
        space = str(tool.get("name", "")) if tool.get("type") == "namespace" else ""
        for item in _objects(tool.get("tools")) if space else [tool]:
            if isinstance(item.get("name"), str):
                custom = item.get("type") == "custom"
                tools.append(Tool(item["name"], _properties(item.get("parameters")), space, custom))
    marks: list[Mark] = []
    for item in _objects(body.get("input")):
        if item.get("type") in ("function_call", "custom_tool_call"):
            marks.append(Mark("call", str(item.get("call_id"))))
        elif item.get("role") == "assistant":
            marks.append(Mark("text", _text(item.get("content"))))
    return _conversation(body, tools, marks)


def _whole_response(model: str, reply: Reply) -> dict[str, Any]:
    said = {
        "id": fresh("msg"),
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
    }
    return {
        "id": fresh("resp"),
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "error": None,
        "model": model,
        "output": [_output_item(call) for call in reply.calls] or [said],
        "parallel_tool_calls": True,
        "usage": {
            "input_tokens": 12,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 6,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 18,
        },
    }


def _output_item(call: Call) -> dict[str, Any]:
    item: dict[str, Any] = {"id": fresh("fc"), "call_id": call.id, "name": call.tool.name, "status": "completed"}
    if call.tool.space:
        item["namespace"] = call.tool.space
    if call.tool.custom:
        text = call.input if isinstance(call.input, str) else json.dumps(call.input)
        return {"type": "custom_tool_call", "input": text, **item}
    return {"type": "function_call", "arguments": json.dumps(call.input), **item}


def _response_events(whole: dict[str, Any]) -> Events:
    unfinished = {**whole, "status": "in_progress", "output": [], "usage": None}
    plain: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": unfinished}),
        ("response.in_progress", {"response": unfinished}),
    ]
    for index, item in enumerate(whole["output"]):
        plain += _item_events(index, item)
    plain.append(("response.completed", {"response": whole}))
    return [(kind, {"type": kind, "sequence_number": n, **data}) for n, (kind, data) in enumerate(plain)]


def _item_events(index: int, item: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    position = {"output_index": index, "item_id": item["id"]}
    done = ("response.output_item.done", {"output_index": index, "item": item})
    if item["type"] == "message":
        part = item["content"][0]
        begun = {**item, "status": "in_progress", "content": []}
        inside = {**position, "content_index": 0}
        return [
            ("response.output_item.added", {"output_index": index, "item": begun}),
            ("response.content_part.added", {**inside, "part": {**part, "text": ""}}),
            ("response.output_text.delta", {**inside, "delta": part["text"]}),
            ("response.output_text.done", {**inside, "text": part["text"]}),
            ("response.content_part.done", {**inside, "part": part}),
            done,
        ]
    custom = item["type"] == "custom_tool_call"
    key, stem = ("input", "custom_tool_call_input") if custom else ("arguments", "function_call_arguments")
    return [
        ("response.output_item.added", {"output_index": index, "item": {**item, "status": "in_progress", key: ""}}),
        (f"response.{stem}.delta", {**position, "delta": item[key]}),
        (f"response.{stem}.done", {**position, key: item[key]}),
        done,
    ]


def _read_chat(body: Mapping[str, Any]) -> Conversation:
    functions = [tool.get("function") for tool in _objects(body.get("tools"))]
    tools = (Tool(f["name"], _properties(f.get("parameters"))) for f in _objects(functions) if f.get("name"))
    marks: list[Mark] = []
    for message in _objects(body.get("messages")):
        if message.get("role") == "assistant":
            calls = [Mark("call", str(call.get("id"))) for call in _objects(message.get("tool_calls"))]
            marks += calls or [Mark("text", _text(message.get("content")))]
    return _conversation(body, tools, marks)


def _whole_chat(model: str, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None if reply.calls else reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool.name, "arguments": json.dumps(call.input)},
            }
            for call in reply.calls
        ]
    return {
        "id": fresh("chatcmpl"),
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 6, "total_tokens": 18},
    }


def _chat_events(whole: dict[str, Any]) -> Events:
    choice = whole["choices"][0]
    message = dict(choice["message"])
    if "tool_calls" in message:
        message["tool_calls"] = [{"index": index, **call} for index, call in enumerate(message["tool_calls"])]
    head = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    pieces: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {"choices": [], "usage": whole["usage"]},
    ]
    return [*(("", {**head, **piece}) for piece in pieces), ("", "[DONE]")]


DIALECTS: dict[str, Dialect] = {
    "/v1/messages": Dialect(_read_messages, _whole_message, _message_events),
    "/v1/responses": Dialect(_read_responses, _whole_response, _response_events),
    "/v1/chat/completions": Dialect(_read_chat, _whole_chat, _chat_events),
}
