"""What a call would do, read from how Gemini CLI asks about it.

It tells no tool and no input by name: the call's id begins with the tool's name, the shell's
command is the title, a file's whole path is a location, and the rest is in texts that were made
for people. What these texts don't tell beyond doubt is not guessed: such a call is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from barry_cli.agents import read_list, read_object, read_string

Call = dict[str, Any]
Input = dict[str, Any]

_SEPARATOR = "__"
_ELSEWHERE = re.compile(r"\[in ([^\]]+)\](?: \([^\]]*\))?(?: \[background\])?", re.DOTALL)
_HERE = "[current working directory "
_SEARCHED = re.compile(r"'([^']*)'(?: in ([^']*?))?(?: within ([^']*))?", re.DOTALL)
_CUT = "..."


def understood(
    call: Call, servers: Iterable[str] = (), *, roots: bool = False
) -> tuple[str, Input] | None:
    """(tool, input) of a call, as the tool table names them; None where that isn't beyond doubt.

    ``servers``: the names of the session's MCP servers, whose tools are ``mcp__SERVER__TOOL``.
    ``roots``: it works in more folders than one.
    """
    known = read_string(call, "toolCallId") or ""
    tool = known.partition(_SEPARATOR)[0]
    if tool in _READERS:
        kind, reader = _READERS[tool]
        given = reader(call) if read_string(call, "kind") == kind else None
        if given is None or (roots and tool == "glob" and "dir_path" not in given):
            return None  # it would look through every root
        return tool, given
    return _of_server(call, known, servers)


def named(call: Call) -> str:
    """A call's tool, for telling of it; nothing is decided by this."""
    known = read_string(call, "toolCallId") or ""
    return known.partition(_SEPARATOR)[0] or read_string(call, "kind") or "other"


def _shell(call: Call) -> Input | None:
    """The title is the command, whole. A text beside it says where it would run."""
    command, beside = read_string(call, "title"), _text(call)
    if not command or beside is None:
        return None
    if beside.startswith(_HERE):
        return {"command": command}
    found = _ELSEWHERE.fullmatch(beside)
    return None if found is None else {"command": command, "dir_path": found[1]}


def _file(call: Call) -> Input | None:
    path = _path(call)
    return None if path is None else {"file_path": path}


def _change(call: Call) -> Input | None:
    path = _path(call)
    for part in read_list(call, "content") or ():
        if path and read_string(part, "type") == "diff" and read_string(part, "path") == path:
            text = read_string(part, "newText")
            return None if text is None else {"file_path": path, "content": text}
    return None


def _folder(call: Call) -> Input | None:
    title = read_string(call, "title")
    return None if not title or _CUT in title else {"dir_path": title}


def _search(call: Call) -> Input | None:
    """``'PATTERN' in GLOB within FOLDER``, of which all but the pattern may be missing."""
    title = read_string(call, "title") or ""
    found = _SEARCHED.fullmatch(title)
    if found is None or title.count(" within ") > 1:
        return None
    pattern, names, folder = found.groups()
    # A GLOB may itself look like the end of such a text.
    if (folder and _CUT in folder) or (names and folder not in (None, "./")):
        return None
    return {
        "pattern": pattern,
        **({"include_pattern": names} if names else {}),
        **({"dir_path": folder} if folder else {}),
    }


def _titled(field: str) -> Callable[[Call], Input | None]:
    """A tool that is ruled by its name; what its title says is handed on as it is."""

    def read(call: Call) -> Input | None:
        return {field: read_string(call, "title") or ""}

    return read


def _of_server(call: Call, known: str, servers: Iterable[str]) -> tuple[str, Input] | None:
    """A tool of an MCP server. Its arguments stand beside the title, unless they are long."""
    fits = [server for server in servers if known.startswith(f"mcp_{_valid(server)}_")]
    if len(fits) != 1 or read_string(call, "kind") != "other":
        return None
    found, prefix = _name_in(known), f"mcp_{_valid(fits[0])}_"
    beside = _text(call)
    if found is None or beside is None or not found.startswith(prefix):
        return None
    try:
        given = json.loads(beside)
    except ValueError:
        return None
    tool = found.removeprefix(prefix)
    return (f"mcp__{fits[0]}__{tool}", given) if isinstance(given, dict) and tool else None


def _name_in(known: str) -> str | None:
    """The tool in ``TOOL__TOOL_<time>_<count>``, or in ``TOOL__<id>`` where that is unambiguous."""
    pieces = known.split(_SEPARATOR)
    splits = [
        (_SEPARATOR.join(pieces[:end]), _SEPARATOR.join(pieces[end:]))
        for end in range(1, len(pieces))
    ]
    own = [name for name, rest in splits if re.fullmatch(re.escape(name) + r"_\d+_\d+", rest)]
    if len(own) == 1:
        return own[0]
    return splits[0][0] if len(splits) == 1 else None


def _valid(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.:-]", "_", name)


def _path(call: Call) -> str | None:
    places = read_list(call, "locations") or []
    return read_string(places[0], "path") if len(places) == 1 else None


def _text(call: Call) -> str | None:
    """The one text beside the title."""
    parts = read_list(call, "content") or []
    return read_string(read_object(parts[0], "content"), "text") if len(parts) == 1 else None


_READERS: dict[str, tuple[str, Callable[[Call], Input | None]]] = {
    "glob": ("search", _search),
    "grep_search": ("search", _search),
    "list_directory": ("search", _folder),
    "read_file": ("read", _file),
    "replace": ("edit", _change),
    "run_shell_command": ("execute", _shell),
    "write_file": ("edit", _change),
    # Ruled by their names: no path and no address of theirs stands in a field of its own.
    "get_internal_docs": ("think", _titled("path")),
    "google_web_search": ("search", _titled("query")),
    "list_background_processes": ("read", _titled("title")),
    "read_background_output": ("read", _titled("title")),
    "tracker_add_dependency": ("edit", _titled("title")),
    "tracker_create_task": ("edit", _titled("title")),
    "tracker_get_task": ("read", _titled("title")),
    "tracker_list_tasks": ("search", _titled("title")),
    "tracker_update_task": ("edit", _titled("title")),
    "tracker_visualize": ("read", _titled("title")),
    "update_topic": ("think", _titled("title")),
    "web_fetch": ("fetch", _titled("prompt")),
    "write_todos": ("other", _titled("title")),
}
