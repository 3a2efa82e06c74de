"""The Anthropic Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def read(path: str, body: Json) -> ModelRequest:
    """Read a Messages request. System messages after the first user text may be deliveries."""
    turns: list[Turn] = []
    system = [text_of(body.get("system"))]
    for message in records(body.get("messages")):
        content = message.get("content")
        match message.get("role"):
            case "assistant":
                turns += _assistant(content)
            case "user":
                turns += _user(content)
            case _ if not turns:
                system.append(text_of(content))
            case _:
                turns += user_turns(content, "framed")
    tools = (string(tool.get("name")) for tool in records(body.get("tools")))
    return ModelRequest(
        api="anthropic",
        model=string(body.get("model")),
        stream=body.get("stream") is True,
        system="\n".join(part for part in system if part),
        turns=tuple(turns),
        tools=tuple(OfferedTool(name) for name in tools if name),
        schema=_schema(body),
    )


def _assistant(content: Any) -> list[Turn]:
    blocks = [{"text": content}] if isinstance(content, str) else records(content)
    return [
        Turn("assistant", text_of(block), call_id=string(block.get("id")))
        for block in blocks
        if block.get("type") in (None, "text", "tool_use")
    ]


def _user(content: Any) -> list[Turn]:
    results = [
        Turn(
            "tool",
            result_text(block.get("content")),
            call_id=string(block.get("tool_use_id")),
            is_error=block.get("is_error") is True,
        )
        for block in records(content)
        if block.get("type") == "tool_result"
    ]
    return results + user_turns(content, "beside" if results else "none")


def _schema(body: Json) -> Json | None:
    form = mapping(mapping(body.get("output_config")).get("format") or body.get("output_format"))
    return mapping(form.get("schema")) if form.get("type") == "json_schema" else None


def whole(request: ModelRequest, reply: Reply) -> Json:
    """The message as one JSON document."""
    text = "".join(reply.pieces)
    said = [{"type": "text", "text": text}] if text else []
    return {
        **_message(request, reply),
        "content": [*said, *(_tool_use(call, call.input) for call in reply.calls)],
        "stop_reason": _stop(reply),
        "usage": {**_usage(reply), "output_tokens": reply.usage.output},
    }


def events(request: ModelRequest, reply: Reply) -> Iterator[bytes]:
    """The message as the documented sequence of events."""
    start = {**_message(request, reply), "usage": {**_usage(reply), "output_tokens": 1}}
    yield _event("message_start", message=start)
    index = 0
    if reply.text or not reply.calls:
        yield _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        for piece in reply.pieces:
            delta = {"type": "text_delta", "text": piece}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
        index += 1
    for call in reply.calls:
        block = _tool_use(call, {})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.input)}
        yield _event("content_block_start", index=index, content_block=block)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
        index += 1
    yield _event(
        "message_delta",
        delta={"stop_reason": _stop(reply), "stop_sequence": None},
        usage={**_usage(reply), "output_tokens": reply.usage.output},
    )
    yield _event("message_stop")


def error(status: int, message: str) -> Json:
    """An error body."""
    kind = _ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def tokens(count: int) -> Json:
    """The answer of `count_tokens`."""
    return {"input_tokens": count}


def _message(request: ModelRequest, reply: Reply) -> Json:
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _tool_use(call: PlannedCall, given: Json | str) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _usage(reply: Reply) -> Json:
    """Here the input excludes what the cache gave."""
    return {
        "input_tokens": reply.usage.input - reply.usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reply.usage.cached,
    }


def _stop(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _event(kind: str, **fields: Any) -> bytes:
    return sse(json.dumps({"type": kind, **fields}), kind)
