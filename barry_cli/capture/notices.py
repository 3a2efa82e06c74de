"""What a notice says, as session events: plain documents, made without a model each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from barry_cli.contract.instrument import Notice

Event = dict[str, Any]

ALLOWED = "allowed"


def events_of(notice: Notice) -> list[Event]:
    """The events that a notice stands for, in order; none for what says nothing of the agent.

    That a conversation starts, and that the agent is busy or idle, is told by who knows what was
    told before.
    """
    if notice.kind == "prompt" and notice.prompt:
        return [{"type": "text", "text": notice.prompt, "role": "user"}]
    if notice.kind == "ruled" and denied(notice):
        return [_use(notice), _refusal(notice)]
    if notice.kind == "after-tool":
        return [_use(notice), _result(notice)]
    if notice.kind == "ask":
        return [_request(notice)]
    return []


def denied(notice: Notice) -> bool:
    """Whether a ruling kept a call from being made."""
    return notice.kind == "ruled" and notice.document.get("outcome", ALLOWED) != ALLOWED


def _use(notice: Notice) -> Event:
    return {
        "type": "tool_use",
        "id": notice.call or "",
        "tool": notice.tool or "",
        "input": notice.document.get("input"),
    }


def _refusal(notice: Notice) -> Event:
    said = notice.document.get("agent") or notice.document.get("human") or "denied"
    return {"type": "tool_result", "id": notice.call or "", "result": said, "error": True}


def _result(notice: Notice) -> Event:
    document = notice.document
    event: Event = {
        "type": "tool_result",
        "id": notice.call or "",
        "result": document.get("result"),
    }
    if document.get("error"):
        event["error"] = True
        if event["result"] is None:
            event["result"] = document["error"]
    return event


def _request(notice: Notice) -> Event:
    event: Event = {
        "type": "permission_request",
        "id": notice.call or "",
        "tool": notice.tool or "",
        "input": notice.document.get("input"),
    }
    description = notice.document.get("description")
    if isinstance(description, str) and description:
        event["description"] = description
    return event


def call_key(event: Mapping[str, Any]) -> str:
    """What tells one call from another where the harness gave it no id: tool and input."""
    return f"{event.get('tool', '')}\0{_text(event.get('input'))}"


def _text(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""
