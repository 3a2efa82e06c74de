"""Reading other people's JSON without trusting it: wrong types become nothing, never an error."""

from __future__ import annotations

import json
import re
from typing import Any

from barry_cli.verify.models.shapes import Frame, Json, Turn

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_OPENING_TAG = re.compile(r"<([A-Za-z][\w-]*)[^<>]*>")


def mapping(value: Any) -> Json:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def records(value: Any) -> list[Json]:
    """The objects of a list; everything else in it is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Any) -> str:
    """The value if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def text_of(content: Any) -> str:
    """The text of a message content: a string, or a list of parts that carry `text`."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, dict) else records(content)
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def result_text(content: Any) -> str:
    """What a tool said, as text. Structures that carry no text are kept as JSON."""
    text = text_of(content)
    if text or content in (None, "", [], {}):
        return text
    return json.dumps(content, ensure_ascii=False)


def user_turns(content: Any, frame: Frame = "none") -> list[Turn]:
    """A user-side message as a turn, if it has text; parts all in tags are left out.

    `frame` is what the message's place makes of it; one that is nothing but tags is framed.
    """
    parts = [content] if isinstance(content, str) else [text_of(part) for part in records(content)]
    spoken = [_REMINDER.sub("", part).strip() for part in parts]
    text = "\n".join(part for part in spoken if part and not _is_envelope(part))
    if text:
        return [Turn("user", text, frame=frame)]
    whole = "\n".join(part.strip() for part in parts if part.strip())
    return [Turn("user", whole, frame="framed")] if whole else []


def _is_envelope(text: str) -> bool:
    """Whether the text is nothing but `<tag>...</tag>` elements, as environment messages are."""
    while text:
        opening = _OPENING_TAG.match(text)
        if opening is None:
            return False
        end = text.find(f"</{opening[1]}", opening.end())
        closing = text.find(">", end) if end >= 0 else -1
        if closing < 0:
            return False
        text = text[closing + 1 :].lstrip()
    return True
