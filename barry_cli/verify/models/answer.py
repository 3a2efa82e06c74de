"""From an incoming request to its answer, without any sockets."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from barry_cli.verify.models import anthropic, gemini, openai_chat, openai_responses
from barry_cli.verify.models.body import BodyError
from barry_cli.verify.models.catalogue import catalogue
from barry_cli.verify.models.choose import Choice, choose, new_results, own_call_id, rounds
from barry_cli.verify.models.log import (
    Kind,
    LoggedRequest,
    RequestLog,
    masked_headers,
    masked_path,
    sent_keys,
    tool_result,
)
from barry_cli.verify.models.script import Call, Drop, Fail, Say, Script, ToolCall
from barry_cli.verify.models.shapes import (
    Api,
    Json,
    ModelRequest,
    PlannedCall,
    Reply,
    TokenCount,
    Wire,
)

WIRES: Mapping[Api, Wire] = MappingProxyType(
    {
        "anthropic": anthropic,
        "openai-responses": openai_responses,
        "openai-chat": openai_chat,
        "gemini": gemini,
    }
)

_ROUTES: tuple[tuple[str, Kind, Api], ...] = (
    ("/messages/count_tokens", "count", "anthropic"),
    ("/messages", "model", "anthropic"),
    ("/responses/input_tokens", "count", "openai-responses"),
    ("/responses", "model", "openai-responses"),
    ("/chat/completions", "model", "openai-chat"),
    (":generateContent", "model", "gemini"),
    (":streamGenerateContent", "model", "gemini"),
    (":countTokens", "count", "gemini"),
)
_BROKEN_OFF = "This answer was meant to break off midway through the stream."
_EVENTS = "text/event-stream"
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came. `headers` has lower-case names; the body may have failed to read."""

    seq: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | BodyError


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An answer: one document, or events as they come. `cut` ends the connection after it."""

    status: int
    body: bytes | Iterable[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    cut: bool = False


class Answerer:
    """Holds what outlives a request: the script, the log, and how often a step has failed."""

    def __init__(self, script: Script, log: RequestLog) -> None:
        self.script = script
        self.log = log
        self._run = secrets.token_hex(4)
        self._spent: Counter[tuple[int, int]] = Counter()
        self._choosing = threading.Lock()

    def play(self, script: Script) -> None:
        """Answer by another script from now on; its failures are counted anew."""
        with self._choosing:
            self.script = script
            self._spent.clear()

    def answer(self, incoming: Incoming, pause: Callable[[float], None]) -> Outgoing:
        """The answer to a request. `pause` waits some seconds, or raises to give up."""
        kind, api = _route(incoming)
        body: Any = None
        try:
            if isinstance(incoming.body, BodyError):
                raise incoming.body
            if api is not None:
                body = _parsed(incoming.body)
        except BodyError as error:
            shown = _shown(incoming.body)
            self.log.append(self._entry(incoming, "refused", api, shown, f"{error.status}"))
            return _refusal(api, error.status, str(error))
        if api is not None and kind == "model":
            return self._model(incoming, api, body, pause)
        status, document = self._aside(kind, api, incoming)
        shown = body if api is not None else _shown(incoming.body)
        self.log.append(self._entry(incoming, kind, api, shown, f"{status}"))
        return Outgoing(status, _encoded(document))

    def _aside(self, kind: Kind, api: Api | None, incoming: Incoming) -> tuple[int, Json]:
        """Status and document of everything that is no model call."""
        if api is not None:
            return 200, WIRES[api].tokens(_estimate(incoming))
        if kind == "models":
            return 200, catalogue(self.script.models, incoming.path, incoming.headers)
        if incoming.path.partition("?")[0] == "/":
            return 200, {}
        return 404, openai_chat.error(404, f"no model API at {incoming.method} on this path.")

    def _model(
        self, incoming: Incoming, api: Api, body: Json, pause: Callable[[float], None]
    ) -> Outgoing:
        wire = WIRES[api]
        request = wire.read(incoming.path, body)
        with self._choosing:
            choice = choose(self.script, request, self._spent)
            if choice.rule is not None and choice.index is not None:
                self._spent[choice.rule, choice.index] += 1
        self.log.append(self._entry(incoming, "model", api, body, choice.label, request, choice))
        step = choice.step
        if isinstance(step, Fail):
            document = _encoded(wire.error(step.status, step.message))
            return Outgoing(step.status, document, step.headers)
        if isinstance(step, Drop) and step.drop == "before":
            return Outgoing(200, b"", cut=True)
        if isinstance(step, Drop):
            step = Say(text=_BROKEN_OFF, chunks=8)
        if isinstance(step, Call):
            pause(step.delay)
        reply = self._reply(incoming, request, step, pause)
        if isinstance(choice.step, Drop):
            return _broken_off(incoming, request, reply)
        return _rendered(incoming, request, reply)

    def _reply(
        self,
        incoming: Incoming,
        request: ModelRequest,
        step: Say | Call,
        pause: Callable[[float], None],
    ) -> Reply:
        prefix = "toolu" if request.api == "anthropic" else "call"
        calls = tuple(
            _planned(call, request, own_call_id(prefix, self._run, incoming.seq, index))
            for index, call in enumerate(step.tools if isinstance(step, Call) else ())
        )
        chunks, delay = (step.chunks, step.delay) if isinstance(step, Say) else (1, 0.0)
        return Reply(
            id=f"{self._run}{incoming.seq:06d}",
            created=int(time.time()),
            text=step.text,
            pieces=_paced(step.text, chunks, delay, pause),
            calls=calls,
            usage=self._usage(request, step.text, calls, _estimate(incoming)),
        )

    def _usage(
        self, request: ModelRequest, text: str, calls: tuple[PlannedCall, ...], given: int
    ) -> TokenCount:
        """The script's numbers, else estimates; a conversation's older part counts as cached."""
        fixed = self.script.usage
        if fixed is not None:
            return TokenCount(max(fixed.input, fixed.cached), fixed.cached, fixed.output)
        said = len(text) + sum(len(json.dumps(call.input)) + len(call.name) for call in calls)
        cached = given * 3 // 4 if rounds(request.turns) else 0
        return TokenCount(given, cached, max(1, said // _BYTES_PER_TOKEN))

    def _entry(
        self,
        incoming: Incoming,
        kind: Kind,
        api: Api | None,
        body: Any,
        answer: str,
        request: ModelRequest | None = None,
        choice: Choice | None = None,
    ) -> LoggedRequest:
        turns = request.turns if request else ()
        return LoggedRequest(
            seq=incoming.seq,
            time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            method=incoming.method,
            path=masked_path(incoming.path),
            kind=kind,
            api=api,
            headers=masked_headers(incoming.headers),
            keys=sent_keys(incoming.path, incoming.headers),
            body=body,
            answer=answer,
            model=request.model if request else "",
            stream=request.stream if request else False,
            tools=tuple(tool.label for tool in request.tools) if request else (),
            text=choice.text if choice else "",
            tool_results=tuple(tool_result(turn) for turn in new_results(turns)),
            system=request.system if request else "",
        )


def _route(incoming: Incoming) -> tuple[Kind, Api | None]:
    """By the end of the path, so that any base URL in front of it works."""
    path = incoming.path.partition("?")[0].rstrip("/")
    if incoming.method == "POST":
        for suffix, kind, api in _ROUTES:
            if path.endswith(suffix):
                return kind, api
    elif path.endswith("/models") or "/models/" in path:
        return "models", None
    return "probe", None


def _parsed(raw: bytes) -> Json:
    """The body as a JSON object. Raises BodyError."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        body = json.loads(raw, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise BodyError(400, "the body is not valid JSON.") from None
    if not isinstance(body, dict):
        raise BodyError(400, "the body must be a JSON object.")
    return body


def _estimate(incoming: Incoming) -> int:
    """About how many tokens a request holds."""
    size = len(incoming.body) if isinstance(incoming.body, bytes) else 0
    return max(1, size // _BYTES_PER_TOKEN)


def _shown(body: bytes | BodyError) -> str | None:
    """What the log keeps of a body that is no model request."""
    return body[:2000].decode("utf-8", "replace") or None if isinstance(body, bytes) else None


def _refusal(api: Api | None, status: int, message: str) -> Outgoing:
    return Outgoing(status, _encoded(WIRES[api or "openai-chat"].error(status, message)))


def _encoded(document: Json | list[Json]) -> bytes:
    return json.dumps(document).encode()


def _planned(call: ToolCall, request: ModelRequest, call_id: str) -> PlannedCall:
    """The call in the spelling that the request offers the tool in; unknown tools as scripted."""
    offered = next(
        (
            tool
            for tool in request.tools
            if call.tool in (tool.name, tool.label) and call.namespace in ("", tool.namespace)
        ),
        None,
    )
    free_text = request.api.startswith("openai") and (
        offered.custom if offered else isinstance(call.input, str)
    )
    given: Json | str = call.input
    if free_text and not isinstance(given, str):
        given = given["input"] if isinstance(given.get("input"), str) else json.dumps(given)
    elif not free_text and isinstance(given, str):
        given = {"input": given}
    if offered:
        return PlannedCall(call_id, offered.name, offered.namespace, given)
    namespace, _, name = call.tool.rpartition("/")
    return PlannedCall(call_id, name or call.tool, call.namespace or namespace, given)


def _paced(text: str, chunks: int, delay: float, pause: Callable[[float], None]) -> Iterator[str]:
    """The text in `chunks` pieces of like size, with a pause before each."""
    size = max(1, -(-len(text) // chunks))
    for start in range(0, max(1, len(text)), size):
        if delay:
            pause(delay)
        if text:
            yield text[start : start + size]


def _rendered(incoming: Incoming, request: ModelRequest, reply: Reply) -> Outgoing:
    wire = WIRES[request.api]
    # Without alt=sse this API streams one JSON array.
    listed = request.api == "gemini" and request.stream and "alt=sse" not in incoming.path
    if request.stream and not listed:
        return Outgoing(200, wire.events(request, reply), content_type=_EVENTS)
    document = wire.whole(request, reply)
    return Outgoing(200, _encoded([document] if listed else document))


def _broken_off(incoming: Incoming, request: ModelRequest, reply: Reply) -> Outgoing:
    """The first half of the answer, on a connection that then closes."""
    sound = _rendered(incoming, request, reply)
    if isinstance(sound.body, bytes):
        return replace(sound, body=[sound.body[: len(sound.body) // 2]], cut=True)
    parts = list(sound.body)
    return replace(sound, body=parts[: len(parts) // 2], cut=True)
