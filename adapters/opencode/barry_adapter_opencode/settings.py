"""Inline settings for opencode. They go over the user's and the project's own files.

opencode reads them from ``OPENCODE_CONFIG_CONTENT`` and replaces ``{env:NAME}`` and
``{file:PATH}`` in the text before it parses it. Ours are written so that only a reference that is
meant as one is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Stands for "{" in a text of ours until the JSON is written, where it becomes an escape.
_BRACE = "\ue000"


def written(settings: Mapping[str, Any]) -> str:
    """The settings as opencode is to read them; see ``plain`` and ``variable``."""
    return json.dumps(settings).replace("\\ue000", "\\u007b")


def plain(value: Any) -> Any:
    """The value with every text in it taken as it stands, nothing in it replaced."""
    if isinstance(value, str):
        return value.replace("{", _BRACE)
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def variable(name: str) -> str:
    """A reference to a variable that holds a text made by ``for_variable``."""
    return f"{{env:{name}}}"


def for_variable(text: str) -> str:
    """A text as the variable must hold it: opencode puts it between the quotes of a JSON text."""
    return json.dumps(text)[1:-1].replace("{", "\\u007b")


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Two settings, the second over the first; lists of instructions and plugins are joined."""
    both = dict(under)
    for name, value in over.items():
        before = both.get(name)
        if isinstance(before, dict) and isinstance(value, Mapping):
            both[name] = merged(before, value)
        elif name in ("instructions", "plugin") and isinstance(before, list):
            both[name] = [*before, *value]
        else:
            both[name] = value
    return both
