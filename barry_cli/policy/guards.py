"""Tools that rule on each of their calls before they do anything."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from barry_cli.policy.classify import classify_bash_command, is_bash_denied, is_program_denied
from barry_cli.policy.commands import (
    extract_domains_from_command,
    is_domain_denied,
    is_file_allowed,
    is_file_denied,
    is_network_action_denied,
)
from barry_cli.policy.merge import BoundLike, as_bound
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.ruling.argv import command_line
from barry_cli.policy.ruling.domains import hosts_of, is_local
from barry_cli.policy.ruling.file_use import CHANGE, READ, WRITE
from barry_cli.policy.ruling.files import Files
from barry_cli.policy.ruling.patches import BEGIN, patch_paths
from barry_cli.policy.ruling.patterns import compile_allow, compile_deny
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.shell.reading import read
from barry_cli.policy.ruling.tool_names import files_rule
from barry_cli.policy.schema import Bound
from barry_cli.policy.tools import denied_tool

Handler = Callable[[Any, Any], Awaitable[object]]

COMMANDS = frozenset({"cmd", "command", "script"})
"""Parameters that hold a command line, or the words of one; in lower case, without underscores."""

FOLDERS = frozenset({"cwd", "workdir", "workingdir", "workingdirectory"})
"""Parameters that hold the folder where a call starts."""

URLS = frozenset({"uri", "uris", "url", "urls"})

_PATH_ENDS = ("path", "paths", "file", "files", "filename", "dir", "directory", "folder")
_KINDS = frozenset({READ, WRITE, CHANGE})


@dataclass(frozen=True)
class BoundGuardTool:
    """A tool in this process: ``handler`` is ``async (params, context) -> result``."""

    handler: Handler
    name: str
    schema: Mapping[str, object] | None = None


Tool = TypeVar("Tool", bound=BoundGuardTool)


def apply_bound_guards(tools: Sequence[Tool], scope: BoundLike) -> list[Tool]:
    """The same tools, whose calls raise NotAllowed where the bound denies them.

    Ruled on are the tool's name and its parameters: command lines, URLs and paths, told by the
    parameters' names, however deep they stand. Schema and all else stay as they are.
    """
    bound = as_bound(scope) or Bound()
    return [dataclasses.replace(tool, handler=_guarded(tool, bound)) for tool in tools]


def _guarded(tool: BoundGuardTool, bound: Bound) -> Handler:
    handler = tool.handler

    async def guarded(params: Any, context: Any) -> object:
        for field, rule in _denials(tool.name, params, bound):
            shown = f" ({rule})" if rule else ""
            raise NotAllowed(
                f"{tool.name} was not called: {field}{shown} does not allow it",
                rule=rule,
                field=field,
                hint="do it another way, or leave it out: a bound can't be lifted from inside",
            )
        return await handler(params, context)

    return guarded


def _denials(name: str, params: object, bound: Bound) -> Iterator[tuple[str, str]]:
    """The field and the rule of everything that denies a call."""
    namespace, tool = _split(name)
    if found := denied_tool(bound, namespace, tool):
        yield found
    texts = [(_plain(key), key, text) for key, text in _texts(params)]
    cwd = os.path.abspath(next((text for plain, _, text in texts if plain in FOLDERS), "."))
    for plain, key, text in texts:
        if plain in COMMANDS:
            yield from _command(text, bound, cwd)
        elif plain in URLS or _names_url(tool, key):
            yield from _url(text, bound, cwd)
        elif plain.endswith(_PATH_ENDS) or plain in FOLDERS:
            yield from _path(text, bound, cwd)
        elif BEGIN in text:
            for path, _, _ in patch_paths(text):
                yield from _path(path, bound, cwd)


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _split(name: str) -> tuple[str, str]:
    """Namespace and name of ``namespace:tool`` or ``mcp__namespace__tool``."""
    if name.startswith("mcp__") and name.count("__") > 1:
        _, namespace, tool = name.split("__", 2)
        return namespace, tool
    namespace, _, tool = name.rpartition(":")
    return namespace, tool


def _names_url(tool: str, key: str) -> bool:
    from barry_cli.policy.network_tools import NETWORK_TOOL_URL_PARAMS

    return NETWORK_TOOL_URL_PARAMS.get(tool) == key


def _texts(params: object) -> Iterator[tuple[str, str]]:
    """Every text among the parameters, with the name of the nearest parameter."""
    waiting: list[tuple[str, object]] = [("", params)]
    seen: set[int] = set()
    while waiting:
        key, value = waiting.pop(0)
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


def _command(text: str, bound: Bound, cwd: str) -> Iterator[tuple[str, str]]:
    bash, network = bound.bash, bound.network
    if bash and (rule := is_bash_denied(text, bash.deny or ())):
        yield "bash.deny", rule
    if bash and (rule := is_program_denied(text, bash.deny_programs or ())):
        yield "bash.denyPrograms", rule
    if network and (tag := is_network_action_denied(text, network.actions or ())):
        yield "network.actions", tag
    domains = (network.domains if network else None) or ()
    if (domains or _restricts(bound)) and classify_bash_command(text).unparseable:
        yield (
            ("network.domains" if domains else "files"),
            "the command can't be read with certainty",
        )
    for host in extract_domains_from_command(text) if domains else ():
        if rule := is_domain_denied(host, domains):
            yield "network.domains", rule
    if only_read := files_rule(bound.denied_access or ()):
        found = walk(read(text))
        if found.unparseable or Files(found, cwd, os.path.expanduser("~")).written(only_read):
            yield "deniedAccess", only_read
    if _restricts(bound):
        yield from _files(text, bound, cwd)


def _restricts(bound: Bound) -> bool:
    files = bound.files
    return files is not None and bool(files.deny or files.allow_only is not None)


def _files(text: str, bound: Bound, cwd: str) -> Iterator[tuple[str, str]]:
    assert bound.files is not None
    root, home = os.getcwd(), os.path.expanduser("~")
    found = Files(walk(read(text)), cwd, home)
    deny = [each for rule in bound.files.deny or () for each in compile_deny(rule, root, home)]
    if hit := found.denied_by(tuple(deny), _KINDS):
        yield "files.deny", hit.rule
    if bound.files.allow_only is not None:
        rules = bound.files.allow_only
        allow = [each for rule in rules for each in compile_allow(rule, root, home)]
        if found.not_allowed(tuple(allow)):
            yield "files.allowOnly", ""


def _url(text: str, bound: Bound, cwd: str) -> Iterator[tuple[str, str]]:
    if text.strip()[:5].lower() == "file:":
        yield from _path(text.strip(), bound, cwd)
    network = bound.network
    for host in hosts_of(text) if network else ():
        assert network is not None
        if rule := is_domain_denied(host, network.domains or ()):
            yield "network.domains", rule
        # This process is outside the sandbox: what the proxy would refuse is refused here.
        open_hosts = network.allow_domains or ()
        closed = network.enforce == "sandbox" and not is_local(host)
        if closed and not is_domain_denied(host, open_hosts):
            yield "network.allowDomains", ""


def _path(text: str, bound: Bound, cwd: str) -> Iterator[tuple[str, str]]:
    files = bound.files
    if files is None:
        return
    path = text if text[:1] in ("/", "~", "") or text[:5].lower() == "file:" else f"{cwd}/{text}"
    if rule := is_file_denied(path, files.deny or ()):
        yield "files.deny", rule
    if files.allow_only is not None and is_file_allowed(path, files.allow_only) is None:
        yield "files.allowOnly", ""
