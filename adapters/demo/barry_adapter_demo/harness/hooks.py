"""Hooks: programs that are told of what happens, and may refuse a call or say something.

Each gets the event as JSON on stdin. Exit code 2 refuses the call, with stderr as the reason; so
does ``{"deny": "..."}`` on stdout. ``{"context": "..."}`` is told to the model: with the tool's
result, or as the next message once the turn is over. A hook that fails in any other way, or takes
too long, changes nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from .cancel import Cancel
from .files import load_json
from .problems import usage
from .processes import Groups
from .tools import Call, Result
from .wire import LINE_LIMIT, json_line, parsed

EVENTS = ("Start", "Prompt", "BeforeTool", "AfterTool", "Ask", "Stop", "End")
SECONDS = 60.0
_REFUSE = 2


def load(path: str) -> dict[str, str]:
    """Read ``{EVENT: COMMAND, ...}``. Raises a usage refusal."""
    value = load_json(path, "hooks")
    if not isinstance(value, dict):
        raise usage(f"hooks {path} is not an object")
    for name, command in value.items():
        if name not in EVENTS:
            raise usage(f"hooks {path}: no event {name!r}; there are: {', '.join(EVENTS)}")
        if not isinstance(command, str):
            raise usage(f"hooks {path}: the command of {name} must be a text")
    return value


@dataclass(slots=True)
class Hooks:
    """The hooks of one conversation; none of them where no command is named."""

    commands: Mapping[str, str]
    cwd: str
    groups: Groups
    cancel: Cancel
    session: str = ""
    transcript: str = ""
    seconds: float = field(default=SECONDS)

    def start(self) -> None:
        self._call("Start", {})

    def prompt(self, text: str) -> None:
        self._call("Prompt", {"prompt": text})

    def before(self, call: Call) -> str | None:
        """Why the call may not run; None when it may, as far as the hook is concerned."""
        status, said, error = self._call("BeforeTool", _of(call))
        if status == _REFUSE:
            return error or "a hook refused it"
        denied = said.get("deny")
        return denied if isinstance(denied, str) else None

    def after(self, call: Call, result: Result) -> str | None:
        """What is to be told to the model with the result."""
        event = {**_of(call), "result": result.output, "ok": result.ok}
        return self._context("AfterTool", event)

    def asks(self, call: Call) -> None:
        """The user is about to be asked."""
        self._call("Ask", _of(call))

    def stop(self) -> str | None:
        """What is to be told to the model before it is the user's turn."""
        return self._context("Stop", {})

    def end(self) -> None:
        self._call("End", {})

    def _context(self, event: str, details: Mapping[str, object]) -> str | None:
        status, said, _ = self._call(event, details)
        context = said.get("context")
        return context if status == 0 and isinstance(context, str) and context else None

    def _call(
        self, event: str, details: Mapping[str, object]
    ) -> tuple[int | None, Mapping[str, object], str]:
        """Exit status (None: it did not end by itself), the object on its stdout, its stderr."""
        command = self.commands.get(event)
        if not command:
            return None, {}, ""
        told = {
            "hook": event,
            "session_id": self.session,
            "transcript": self.transcript,
            "cwd": self.cwd,
            **details,
        }
        try:
            status, out, error = self._run(command, json_line(told))
            said = parsed(out) if out.strip() else {}
        except (OSError, ValueError):
            return None, {}, ""
        said = said if isinstance(said, dict) else {}
        return status, said, error.decode("utf-8", "replace").strip()

    def _run(self, command: str, data: bytes) -> tuple[int | None, bytes, bytes]:
        import threading

        child = self.groups.start(["/bin/sh", "-c", command], self.cwd, talk=True, errors=True)
        out, error = bytearray(), bytearray()

        def write() -> None:
            try:
                if child.stdin:
                    with child.stdin as pipe:
                        pipe.write(data)
            except OSError:
                pass  # It does not read; what it says counts all the same.

        # Threads, so that a hook that does not read cannot hold up one that writes.
        threads = [threading.Thread(target=write, daemon=True)]
        for pipe, kept in ((child.stdout, out), (child.stderr, error)):
            if pipe:
                threads.append(
                    threading.Thread(target=_read, args=(pipe.fileno(), kept), daemon=True)
                )
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + self.seconds
        while child.poll() is None and time.monotonic() < deadline and not self.cancel.ending:
            time.sleep(0.005)
        status = child.poll()
        self.groups.end(child)
        for thread in threads[1:]:
            thread.join(1.0)
        return status, bytes(out), bytes(error)


def _read(file: int, kept: bytearray) -> None:
    try:
        while data := os.read(file, 65536):
            kept += data[: max(0, LINE_LIMIT - len(kept))]
    except OSError:
        pass  # Closed from our side.


def _of(call: Call) -> dict[str, object]:
    return {"tool": call.name, "input": dict(call.input), "call_id": call.id}
