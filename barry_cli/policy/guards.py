"""Tools that are ruled on at each of their calls, before they do anything.

The ruling is the one that hooks and ``bound check`` give: from a compiled policy, whose tool table
lists a guarded tool by the kind of parameter that is looked at.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from barry_cli.base.paths import folders
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.merge import BoundLike, as_bound
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.ruling.argv import command_line
from barry_cli.policy.ruling.patches import BEGIN, patch_paths
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule
from barry_cli.policy.ruling.tool_names import identities
from barry_cli.policy.ruling.verdict import Verdict

Handler = Callable[[Any, Any], Awaitable[object]]

COMMANDS = frozenset({"cmd", "command", "script"})
"""Parameters that hold a command line, or the words of one; in lower case, without underscores."""

STARTS = frozenset({"cwd", "workdir", "workingdir", "workingdirectory"})
"""Parameters that hold the folder where a call starts."""

FOLDERS = STARTS | {"dir", "directory", "dirpath", "folder"}
"""Beside a command line these say where it runs; alone they are paths."""

PATCHES = frozenset({"diff", "patch", "patchtext"})
URLS = frozenset({"uri", "uris", "url", "urls"})

READING = frozenset("cat fetch find get glob grep head list ls read search show stat view".split())
_READ_WHAT = frozenset(
    "all content contents dir directory file files folder image lines many multiple notebook path "
    "paths text tool url web".split()
)

_PATH_ENDS = ("path", "paths", "file", "files", "filename", "dir", "directory", "folder")
_KINDS = ("shell", "read", "write", "patch")
_TEXT = "text"
_START = "cwd"


@dataclass(frozen=True)
class BoundGuardTool:
    """A tool in this process: ``handler`` is ``async (params, context) -> result``."""

    handler: Handler
    name: str
    schema: Mapping[str, object] | None = None


Tool = TypeVar("Tool", bound=BoundGuardTool)


def apply_bound_guards(tools: Sequence[Tool], scope: BoundLike) -> list[Tool]:
    """The same tools, whose calls raise NotAllowed where the bound denies them.

    Ruled on are the tool's name and its parameters: command lines, URLs, paths and patches, told by
    the parameters' names, however deep they stand. Schema and all else stay as they are.
    """
    if not tools:
        return []
    root = _here() or "/"
    policy = compile_policy(as_bound(scope), root=root, floor=floor_patterns(folders()))
    guard = _Guard(policy, [tool.name for tool in tools])
    return [dataclasses.replace(tool, handler=_guarded(tool, guard)) for tool in tools]


def guarded_verdict(policy: Policy, name: str, params: object, cwd: str) -> Verdict:
    """The ruling on a call of a tool of this name in a folder, as its guard would give it."""
    found = _Guard(policy, [name]).verdicts(name, _only_reads(None, name), params, cwd)
    last = next(found)
    while last.allowed and (following := next(found, None)) is not None:
        last = following
    return last


def _guarded(tool: BoundGuardTool, guard: _Guard) -> Handler:
    handler = tool.handler
    reads = _only_reads(tool, tool.name)

    async def guarded(params: Any, context: Any) -> object:
        for verdict in guard.verdicts(tool.name, reads, params):
            if not verdict.allowed:
                raise NotAllowed(
                    f"{tool.name} was not called. {verdict.agent}",
                    rule=verdict.rule,
                    field=verdict.field,
                )
        return await handler(params, context)

    return guarded


class _Guard:
    """One compiled policy, with a tool table for each kind of parameter.

    Which kinds a call has is known from its parameters alone: a tool may have several.
    """

    def __init__(self, policy: Policy, tools: Sequence[str]) -> None:
        # At its import the tool tables of the adapters are read.
        from barry_cli.policy.network_tools import NETWORK_TOOL_URL_PARAMS

        self.urls = {tool.casefold(): key for tool, key in NETWORK_TOOL_URL_PARAMS.items()}
        self.by_kind: dict[str, Policy] = {}
        for kind in _KINDS:
            listed = self.by_kind[kind] = copy.copy(policy)
            fields = (_TEXT,)
            listed.tools = dict.fromkeys(tools, (kind, fields))
        # A tool that isn't listed is ruled by its name, and by its URLs.
        self.by_name = copy.copy(policy)
        self.by_name.urls = {name: _TEXT for tool in tools for name in _bare(tool)}
        # Nothing is written by what only reads.
        self.by_reading_name = copy.copy(self.by_name)
        self.by_reading_name.denied_access = ()

    def verdicts(
        self, name: str, reads: bool, params: object, cwd: str | None = None
    ) -> Iterator[Verdict]:
        """The ruling on a call: its name first, then each parameter in its order."""
        cwd = _here() if cwd is None else cwd
        named = self.by_reading_name if reads else self.by_name
        yield rule(named, name, {}, cwd)
        texts = [(_plain(key), key, text) for key, text in _texts(params)]
        runs = any(plain in COMMANDS for plain, _, _ in texts)
        places = FOLDERS if runs else STARTS
        starts = [text for plain, _, text in texts if plain in places and text]
        start = os.path.join(cwd, starts[0]) if starts else cwd
        for plain, key, text in texts:
            if plain in COMMANDS:
                for place in starts or [""]:
                    given = {_TEXT: text, _START: place}
                    yield rule(self.by_kind["shell"], name, given, cwd)
            elif plain in URLS or any(self.urls.get(bare) == key for bare in _bare(name)):
                yield rule(named, name, {_TEXT: text}, start)
            elif plain in places:
                if not runs:
                    yield rule(self.by_kind["read"], name, {_TEXT: text}, cwd)
            elif plain.endswith(_PATH_ENDS):
                yield rule(self.by_kind["read" if reads else "write"], name, {_TEXT: text}, start)
            elif _is_patch(plain, text):
                yield rule(self.by_kind["patch"], name, {_TEXT: text}, start)


def _only_reads(tool: object, name: str) -> bool:
    """Whether a tool surely writes nothing: its catalogue says so, or every word of its name.

    What a server says of its own tool can take that away, never give it.
    """
    access = getattr(tool, "access", None)
    if access is not None:
        return bool(access == "read")
    hints = getattr(tool, "annotations", None)
    if isinstance(hints, BaseModel):
        hints = hints.model_dump()
    if isinstance(hints, Mapping):
        read_only = hints.get("read_only_hint", hints.get("readOnlyHint"))
        destructive = hints.get("destructive_hint", hints.get("destructiveHint"))
        if read_only is False or destructive is True:
            return False
    bare = re.split(r"__|[:/.]", name)[-1]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).replace("-", "_").lower().split("_")
    return words[0] in READING and READING.union(_READ_WHAT).issuperset(words)


def _is_patch(plain: str, text: str) -> bool:
    # A parameter of that name may hold a version's part or a switch as well.
    if plain in PATCHES:
        return "\n" in text
    return BEGIN in text and bool(patch_paths(text))


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _bare(tool: str) -> list[str]:
    return [name for _, name in identities(tool, "")]


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _texts(params: object) -> Iterator[tuple[str, str]]:
    """Every text among the parameters, with the name of the nearest parameter."""
    waiting: deque[tuple[str, object]] = deque([("", params)])
    seen: set[int] = set()
    while waiting:
        key, value = waiting.popleft()
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, bytes | os.PathLike):
            yield key, os.fsdecode(value)
        elif isinstance(value, BaseModel | Mapping | list | tuple | set | frozenset):
            if id(value) in seen:
                continue
            seen.add(id(value))
            inner = value.model_dump() if isinstance(value, BaseModel) else value
            if isinstance(inner, Mapping):
                waiting += [(str(name), each) for name, each in inner.items()]
                continue
            items = list(inner)
            if _plain(key) in COMMANDS and items and all(isinstance(each, str) for each in items):
                yield key, command_line(items)
            else:
                waiting += [(key, each) for each in items]
