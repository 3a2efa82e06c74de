"""The OpenAI Responses API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from barry_cli.verify.models import openai_chat
from barry_cli.verify.models.reading import (
    mapping,
    records,
    result_text,
    string,
    text_of,
    user_turns,
)
from barry_cli.verify.models.shapes import (
    Frame,
    Json,
    ModelRequest,
    OfferedTool,
    PlannedCall,
    Reply,
    Turn,
    sse,
)

error = openai_chat.error


def read(path: str, body: Json) -> ModelRequest:
    """Read a Responses request.

    Instructions may travel as the first developer messages, tools as items of the input.
    """
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else records(given)
    turns: list[Turn] = []
    system = [string(body.get("instructions"))]
    for item in items:
        kind = string(item.get("type")) or "message"
        call_id = string(item.get("call_id"))
        if kind.endswith("_output"):
            turns.append(Turn("tool", result_text(_output(item)), call_id=call_id))
        elif kind.endswith("_call") or item.get("role") == "assistant":
            turns.append(Turn("assistant", text_of(item.get("content")), call_id=call_id))
        elif item.get("role") == "user" or (kind == "message" and turns):
            frame: Frame = "none" if item.get("role") == "user" else "framed"
            turns += user_turns(item.get("content"), frame)
        elif kind == "message":
            system.append(text_of(item.get("content")))
    return ModelRequest(
        api="openai-responses",
        model=string(body.get("model")),
        stream=body.get("stream") is True,
        system="\n".join(part for part in system if part),
        turns=tuple(turns),
        tools=tuple(tool for holder in (body, *items) for tool in _tools(holder.get("tools"), "")),
        schema=_schema(body),
    )


def _output(item: Json) -> Any:
    return item["output"] if "output" in item else item.get("tools")


def _tools(entries: Any, namespace: str) -> Iterator[OfferedTool]:
    for entry in records(entries):
        kind = string(entry.get("type"))
        name = string(entry.get("name")) or kind
        if kind == "namespace" and not namespace:
            yield from _tools(entry.get("tools"), name)
        elif name:
            yield OfferedTool(name, namespace, custom=kind == "custom")


def _schema(body: Json) -> Json | None:
    form = mapping(mapping(body.get("text")).get("format"))
    return mapping(form.get("schema")) if form.get("type") == "json_schema" else None


def whole(request: ModelRequest, reply: Reply) -> Json:
    """The response as one JSON document."""
    text = "".join(reply.pieces)
    output = [_message(reply, text)] if text or not reply.calls else []
    output += [_call(call) for call in reply.calls]
    return _response(request, reply, "completed", output)


def events(request: ModelRequest, reply: Reply) -> Iterator[bytes]:
    """The response as the documented sequence of numbered events."""
    for number, (kind, fields) in enumerate(_steps(request, reply)):
        yield sse(json.dumps({"type": kind, "sequence_number": number, **fields}), kind)


def _steps(request: ModelRequest, reply: Reply) -> Iterator[tuple[str, Json]]:
    started = _response(request, reply, "in_progress", [])
    yield "response.created", {"response": started}
    yield "response.in_progress", {"response": started}
    output: list[Json] = []
    if reply.text or not reply.calls:
        yield from _message_steps(reply)
        output.append(_message(reply, reply.text))
    for call in reply.calls:
        yield from _call_steps(call, len(output))
        output.append(_call(call))
    yield "response.completed", {"response": _response(request, reply, "completed", output)}


def _message_steps(reply: Reply) -> Iterator[tuple[str, Json]]:
    done = _message(reply, reply.text)
    where: Json = {"item_id": done["id"], "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    added = {**done, "status": "in_progress", "content": []}
    yield "response.output_item.added", {"output_index": 0, "item": added}
    yield "response.content_part.added", {**where, "part": part}
    for piece in reply.pieces:
        yield "response.output_text.delta", {**where, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**where, "text": reply.text, "logprobs": []}
    yield "response.content_part.done", {**where, "part": {**part, "text": reply.text}}
    yield "response.output_item.done", {"output_index": 0, "item": done}


def _call_steps(call: PlannedCall, index: int) -> Iterator[tuple[str, Json]]:
    item = _call(call)
    key, kind = (
        ("input", "custom_tool_call_input")
        if isinstance(call.input, str)
        else ("arguments", "function_call_arguments")
    )
    where: Json = {"item_id": item["id"], "output_index": index}
    added = {**item, "status": "in_progress", key: ""}
    yield "response.output_item.added", {"output_index": index, "item": added}
    yield f"response.{kind}.delta", {**where, "delta": item[key]}
    yield f"response.{kind}.done", {**where, key: item[key]}
    yield "response.output_item.done", {"output_index": index, "item": item}


def tokens(count: int) -> Json:
    """The answer of `responses/input_tokens`."""
    return {"object": "response.input_tokens", "input_tokens": count}


def _message(reply: Reply, text: str) -> Json:
    return {
        "type": "message",
        "id": f"msg_{reply.id}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def _call(call: PlannedCall) -> Json:
    """Free text goes out as a custom call, JSON as a function call."""
    head: dict[str, Any] = {"call_id": call.id, "name": call.name, "status": "completed"}
    if call.namespace:
        head["namespace"] = call.namespace
    if isinstance(call.input, str):
        return {"type": "custom_tool_call", "id": f"ctc_{call.id}", **head, "input": call.input}
    arguments = json.dumps(call.input)
    return {"type": "function_call", "id": f"fc_{call.id}", **head, "arguments": arguments}


def _response(request: ModelRequest, reply: Reply, status: str, output: list[Json]) -> Json:
    used = reply.usage
    usage = {
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": used.cached},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input + used.output,
    }
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": reply.created,
        "model": request.model,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": output,
        "usage": usage if status == "completed" else None,
    }
