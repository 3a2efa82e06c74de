"""JSON-RPC over lines, both ways, without any input or output of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from barry_cli.contract.events import Failed
from barry_cli.headless.live import LiveStep

METHOD_NOT_FOUND = -32601
NOTHING = LiveStep()


@dataclass(frozen=True, slots=True)
class RpcError:
    """An error response."""

    code: int
    message: str
    data: Any = None

    def text(self) -> str:
        """It in one line, what is known of its cause included."""
        cause = self.data
        if isinstance(cause, dict):
            cause = cause.get("details") or cause.get("message")
        parts = [f"{self.code} {self.message}" if self.code > 0 else self.message]
        if isinstance(cause, str) and cause and cause not in self.message:
            parts.append(cause)
        return ": ".join(parts)


OnResult: TypeAlias = Callable[[Any], LiveStep]
OnError: TypeAlias = Callable[[RpcError], LiveStep]
OnRequest: TypeAlias = Callable[[str, Any], LiveStep]
OnNotification: TypeAlias = Callable[[Any], LiveStep]


def _fail(error: RpcError) -> LiveStep:
    return LiveStep(events=(Failed(error=error.text()),))


def _ignore(result: Any) -> LiveStep:
    return NOTHING


class JsonRpc:
    """One end of a connection.

    What the other end asks for and nobody here serves is answered with an error, so that it can't
    wait for ever. Its requests are known here by a text key, whatever its ids are.
    """

    def __init__(
        self,
        *,
        version: str | None = "2.0",
        served: Mapping[str, OnRequest] | None = None,
        notified: Mapping[str, OnNotification] | None = None,
    ) -> None:
        """``version`` None: messages carry no ``jsonrpc`` member."""
        self._head: dict[str, Any] = {} if version is None else {"jsonrpc": version}
        self._served = dict(served or {})
        self._notified = dict(notified or {})
        self._number = 0
        self._waiting: dict[int, tuple[OnResult, OnError]] = {}
        self._asked: dict[str, Any] = {}

    @property
    def pending(self) -> tuple[str, ...]:
        """The keys of the other end's requests that are not answered."""
        return tuple(self._asked)

    def request(
        self,
        method: str,
        params: Any = None,
        *,
        on_result: OnResult = _ignore,
        on_error: OnError = _fail,
    ) -> str:
        """The line that asks. Without an ``on_error`` an error fails the turn."""
        self._number += 1
        self._waiting[self._number] = (on_result, on_error)
        return self._line({"id": self._number, "method": method}, params)

    def notify(self, method: str, params: Any = None) -> str:
        """The line that tells."""
        return self._line({"method": method}, params)

    def result(self, key: str, value: Any) -> str:
        """The line that answers a request; empty when it is not pending."""
        return self._reply(key, {"result": value})

    def error(self, key: str, code: int, message: str) -> str:
        """The line that refuses a request; empty when it is not pending."""
        return self._reply(key, {"error": {"code": code, "message": message}})

    def _line(self, message: dict[str, Any], params: Any) -> str:
        given = {} if params is None else {"params": params}
        return json.dumps({**self._head, **message, **given}, ensure_ascii=False) + "\n"

    def _reply(self, key: str, body: dict[str, Any]) -> str:
        if key not in self._asked:
            return ""
        return self._line({"id": self._asked.pop(key), **body}, None)

    def read(self, line: str) -> LiveStep | None:
        """Take a line; None when it is no message. Raises JSONDecodeError when it is no JSON."""
        message = json.loads(line)
        if not isinstance(message, dict):
            return None
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str):
            if "id" in message:
                return self._request(method, number, message.get("params"))
            notified = self._notified.get(method)
            return NOTHING if notified is None else notified(message.get("params"))
        if isinstance(number, int) and ("result" in message or "error" in message):
            return self._response(number, message)
        if "error" in message:  # it could not even read what it was told
            return _fail(_error(message["error"]))
        return None

    def _request(self, method: str, number: Any, params: Any) -> LiveStep:
        key = number if isinstance(number, str) else json.dumps(number)
        while key in self._asked:
            key += "'"
        self._asked[key] = number
        serve = self._served.get(method)
        if serve is not None:
            return serve(key, params)
        return LiveStep(
            replies=(self.error(key, METHOD_NOT_FOUND, f"{method} is not supported here"),)
        )

    def _response(self, number: int, message: dict[str, Any]) -> LiveStep:
        waiting = self._waiting.pop(number, None)
        if waiting is None:
            return NOTHING
        on_result, on_error = waiting
        if message.get("error") is not None:
            return on_error(_error(message["error"]))
        return on_result(message.get("result"))


def _error(error: Any) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(0, str(error))
    code, message = error.get("code"), error.get("message")
    return RpcError(
        code if isinstance(code, int) else 0,
        message if isinstance(message, str) and message else "an error without a message",
        error.get("data"),
    )
