"""What Codex's items are as calls: the tool, and its input as a ruling reads it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from barry_adapter_codex.tools import RESOURCES
from barry_cli.agents import read_list, read_object, read_string

Row = dict[str, Any]

SHELL = "exec_command"
PATCH = "apply_patch"
STARTED = "inProgress"

_SHELLS = frozenset({"bash", "dash", "sh", "zsh"})
_WORD = re.compile(r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+""", re.DOTALL)
_PIECE = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^'"\\]+)""", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
# Codex tells of a move below the diff, too.
_MOVED = re.compile(r"\n+Moved to: [^\n]*\Z")


def call_of(item: Row) -> tuple[str, Any] | None:
    """The tool and the input of an item; None when it is no call, or can't be read."""
    kind = read_string(item, "type")
    if kind == "commandExecution":
        given = command_of(item)
        return None if given is None else (SHELL, given)
    if kind == "fileChange":
        patch = patch_of(item)
        return None if patch is None else (PATCH, {"command": patch})
    if kind == "mcpToolCall":
        server, tool = read_string(item, "server"), read_string(item, "tool")
        if server is None or tool is None:
            return None
        named = tool if tool in RESOURCES else server_tool(server, tool)
        return named, item.get("arguments") or {}
    if kind == "webSearch":
        return "web_search", {"query": read_string(item, "query")}
    if kind == "imageView":
        return "view_image", {"path": read_string(item, "path")}
    return None


def server_tool(server: str, tool: str) -> str:
    """The name of an MCP server's tool."""
    return f"mcp__{server}__{tool}"


def command_of(row: Row) -> Row | None:
    """A command as its tool was given it: the script, without the shell that runs it."""
    command = read_string(row, "command")
    if not command:
        return None
    folder = read_string(row, "cwd")
    return {"cmd": script_of(command)} | ({"workdir": folder} if folder else {})


def script_of(command: str) -> str:
    """The script in ``/bin/bash -lc 'SCRIPT'``; any other command as it is."""
    words = _words(command)
    if (
        words is not None
        and len(words) == 3
        and PurePosixPath(words[0]).name in _SHELLS
        and words[1] in ("-c", "-lc")
    ):
        return words[2]
    return command


def _words(command: str) -> list[str] | None:
    """The words of a command line that holds nothing but quoted words; else None."""
    words = _WORD.findall(command)
    if _WORD.sub("", command).strip():
        return None
    return [_unquoted(word) for word in words]


def _unquoted(word: str) -> str:
    text = ""
    for single, double, escaped, plain in _PIECE.findall(word):
        text += single or _in_quotes(double) or escaped or plain
    return text


def _in_quotes(text: str) -> str:
    return _IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], text)


def patch_of(item: Row) -> str | None:
    """A change of files as a patch of Codex's own form, absolute paths in it."""
    lines = ["*** Begin Patch"]
    for change in read_list(item, "changes") or ():
        path, diff = read_string(change, "path"), read_string(change, "diff") or ""
        kind = read_object(change, "kind")
        what = read_string(kind, "type")
        moved = read_string(kind, "move_path")
        if path is None or any(each.splitlines() != [each] for each in (path, moved or path)):
            return None
        if what == "add":
            lines += [f"*** Add File: {path}", *(f"+{line}" for line in _lines(diff))]
        elif what == "delete":
            lines.append(f"*** Delete File: {path}")
        elif what == "update":
            lines.append(f"*** Update File: {path}")
            if moved is not None:
                lines.append(f"*** Move to: {moved}")
            lines += _lines(_MOVED.sub("", diff))
        else:
            return None
    return "\n".join([*lines, "*** End Patch", ""]) if len(lines) > 1 else None


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
