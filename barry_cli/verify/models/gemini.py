"""The Gemini generateContent API. The model and the method stand in the path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from barry_cli.verify.models.reading import (
    mapping,
    records,
    result_text,
    string,
    text_of,
    user_turns,
)
from barry_cli.verify.models.shapes import Json, ModelRequest, OfferedTool, Reply, Turn, sse

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def read(path: str, body: Json) -> ModelRequest:
    """Read a generateContent request."""
    turns: list[Turn] = []
    for content in records(body.get("contents")):
        parts = records(content.get("parts"))
        if content.get("role") == "model":
            turns += [_model_turn(part) for part in parts]
            continue
        results = [_result(mapping(part["functionResponse"])) for part in parts if _answers(part)]
        turns += results
        turns += user_turns(parts, "beside" if results else "none")
    config = mapping(body.get("generationConfig"))
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    name, _, method = path.partition("?")[0].rpartition("/")[2].partition(":")
    return ModelRequest(
        api="gemini",
        model=unquote(name),
        stream=method == "streamGenerateContent",
        system=text_of(mapping(body.get("systemInstruction")).get("parts")),
        turns=tuple(turns),
        tools=tuple(_tools(body)),
        schema=schema if isinstance(schema, dict) else None,
    )


def _model_turn(part: Json) -> Turn:
    call = mapping(part.get("functionCall"))
    return Turn("assistant", text_of(part), call_id=string(call.get("id")))


def _answers(part: Json) -> bool:
    return isinstance(part.get("functionResponse"), dict)


def _result(answer: Json) -> Turn:
    """The response object is free; by custom it holds `output`, or `error` for a failure."""
    said = mapping(answer.get("response"))
    failed = "error" in said
    content = said["error"] if failed else said.get("output", dict(said))
    call_id = string(answer.get("id"))
    return Turn("tool", result_text(content), call_id=call_id, is_error=failed)


def _tools(body: Json) -> Iterator[OfferedTool]:
    for entry in records(body.get("tools")):
        for function in records(entry.get("functionDeclarations")):
            if string(function.get("name")):
                yield OfferedTool(function["name"])


def whole(request: ModelRequest, reply: Reply) -> Json:
    """The response as one JSON document."""
    text = "".join(reply.pieces)
    parts: list[Json] = [{"text": text}] if text or not reply.calls else []
    return _response(request, reply, [*parts, *_calls(reply)], last=True)


def events(request: ModelRequest, reply: Reply) -> Iterator[bytes]:
    """The response as a stream of partial documents; the last one carries the usage."""
    for piece in reply.pieces:
        yield sse(json.dumps(_response(request, reply, [{"text": piece}], last=False)))
    parts = _calls(reply) or [{"text": ""}]
    yield sse(json.dumps(_response(request, reply, parts, last=True)))


def error(status: int, message: str) -> Json:
    """An error body."""
    kind = _STATUSES.get(status, "INTERNAL" if status >= 500 else "FAILED_PRECONDITION")
    return {"error": {"code": status, "message": message, "status": kind}}


def tokens(count: int) -> Json:
    """The answer of `countTokens`."""
    return {"totalTokens": count}


def _calls(reply: Reply) -> list[Json]:
    return [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.input}}
        for call in reply.calls
    ]


def _response(request: ModelRequest, reply: Reply, parts: list[Json], *, last: bool) -> Json:
    used = reply.usage
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    head: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": request.model,
        "responseId": reply.id,
    }
    if last:
        candidate["finishReason"] = "STOP"
        head["usageMetadata"] = {
            "promptTokenCount": used.input,
            "cachedContentTokenCount": used.cached,
            "candidatesTokenCount": used.output,
            "totalTokenCount": used.input + used.output,
        }
    return head
