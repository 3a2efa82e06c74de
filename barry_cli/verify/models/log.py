"""The log of requests: in memory for questions, on request as NDJSON for people.

Keys are never kept: a secret header appears as its name and the head of a SHA-256.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Literal

from barry_cli.verify.models.shapes import Api, Turn

Kind = Literal["model", "count", "models", "probe", "refused"]

_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|credential", re.IGNORECASE)
_AUTH_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization")
_SECRET_QUERY = re.compile(r"([?&](?:key|access_token|api_key)=)([^&#]*)", re.IGNORECASE)
_SCHEME = re.compile(r"^(?:bearer|basic|token)\s+", re.IGNORECASE)


def digest(secret: str) -> str:
    """The first 16 hex digits of the secret's SHA-256: enough to compare, useless to guess."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SentKey:
    """Where a key travelled (a header's name, or `query`) and the digest of it."""

    header: str
    digest: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool said. `is_error` is None where the API has no mark for it."""

    text: str
    is_error: bool | None
    call_id: str


# A dataclass, not a validated model: the texts are whatever a client sent, lone surrogates too.
@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request. `tool_results` are those that it brought for the first time."""

    seq: int
    time: str
    method: str
    path: str
    kind: Kind
    api: Api | None
    headers: Mapping[str, str]
    keys: tuple[SentKey, ...]
    body: Any
    answer: str
    model: str = ""
    stream: bool = False
    tools: tuple[str, ...] = ()
    text: str = ""
    tool_results: tuple[ToolResult, ...] = ()
    system: str = ""

    def key_matches(self, secret: str) -> bool:
        """Whether the request carried this key, in any of the places for keys."""
        return any(key.digest == digest(secret) for key in self.keys)

    def contains(self, text: str) -> bool:
        """Whether the text stands anywhere in the body, in whatever role."""
        return _contains(self.body, text)

    def as_json(self) -> dict[str, Any]:
        """The request as the log file holds it."""
        return {
            "seq": self.seq,
            "time": self.time,
            "method": self.method,
            "path": self.path,
            "kind": self.kind,
            "api": self.api,
            "model": self.model,
            "stream": self.stream,
            "tools": list(self.tools),
            "text": self.text,
            "toolResults": [
                {"text": result.text, "isError": result.is_error, "callId": result.call_id}
                for result in self.tool_results
            ],
            "system": self.system,
            "answer": self.answer,
            "keys": [{"header": key.header, "sha256": key.digest} for key in self.keys],
            "headers": dict(self.headers),
            "body": self.body,
        }


def _contains(value: Any, text: str) -> bool:
    pending = [value]
    while pending:
        found = pending.pop()
        if isinstance(found, str) and text in found:
            return True
        if isinstance(found, dict):
            pending += found.values()
        elif isinstance(found, list):
            pending += found
    return False


def tool_result(turn: Turn) -> ToolResult:
    """A conversation's tool turn as the log shows it."""
    return ToolResult(turn.text, turn.is_error, turn.call_id)


def sent_keys(path: str, headers: Mapping[str, str]) -> tuple[SentKey, ...]:
    """The keys of a request, by name and digest. `headers` has lower-case names."""
    found = [
        SentKey(name, digest(_SCHEME.sub("", headers[name])))
        for name in _AUTH_HEADERS
        if headers.get(name)
    ]
    found += [SentKey("query", digest(match[2])) for match in _SECRET_QUERY.finditer(path)]
    return tuple(found)


def masked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """All headers, with every value that may be a secret replaced by its digest."""
    return {
        name: f"sha256:{digest(value)}" if _SECRET_NAME.search(name) else value
        for name, value in headers.items()
    }


def masked_path(path: str) -> str:
    """The path with keys in its query replaced by their digest."""
    return _SECRET_QUERY.sub(lambda match: f"{match[1]}sha256:{digest(match[2])}", path)


class RequestLog:
    """Thread-safe, append-only. With a file, every request is one line there (mode 0600)."""

    def __init__(self, file: Path | None = None) -> None:
        """Raises OSError when the file can't be opened for appending."""
        self._changed = threading.Condition()
        self._requests: list[LoggedRequest] = []
        self._gone: list[int] = []
        self._file: BinaryIO | None = None
        self._name = file
        self.fault = ""
        if file is not None:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.fdopen(os.open(file, flags, 0o600), "ab")

    def append(self, request: LoggedRequest) -> None:
        """Add a request and wake whoever waits for it."""
        with self._changed:
            self._requests.append(request)
            self._write(request.as_json())
            self._changed.notify_all()

    def client_gone(self, seq: int) -> None:
        """Note that the client left before its answer was complete."""
        with self._changed:
            self._gone.append(seq)
            self._write({"seq": seq, "clientGone": True})
            self._changed.notify_all()

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Everything so far, in order of arrival."""
        with self._changed:
            return tuple(self._requests)

    @property
    def gone(self) -> tuple[int, ...]:
        """The `seq` of every request whose client left early."""
        with self._changed:
            return tuple(self._gone)

    def wait_for(self, predicate: Callable[[LoggedRequest], bool], timeout: float) -> LoggedRequest:
        """The first request, past or coming, that fulfils the predicate. Raises TimeoutError."""
        deadline = monotonic() + timeout
        seen = 0
        while True:
            with self._changed:
                while seen == len(self._requests):
                    left = deadline - monotonic()
                    if left <= 0:
                        raise TimeoutError(
                            f"no such request within {timeout:g} s; {seen} others were logged"
                        )
                    self._changed.wait(left)
                fresh = self._requests[seen:]
            for request in fresh:
                if predicate(request):
                    return request
            seen += len(fresh)

    def close(self) -> None:
        """Close the file; the requests in memory stay."""
        with self._changed:
            if self._file is not None:
                with contextlib.suppress(OSError):
                    self._file.close()
                self._file = None

    def _write(self, entry: Mapping[str, Any]) -> None:
        """A log that can't be written says so once and stops, rather than tear a line."""
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            reason = error.strerror or str(error)
            self.fault = f"The log {self._name} can't be written: {reason}; it ends here."
            sys.stderr.write(self.fault + "\n")
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
