"""What a turn took, and what it called, in a few words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from barry_cli.cli.render.talk import one_line

_SHOWN = 200
"""How many letters of a call's input or result are shown."""


def time(seconds: float) -> str:
    """A time for a person."""
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60} s"


def tokens(usage: Mapping[str, Any]) -> str:
    """Tokens in and out, from a ``usage`` in JSON; empty where nothing was counted."""
    given = usage["input"] + usage["cached"] + usage["cacheWrite"]
    if not usage["complete"] and not given and not usage["output"]:
        return ""
    cached = f" ({usage['cached']} from the cache)" if usage["cached"] else ""
    least = "" if usage["complete"] else "at least "
    return f"{least}{given} tokens in{cached}, {usage['output']} out"


def call(event: Mapping[str, Any]) -> str:
    """A call's tool and input in one line."""
    given = event.get("input")
    if isinstance(given, dict) and len(given) == 1:
        given = next(iter(given.values()))
    return f"{one_line(str(event.get('tool') or event.get('id')))} {short(given)}"


def short(value: object) -> str:
    """The beginning of a value, in one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
