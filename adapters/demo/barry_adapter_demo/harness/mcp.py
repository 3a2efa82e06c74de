"""A client for MCP servers on stdio: list their tools, call them. Nothing else of MCP."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from .cancel import Cancel
from .files import ServerSpec
from .problems import Refused, reason
from .processes import Groups
from .wire import LINE_LIMIT, json_line, parsed

_START_SECONDS = 10.0
_CALL_SECONDS = 600.0


class McpServer:
    """A running server. It ends with the groups it was started in."""

    def __init__(self, spec: ServerSpec, cwd: str, groups: Groups, cancel: Cancel) -> None:
        """Start it and ask for its tools. Raises Refused when it does not come up."""
        self.tools: tuple[str, ...] = ()
        self._name = spec.name
        self._asked = 0
        self._buffer = b""
        try:
            child = groups.start(
                [spec.command, *spec.args], cwd, env={**os.environ, **spec.env}, talk=True
            )
        except (OSError, ValueError) as error:
            words = reason(error) if isinstance(error, OSError) else str(error)
            raise Refused(f"mcp server {spec.name} did not start: {words}") from None
        self._child = child
        try:
            about = {"name": "demo-harness", "version": "1"}
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
            self._request("initialize", hello, _START_SECONDS, cancel)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"}, cancel)
            listed = self._request("tools/list", {}, _START_SECONDS, cancel).get("tools")
        except (Refused, OSError) as error:
            groups.end(child)
            raise Refused(f"mcp server {spec.name} did not come up: {error}") from None
        tools = listed if isinstance(listed, list) else []
        names = [each.get("name") for each in tools if isinstance(each, dict)]
        self.tools = tuple(each for each in names if isinstance(each, str))

    def call(self, tool: str, value: Mapping[str, object], cancel: Cancel) -> tuple[bool, str]:
        """Call a tool: did it succeed, and its text."""
        try:
            params = {"name": tool, "arguments": dict(value)}
            result = self._request("tools/call", params, _CALL_SECONDS, cancel)
        except (Refused, OSError) as error:
            return False, f"mcp server {self._name}: {error}"
        content = result.get("content")
        parts = content if isinstance(content, list) else []
        texts = [str(each.get("text", "")) for each in parts if isinstance(each, dict)]
        return result.get("isError") is not True, "\n".join(texts)

    def _send(self, message: Mapping[str, object], cancel: Cancel) -> None:
        pipe = self._child.stdin
        data = json_line(message)
        while pipe and data and cancel.writable(pipe.fileno()):
            data = data[os.write(pipe.fileno(), data[:512]) :]

    def _request(
        self, method: str, params: Mapping[str, object], seconds: float, cancel: Cancel
    ) -> dict[str, object]:
        self._asked += 1
        number = self._asked
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._send(request, cancel)
        deadline = time.monotonic() + seconds
        while True:
            answer = self._receive(deadline, cancel)
            if answer.get("id") != number or "method" in answer:
                continue  # A notification, or the answer to a call that was given up.
            result = answer.get("result")
            if isinstance(result, dict):
                return result
            error = answer.get("error")
            raise Refused(str(error.get("message") if isinstance(error, dict) else "no result"))

    def _receive(self, deadline: float, cancel: Cancel) -> dict[str, object]:
        pipe = self._child.stdout
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if not pipe or left <= 0 or len(self._buffer) > LINE_LIMIT:
                raise Refused("no answer in time")
            if cancel.wait(left, pipe.fileno()):
                data = os.read(pipe.fileno(), 65536)
                if not data:
                    raise Refused("it ended")
                self._buffer += data
            elif cancel.reason:
                raise Refused("cancelled")
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            value = parsed(line)
        except ValueError:
            return {}  # Noise on its stdout is not an answer.
        return value if isinstance(value, dict) else {}
