"""The OpenAI chat completions API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from barry_cli.verify.models.reading import (
    mapping,
    records,
    result_text,
    string,
    text_of,
    user_turns,
)
from barry_cli.verify.models.shapes import (
    Json,
    ModelRequest,
    OfferedTool,
    PlannedCall,
    Reply,
    Turn,
    sse,
)

_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


@dataclass(frozen=True, slots=True)
class ChatRequest(ModelRequest):
    """A chat request also says whether its stream ends with the usage."""

    stream_usage: bool = False


def read(path: str, body: Json) -> ChatRequest:
    """Read a chat request. System messages after the first user text may be deliveries."""
    turns: list[Turn] = []
    system: list[str] = []
    for message in records(body.get("messages")):
        content = message.get("content")
        match message.get("role"):
            case "assistant":
                turns += _assistant(message)
            case "tool" | "function":
                call_id = string(message.get("tool_call_id"))
                turns.append(Turn("tool", result_text(content), call_id=call_id))
            case role if role == "user" or turns:
                turns += user_turns(content, "none" if role == "user" else "framed")
            case _:
                system.append(text_of(content))
    return ChatRequest(
        api="openai-chat",
        model=string(body.get("model")),
        stream=body.get("stream") is True,
        system="\n".join(part for part in system if part),
        turns=tuple(turns),
        tools=tuple(_tools(body)),
        schema=_schema(body),
        stream_usage=mapping(body.get("stream_options")).get("include_usage") is True,
    )


def _assistant(message: Json) -> list[Turn]:
    calls = records(message.get("tool_calls"))
    text = text_of(message.get("content"))
    said = [Turn("assistant", text)] if text or not calls else []
    return said + [Turn("assistant", call_id=string(call.get("id"))) for call in calls]


def _tools(body: Json) -> Iterator[OfferedTool]:
    for entry in records(body.get("tools")):
        kind = string(entry.get("type")) or "function"
        name = string(mapping(entry.get(kind)).get("name"))
        if name:
            yield OfferedTool(name, custom=kind == "custom")


def _schema(body: Json) -> Json | None:
    form = mapping(body.get("response_format"))
    if form.get("type") != "json_schema":
        return {"type": "object"} if form.get("type") == "json_object" else None
    return mapping(mapping(form.get("json_schema")).get("schema"))


def whole(request: ModelRequest, reply: Reply) -> Json:
    """The completion as one JSON document."""
    text = "".join(reply.pieces)
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
    if reply.calls:
        message["tool_calls"] = [_call(call) for call in reply.calls]
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
    return {**_head(request, reply, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def events(request: ModelRequest, reply: Reply) -> Iterator[bytes]:
    """The completion as chunks, then `[DONE]`."""
    head = _head(request, reply, "chat.completion.chunk")

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return sse(json.dumps({**head, "choices": [choice]}))

    yield chunk({"role": "assistant", "content": ""})
    for piece in reply.pieces:
        yield chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        yield chunk({"tool_calls": [{"index": index, **_call(call)}]})
    yield chunk({}, _finish(reply))
    if isinstance(request, ChatRequest) and request.stream_usage:
        yield sse(json.dumps({**head, "choices": [], "usage": _usage(reply)}))
    yield sse("[DONE]")


def error(status: int, message: str) -> Json:
    """An error body."""
    kind = _ERROR_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def tokens(count: int) -> Json:
    """This API counts nothing beforehand; the shape is that of its usage."""
    return {"prompt_tokens": count}


def _head(request: ModelRequest, reply: Reply, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{reply.id}",
        "object": kind,
        "created": reply.created,
        "model": request.model,
    }


def _call(call: PlannedCall) -> Json:
    if isinstance(call.input, str):
        custom = {"name": call.name, "input": call.input}
        return {"id": call.id, "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": json.dumps(call.input)}
    return {"id": call.id, "type": "function", "function": function}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> Json:
    used = reply.usage
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
