"""What a call would do, read from how Qwen Code asks about it.

It gives a call's whole input, and of its tool only the kind. Both together tell the tools apart
that this mode leaves to the agent; where they don't, the call is refused.
"""

from __future__ import annotations

from typing import Any

from barry_cli.agents import read_list, read_object, read_string

Call = dict[str, Any]
Input = dict[str, Any]


def understood(call: Call) -> tuple[str, Input] | None:
    """(tool, input) of a call; None where the tool isn't beyond doubt."""
    given = read_object(call, "rawInput")
    tool = None if given is None else _tool(read_string(call, "kind"), given)
    return None if tool is None or given is None else (tool, given)


def named(call: Call) -> str:
    """A call's tool, for telling of it; nothing is decided by this."""
    own = read_string(read_object(call, "_meta"), "toolName")
    return own or read_string(call, "kind") or "other"


def _tool(kind: str | None, given: Input) -> str | None:
    def has(name: str) -> bool:
        return read_string(given, name) is not None

    match kind:
        case "execute":
            return "run_shell_command" if has("command") else None
        case "edit" if has("file_path"):
            return "edit" if has("old_string") else "write_file" if has("content") else None
        case "read":
            return "read_file" if has("file_path") else None
        case "search":
            return "grep_search" if has("pattern") else "list_directory" if has("path") else None
        case "fetch":
            return "web_fetch" if has("url") else None
        case "think":
            return "todo_write" if read_list(given, "todos") is not None else None
        case _:
            return None
