"""What goes over a session's socket: one JSON object a line, UTF-8, at most a MiB."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LARGEST_FRAME = 1024 * 1024
"""Bytes of a line, its end included."""

Frame = Mapping[str, Any]


class NoFrame(ValueError):
    """A line that is no frame, and why."""


def frame_of(line: bytes) -> dict[str, Any]:
    """The frame in a line: an object with a ``type``. Raises NoFrame."""
    found = object_of(line)
    if not isinstance(found.get("type"), str):
        raise NoFrame('the frame has no "type"')
    return found


def object_of(line: bytes) -> dict[str, Any]:
    """The JSON object in a line. Raises NoFrame."""
    try:
        found = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise NoFrame("the frame is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise NoFrame("the frame is not one JSON object on a line") from error
    if not isinstance(found, dict):
        raise NoFrame("the frame is no JSON object")
    return found


def line_of(document: Mapping[str, Any]) -> bytes:
    """A frame as it is sent. What is no text in it is escaped."""
    try:
        return json.dumps(document, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(document).encode() + b"\n"


def refusal(code: str, message: str) -> dict[str, Any]:
    """The answer to a frame that counts for nothing."""
    return {"ok": False, "error": {"code": code, "message": message}}


def _no_number(word: str) -> object:
    raise ValueError(word)
