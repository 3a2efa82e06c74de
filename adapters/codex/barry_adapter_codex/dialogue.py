"""Codex's app server on stdin and stdout, without any reading or writing.

Its protocol alone knows the policy ``untrusted``, under which every command, change of files and
call of an MCP server is asked about. A refusal has no room for a reason there: the sentence goes
before the agent as a message of the developer's, in the same turn.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from barry_adapter_codex.arguments import LABEL
from barry_adapter_codex.asking import Asking
from barry_adapter_codex.calls import Row
from barry_adapter_codex.events import events
from barry_adapter_codex.tokens import Tokens
from barry_cli.agents import (
    AgentEvent,
    AgentInput,
    JsonRpc,
    LiveStep,
    Observed,
    Raw,
    RpcError,
    read_object,
    read_string,
)
from barry_cli.sessions import (
    Allowed,
    Denied,
    Done,
    Failed,
    Init,
    Result,
    ToolResult,
    UsageReported,
)

ASKING = {"approvalPolicy": "untrusted", "approvalsReviewer": "user"}
"""Everything is asked about, and asked of Barry; said on every turn."""

_HELLO = {
    "clientInfo": {"name": "barry", "title": "Barry", "version": "1"},
    # What a cut command leaves running can only be ended with it.
    "capabilities": {"experimentalApi": True},
}
_UNASKED = f"{LABEL} ran a call that Barry did not allow; its turn was ended"
_NO_LOGIN = (
    f"{LABEL} is not logged in: run `codex login`, or hand a key to `codex login --with-api-key`; "
    "one in the environment counts only for a provider of your own settings"
)
_NOTHING = LiveStep()


class Dialogue:
    """One process: a conversation, messages during a turn, and after it the next turn's."""

    def __init__(self, input: AgentInput) -> None:
        self._input = input
        self._goes_on = input.continuation
        self._waiting: deque[str] = deque([input.text])
        self._asking = Asking(lambda: self._rpc, self._tell, input.denied_tools)
        self._rpc = JsonRpc(version=None, served=self._asking.served)
        self._tokens = Tokens(fresh=self._goes_on is None)
        self._thread: str | None = None
        self._turn: str | None = None
        self._busy = False
        self._cut = False
        self._answer: str | None = None
        self._notified: dict[str, Callable[[Row, str], LiveStep | None]] = {
            "item/completed": self._ended,
            "item/started": self._begun,
            "serverRequest/resolved": self._resolved,
            "thread/tokenUsage/updated": self._counted,
            "turn/completed": self._over,
            "turn/started": self._named,
        }

    # --- what the driver calls ---

    def start(self) -> str:
        """Say hello; everything else follows from the answers."""
        return self._rpc.request("initialize", _HELLO, on_result=self._greeted)

    def encode(self, text: str) -> str:
        if self._thread is None or (self._busy and self._turn is None):
            self._waiting.append(text)
            return ""
        return self._steer(text) if self._busy else self._begin(text)

    def read(self, line: str) -> LiveStep | None:
        row = json.loads(line)
        method, params = read_string(row, "method"), read_object(row, "params")
        if method is None or "id" in row:
            return self._rpc.read(line)
        if params is None or self._thread is None:
            return None
        if read_string(params, "threadId") not in (None, self._thread):
            return LiveStep(events=(Raw(line),))
        notified = self._notified.get(method)
        return None if notified is None else notified(params, line)

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        return self._asking.answer(id, decision)

    def interrupt(self) -> str | None:
        """Cut the turn, and end what its commands left running: Codex would let that go on."""
        if self._thread is None:
            return None
        self._asking.forget()
        self._waiting.clear()
        self._cut = True
        if self._turn is None:
            return ""  # it is cut as soon as it has a name
        named = {"threadId": self._thread}
        return self._rpc.request(
            "turn/interrupt", {**named, "turnId": self._turn}, on_error=_ignored
        ) + self._rpc.request("thread/backgroundTerminals/clean", named, on_error=_ignored)

    # --- the conversation ---

    def _greeted(self, result: Any) -> LiveStep:
        """The build is the number in ``barry/0.171.0 (...)``."""
        agent = read_string(result, "userAgent") or ""
        version = agent.partition("/")[2].partition(" ")[0] or None
        replies = (
            self._rpc.notify("initialized"),
            self._rpc.request(
                "account/read", {}, on_result=self._logged_in, on_error=lambda _: self._open()
            ),
        )
        return LiveStep(events=(Observed(version=version),), replies=replies)

    def _logged_in(self, result: Any) -> LiveStep:
        """Without a login Codex would send requests that nobody answers."""
        asked = isinstance(result, dict) and result.get("requiresOpenaiAuth") is True
        if asked and read_object(result, "account") is None:
            return _failed(_NO_LOGIN)
        return self._open()

    def _open(self) -> LiveStep:
        config, goes_on = self._input.config, self._goes_on
        options = config.options or {}
        params: dict[str, Any] = {"cwd": config.cwd, **ASKING}
        if config.project_roots:
            params["runtimeWorkspaceRoots"] = [config.cwd, *config.project_roots]
        if "sandbox" in options:
            params["sandbox"] = options["sandbox"]
        method = "thread/start"
        if goes_on is not None:
            method = "thread/fork" if goes_on.fork else "thread/resume"
            params |= {"threadId": goes_on.id, "excludeTurns": True}
        if config.ephemeral and method != "thread/resume":
            params["ephemeral"] = True
        return LiveStep(replies=(self._rpc.request(method, params, on_result=self._opened),))

    def _opened(self, result: Any) -> LiveStep:
        """It is the conversation that was asked for, and everything in it is asked about."""
        named, goes_on = read_string(read_object(result, "thread"), "id"), self._goes_on
        if named is None:
            return _failed(f"{LABEL} did not name the conversation that it began")
        if goes_on is not None and (named == goes_on.id) == goes_on.fork:
            return _failed(f"conversation_lost: {LABEL} went on with {named}, not {goes_on.id}")
        other = {key: read_string(result, key) for key in ASKING}
        if other != ASKING:
            return _failed(f"{LABEL} does not let Barry rule on its calls: it goes by {other}")
        self._thread = named
        told = (Observed(model=read_string(result, "model")), Init(harness_session_id=named))
        return LiveStep(events=told, replies=(self._begin(self._waiting.popleft()),))

    def _begin(self, text: str) -> str:
        """A turn; its name comes with the answer."""
        self._busy, self._turn, self._cut, self._answer = True, None, False, None
        self._tokens.begin()
        params: dict[str, Any] = {"threadId": self._thread, "input": _text(text), **ASKING}
        if self._input.output_schema is not None:
            params["outputSchema"] = self._input.output_schema
        return self._rpc.request("turn/start", params, on_result=self._started)

    def _started(self, result: Any) -> LiveStep:
        name = read_string(read_object(result, "turn"), "id")
        if name is None or not self._busy:
            return _NOTHING
        self._turn = name
        if self._cut:
            return LiveStep(replies=(self.interrupt() or "",))
        waiting, self._waiting = self._waiting, deque()
        return LiveStep(replies=tuple(self._steer(text) for text in waiting))

    def _steer(self, text: str) -> str:
        params = {"threadId": self._thread, "expectedTurnId": self._turn, "input": _text(text)}

        def too_late(error: RpcError) -> LiveStep:
            if self._busy or self._cut:
                self._waiting.append(text)
                return _NOTHING
            return LiveStep(replies=(self._begin(text),))

        return self._rpc.request("turn/steer", params, on_error=too_late)

    def _tell(self, sentence: str) -> str:
        """A sentence that stands before the agent from its next request on."""
        part = {"type": "input_text", "text": sentence}
        message = {"type": "message", "role": "developer", "content": [part]}
        params = {"threadId": self._thread, "items": [message]}
        return self._rpc.request("thread/inject_items", params, on_error=_ignored)

    # --- what Codex tells ---

    def _named(self, params: Row, line: str) -> LiveStep:
        return LiveStep(events=(Init(harness_session_id=self._thread or ""),))

    def _begun(self, params: Row, line: str) -> LiveStep | None:
        item = read_object(params, "item") or {}
        if not self._asking.begun(item):
            return LiveStep(events=(*events(line), Failed(error=_UNASKED)))
        return None

    def _ended(self, params: Row, line: str) -> LiveStep | None:
        item = read_object(params, "item") or {}
        kind = read_string(item, "type")
        if kind == "userMessage":
            return LiveStep(consumed=1)
        if kind == "agentMessage" and read_string(item, "phase") != "commentary":
            self._answer = read_string(item, "text") or self._answer
        told = events(line)
        refused = self._asking.refused.pop(read_string(item, "id") or "", None)
        if refused is not None:
            told = tuple(
                each.model_copy(update={"result": refused})
                if isinstance(each, ToolResult)
                else each
                for each in told
            )
        unasked = () if self._asking.ended(item) else (Failed(error=_UNASKED),)
        return LiveStep(events=(*told, *unasked))

    def _resolved(self, params: Row, line: str) -> LiveStep:
        self._asking.forget(json.dumps(params.get("requestId")).strip('"'))
        return _NOTHING

    def _counted(self, params: Row, line: str) -> LiveStep:
        usage = read_object(params, "tokenUsage")
        ours = self._turn is not None and read_string(params, "turnId") == self._turn
        if usage is not None:
            self._tokens.take(usage, of_the_turn=ours)
        return _NOTHING

    def _over(self, params: Row, line: str) -> LiveStep:
        name = read_string(read_object(params, "turn"), "id")
        if not self._busy or self._turn not in (None, name):
            return LiveStep(events=(Raw(line),))
        self._busy, self._turn = False, None
        told = events(line)
        whole = any(isinstance(each, Done) for each in told)
        usage = self._tokens.spent(whole=whole)
        found: list[AgentEvent] = []
        if whole:
            found.append(Result(result=self._answer, structured=self._structured()))
        elif usage is not None and name:
            found.append(UsageReported(id=name, usage=usage))
        found += [
            each.model_copy(update={"usage": usage}) if isinstance(each, Done) else each
            for each in told
        ]
        late = (self._begin(self._waiting.popleft()),) if self._waiting else ()
        return LiveStep(events=tuple(found), replies=late)

    def _structured(self) -> Any:
        """The answer of a turn with a schema, which the service enforces on its text."""
        if self._input.output_schema is None or self._answer is None:
            return None
        try:
            return json.loads(self._answer)
        except (ValueError, RecursionError):
            return None


def _text(text: str) -> list[Row]:
    return [{"type": "text", "text": text}]


def _failed(sentence: str) -> LiveStep:
    return LiveStep(events=(Failed(error=sentence),))


def _ignored(error: RpcError) -> LiveStep:
    return _NOTHING
