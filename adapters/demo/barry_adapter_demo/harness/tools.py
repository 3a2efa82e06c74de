"""The tools: what may run, and running it."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from .cancel import Cancel
from .problems import reason
from .processes import Groups

if TYPE_CHECKING:
    import subprocess

FIELDS = {
    "shell": ("command",),
    "read": ("path",),
    "write": ("path", "content"),
    "fetch": ("url",),
    "agent": ("prompt",),
}
"""The built-in tools, each with its input fields. The first one is shown when asking."""

OUTPUT_LIMIT = 32 * 1024
SHELL_SECONDS = 600.0
FETCH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool."""

    id: str
    name: str
    input: Mapping[str, object]

    @property
    def title(self) -> str:
        """What a person is asked about: the command, the path, or the whole input."""
        fields = FIELDS.get(self.name)
        return str(self.input[fields[0]]) if fields else json.dumps(self.input)


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to.

    ``decision``: ran, refused (by a person or for want of one), unavailable, invalid or cancelled.
    ``ok`` is false unless it ran and succeeded.
    """

    ok: bool
    output: str
    decision: str


class Server(Protocol):
    """A source of further tools."""

    tools: tuple[str, ...]

    def call(self, tool: str, value: Mapping[str, object], cancel: Cancel) -> tuple[bool, str]: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """Names of tools; ``mcp__SERVER`` stands for all of a server. ``deny`` outranks ``allow``."""

    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    offered: frozenset[str] | None = None
    """None offers every tool."""
    ignore_deny: bool = False
    """Bent for tests: withheld tools look withheld, and run."""
    never_ask: bool = False
    """Bent for tests: whatever is offered runs."""

    def withheld(self, tool: str) -> bool:
        names = _names(tool)
        return bool(names & self.deny) or (self.offered is not None and not names & self.offered)

    def allowed(self, tool: str) -> bool:
        return bool(_names(tool) & self.allow)


@dataclass(slots=True)
class Toolbox:
    """The tools of one conversation."""

    cwd: str
    roots: tuple[str, ...]
    policy: Policy
    groups: Groups
    servers: Mapping[str, Server] = field(default_factory=dict)
    always: set[str] = field(default_factory=set)
    """Tools that a person allowed for the rest of the session."""

    def names(self) -> list[str]:
        """The tools that the model is offered."""
        return [name for name in self._existing() if not self.policy.withheld(name)]

    def objection(self, call: Call) -> Result | None:
        """Why a call cannot run, whoever allows it."""
        unavailable = self.policy.withheld(call.name) and not self.policy.ignore_deny
        if unavailable or call.name not in self._existing():
            return Result(False, f"tool not available: {call.name}", "unavailable")
        fields = FIELDS.get(call.name)
        if fields and (
            set(call.input) != set(fields)
            or not all(isinstance(value, str) for value in call.input.values())
        ):
            return Result(False, f"{call.name} takes texts: {', '.join(fields)}", "invalid")
        if not all(_plain(value) for value in call.input.values()):
            return Result(False, f"{call.name}: a zero byte or half a character", "invalid")
        if call.name in ("read", "write") and not self._within(self._path(call)):
            return Result(False, f"{call.title} is outside the working directories", "refused")
        return None

    def asks(self, call: Call) -> bool:
        """Whether a person must allow the call."""
        bent = self.policy.ignore_deny and self.policy.withheld(call.name)
        bent = bent or self.policy.never_ask
        return not (bent or call.name in self.always or self.policy.allowed(call.name))

    def run(self, call: Call, cancel: Cancel) -> Result:
        """Run a call that nothing objects to."""
        try:
            if call.name == "shell":
                return self._shell(str(call.input["command"]), cancel)
            if call.name == "read":
                return _read(self._path(call))
            if call.name == "write":
                return _write(self._path(call), str(call.input["content"]))
            if call.name == "fetch":
                return _fetch(str(call.input["url"]))
        except OSError as error:
            return Result(False, _bounded(f"{call.name}: {reason(error)}: {call.title}"), "ran")
        _, server, tool = call.name.split("__", 2)
        ok, output = self.servers[server].call(tool, call.input, cancel)
        return Result(ok, _bounded(output), "cancelled" if cancel.reason else "ran")

    def _existing(self) -> list[str]:
        further = [
            f"mcp__{server}__{tool}" for server, its in self.servers.items() for tool in its.tools
        ]
        return [*FIELDS, *further]

    def _path(self, call: Call) -> str:
        return os.path.realpath(os.path.join(self.cwd, str(call.input["path"])))

    def _within(self, path: str) -> bool:
        roots = (os.path.realpath(root) for root in (self.cwd, *self.roots))
        return any(os.path.commonpath((root, path)) == root for root in roots)

    def _shell(self, command: str, cancel: Cancel) -> Result:
        child = self.groups.start(["/bin/sh", "-c", command], self.cwd)
        try:
            output, whole = _collect(child, cancel)
        finally:
            # Also after a normal end: what the command left in the background goes with it.
            self.groups.end(child)
            if child.stdout:
                child.stdout.close()
        text = _bounded(output.decode("utf-8", "replace"))
        if cancel.reason:
            return Result(False, _remark(text, "cancelled"), "cancelled")
        if not whole:
            return Result(False, _remark(text, f"ended after {SHELL_SECONDS:g} seconds"), "ran")
        status = child.returncode
        return Result(not status, _remark(text, f"exit {status}") if status else text, "ran")


def _plain(value: object) -> bool:
    """Whether the system can take a text: no zero byte, no half surrogate."""
    text = value if isinstance(value, str) else ""
    return "\0" not in text and not re.search("[\ud800-\udfff]", text)


def _names(tool: str) -> set[str]:
    """A tool's name and, for a server's tool, the server's."""
    parts = tool.split("__", 2)
    return {tool, "__".join(parts[:2])} if parts[0] == "mcp" else {tool}


def _collect(child: subprocess.Popen[bytes], cancel: Cancel) -> tuple[bytes, bool]:
    """The command's output, and whether it ended by itself.

    It has ended when its shell has: a background job that holds the pipe is not waited for.
    """
    pipe = child.stdout
    if pipe is None:
        return b"", True
    kept = bytearray()
    deadline = time.monotonic() + SHELL_SECONDS
    last_reads = 16  # What a full pipe holds, once the shell has ended.
    closed = False
    while not cancel.reason and time.monotonic() < deadline:
        ended = child.poll() is not None
        if ended and (closed or not last_reads):
            return bytes(kept), True
        if closed:
            cancel.wait(0.01)
        elif cancel.wait(0 if ended else 0.05, pipe.fileno()):
            last_reads -= ended
            data = os.read(pipe.fileno(), 65536)
            closed = not data
            kept += data[: max(0, 4 * OUTPUT_LIMIT + 1 - len(kept))]
        elif ended:
            return bytes(kept), True
    return bytes(kept), False


def _remark(text: str, remark: str) -> str:
    """Output with a line of ours after it."""
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}({remark})"


def _read(path: str) -> Result:
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return Result(False, f"read: {path} is not a file", "ran")
        data = b""
        while len(data) <= OUTPUT_LIMIT and (more := os.read(file, OUTPUT_LIMIT + 1)):
            data += more
    finally:
        os.close(file)
    return Result(True, _bounded(data.decode("utf-8", "replace")), "ran")


def _write(path: str, content: str) -> Result:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Not blocking: a pipe without a reader is an error, not a wait.
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    with open(file, "wb") as target:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return Result(False, f"write: {path} is not a file", "ran")
        target.truncate()
        target.write(content.encode("utf-8", "replace"))
    return Result(True, f"wrote {len(content)} characters to {path}", "ran")


def _fetch(url: str) -> Result:
    """What a plain-HTTP server answers, without following it anywhere else."""
    import http.client
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            return Result(False, "fetch: it speaks plain http alone", "ran")
        link = http.client.HTTPConnection(parts.hostname, parts.port, timeout=FETCH_SECONDS)
        try:
            link.request("GET", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
            answer = link.getresponse()
            text = answer.read(OUTPUT_LIMIT + 1).decode("utf-8", "replace")
        finally:
            link.close()
    except (ValueError, http.client.HTTPException) as error:
        return Result(False, f"fetch: {error}", "ran")
    return Result(answer.status < 400, _bounded(text), "ran")


def _bounded(text: str) -> str:
    if len(text) <= OUTPUT_LIMIT:
        return text
    return f"{text[:OUTPUT_LIMIT]}\n(cut after {OUTPUT_LIMIT} characters)\n"


def unknown(names: Iterable[str]) -> list[str]:
    """The names that cannot be a tool's, as far as the command line can tell."""
    return [name for name in names if name not in FIELDS and not re.match("mcp__.", name)]
