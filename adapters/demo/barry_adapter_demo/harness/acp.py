"""The Agent Client Protocol end (version 1): JSON-RPC 2.0, one object a line, on stdio.

The main thread reads. Every prompt runs in a thread of its own, one at a time for each session.
"""

import json
import os
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import VERSION
from .cancel import Cancel
from .conversation import Conversation, start
from .files import ServerSpec, server
from .options import Options
from .problems import Refused
from .processes import Groups
from .tools import Call, Result
from .turn import Denial, run_turn
from .wire import Lines, json_line, parsed, say, write

_KINDS = {"shell": "execute", "read": "read", "write": "edit"}
_OPTIONS = (
    ("yes", "Allow", "allow_once"),
    ("always", "Always allow", "allow_always"),
    ("no", "Reject", "reject_once"),
)
_END_SECONDS = 5.0

Params = Mapping[str, object]


class _RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class _Session:
    conversation: Conversation
    cancel: Cancel = field(default_factory=Cancel)
    turn: threading.Thread | None = None
    busy: bool = False
    """A prompt is not answered yet. Not the same as a thread that is alive: it ends later."""


def run(options: Options, env: Mapping[str, str], cancel: Cancel, groups: Groups) -> int:
    """Serve one client until it closes stdin. Returns the exit status."""
    return _Agent(options, env, cancel, groups).serve()


class _Agent:
    def __init__(
        self, options: Options, env: Mapping[str, str], cancel: Cancel, groups: Groups
    ) -> None:
        self._options = options
        self._env = env
        self._cancel = cancel
        self._groups = groups
        self._sessions: dict[str, _Session] = {}
        self._lock = threading.Lock()
        self._asked = 0
        self._answers: dict[int, tuple[_Session, queue.SimpleQueue[object]]] = {}
        self._methods: dict[str, Callable[[Params], object]] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
        }

    def serve(self) -> int:
        lines = Lines(0, self._cancel)
        try:
            while (line := lines.next()) is not None:
                if line.strip():
                    self._receive(line)
        except (OSError, ValueError) as error:
            say(f"the client's messages cannot be read: {error}")
            return 1
        finally:
            for session in list(self._sessions.values()):
                self._stop(session)
                if session.turn:
                    session.turn.join(_END_SECONDS)
        return self._cancel.status

    def send(self, message: Mapping[str, object]) -> None:
        with self._lock:
            try:
                write(1, json_line({"jsonrpc": "2.0", **message}), self._cancel)
            except OSError:
                self._cancel.set("hangup")  # The client is gone.

    def request(self, session: _Session, method: str, params: Params) -> object:
        """Ask the client, from a turn's thread. Returns its result; None when it has none."""
        answer: queue.SimpleQueue[object] = queue.SimpleQueue()
        with self._lock:
            self._asked += 1
            number = self._asked
            self._answers[number] = (session, answer)
        if session.cancel.reason:
            answer.put(None)  # The cancel came before we could be found.
        self.send({"id": number, "method": method, "params": params})
        result = answer.get()
        self._answers.pop(number, None)
        return result

    def _receive(self, line: bytes) -> None:
        try:
            message = parsed(line)
        except ValueError:
            self._fail(None, -32700, "not a JSON text")
            return
        if not isinstance(message, dict):
            self._fail(None, -32600, "not a request")
            return
        number, method, params = message.get("id"), message.get("method"), message.get("params")
        if not isinstance(method, str):
            self._answered(number, message.get("result"))
            return
        try:
            if not isinstance(params or {}, dict):
                raise _RpcError(-32602, "params must be an object")
            self._dispatch(number, method, params or {})
        except _RpcError as error:
            if "id" in message:
                self._fail(number, error.code, str(error))
        except Refused as problem:
            if "id" in message:
                self._fail(number, -32603, str(problem))

    def _dispatch(self, number: object, method: str, params: Params) -> None:
        if method == "session/cancel":
            self._stop(self._session(params))
        elif method == "session/prompt":
            self._prompt(number, params)
        elif method in self._methods:
            self.send({"id": number, "result": self._methods[method](params)})
        else:
            raise _RpcError(-32601, f"no method {method}")

    def _fail(self, number: object, code: int, message: str) -> None:
        self.send({"id": number, **_error(code, message)})

    def _answered(self, number: object, result: object) -> None:
        waiting = self._answers.get(number) if isinstance(number, int) else None
        if waiting:
            waiting[1].put(result)

    def _stop(self, session: _Session) -> None:
        session.cancel.set()
        with self._lock:
            waiting = [answer for asking, answer in self._answers.values() if asking is session]
        for answer in waiting:
            answer.put(None)

    def _initialize(self, params: Params) -> object:
        return {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
                "mcpCapabilities": {"http": False, "sse": False},
            },
            "agentInfo": {"name": "demo-harness", "title": "Demo", "version": VERSION},
            "authMethods": [],
        }

    def _new(self, params: Params) -> object:
        session = self._open(params, None)
        return {"sessionId": session.conversation.id}

    def _load(self, params: Params) -> object:
        name = params.get("sessionId")
        if not isinstance(name, str):
            raise _RpcError(-32602, "sessionId must be a text")
        if name in self._sessions:
            raise _RpcError(-32602, f"session {name} is open already")
        try:
            session = self._open(params, name)
        except Refused as problem:
            raise _RpcError(-32002, str(problem)) from None
        for event in session.conversation.history:
            self._replay(session, event)
        return {}

    def _open(self, params: Params, resume: str | None) -> _Session:
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not os.path.isabs(cwd) or not os.path.isdir(cwd):
            raise _RpcError(-32602, "cwd must be an absolute path of a directory")
        opened = start(
            self._options,
            os.path.realpath(cwd),
            self._env,
            self._groups,
            self._cancel,
            say,
            resume=resume,
            servers=_servers(params.get("mcpServers")),
        )
        session = self._sessions[opened.id] = _Session(opened)
        return session

    def _session(self, params: Params) -> _Session:
        name = params.get("sessionId")
        session = self._sessions.get(name) if isinstance(name, str) else None
        if session is None:
            raise _RpcError(-32602, f"no session {name}")
        return session

    def _prompt(self, number: object, params: Params) -> None:
        session = self._session(params)
        if session.busy:
            raise _RpcError(-32600, "a prompt of this session is running")
        text = _prompt_text(params.get("prompt"))
        session.cancel.clear()
        session.busy = True
        session.turn = threading.Thread(target=self._turn, args=(session, number, text))
        session.turn.start()

    def _turn(self, session: _Session, number: object, text: str) -> None:
        surface = _Surface(self, session)
        answer: dict[str, object]
        try:
            outcome = run_turn(session.conversation, text, surface, session.cancel)
        except Exception as error:  # A thread's fault must reach the client as an answer.
            answer = _error(-32603, f"a fault of the agent: {type(error).__name__}: {error}")
        else:
            reason = {"ok": "end_turn", "interrupted": "cancelled"}.get(outcome.code)
            answer = {"result": {"stopReason": reason, **surface.meta}}
            if reason is None:
                answer = _error(-32603, outcome.message)
        session.busy = False  # Before the answer: the client may send the next prompt at once.
        self.send({"id": number, **answer})

    def _replay(self, session: _Session, event: Mapping[str, object]) -> None:
        surface, kind = _Surface(self, session), event["type"]
        if kind in ("user", "assistant"):
            chunk = "user_message_chunk" if kind == "user" else "agent_message_chunk"
            surface.update(chunk, content=_text(str(event.get("text"))))
        elif kind in ("tool_use", "tool_result"):
            given = event.get("input")
            value = given if isinstance(given, dict) else {}
            call = Call(str(event.get("id")), str(event.get("name")), value)
            if kind == "tool_use":
                surface.tool_use(call)
            else:
                output = str(event.get("output"))
                surface.tool_result(call, Result(event.get("ok") is True, output, ""))


class _Surface:
    """Shows one turn as ``session/update`` notifications."""

    def __init__(self, agent: _Agent, session: _Session) -> None:
        self._agent = agent
        self._session = session
        self.meta: dict[str, object] = {}

    def update(self, update: str, /, **fields: object) -> None:
        params = {
            "sessionId": self._session.conversation.id,
            "update": {"sessionUpdate": update, **fields},
        }
        self._agent.send({"method": "session/update", "params": params})

    def delta(self, text: str) -> None:
        self.update("agent_message_chunk", content=_text(text))

    def text(self, text: str) -> None:
        pass  # Its parts are sent already.

    def tool_use(self, call: Call) -> None:
        self.update("tool_call", **_tool_call(call), status="pending")

    def tool_result(self, call: Call, result: Result) -> None:
        self.update(
            "tool_call_update",
            toolCallId=call.id,
            status="completed" if result.ok else "failed",
            content=[{"type": "content", "content": _text(result.output)}],
        )

    def usage(self, given: int, made: int) -> None:
        self.meta = {"_meta": {"usage": {"inputTokens": given, "outputTokens": made}}}

    def garbage(self, text: str) -> None:
        write(1, f"{text}\n".encode("utf-8", "replace"), self._session.cancel)

    def ask(self, call: Call) -> str | Denial:
        params = {
            "sessionId": self._session.conversation.id,
            "toolCall": {**_tool_call(call), "status": "pending"},
            "options": [
                {"optionId": name, "name": label, "kind": kind} for name, label, kind in _OPTIONS
            ],
        }
        result = self._agent.request(self._session, "session/request_permission", params)
        outcome = result.get("outcome") if isinstance(result, dict) else None
        if not isinstance(outcome, dict):
            return "no"  # No answer, or one that cannot be read, allows nothing.
        if outcome.get("outcome") == "cancelled":
            return "cancel"
        said = outcome.get("optionId") if outcome.get("outcome") == "selected" else None
        return said if isinstance(said, str) else "no"


def _error(code: int, message: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message}}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _tool_call(call: Call) -> dict[str, object]:
    return {
        "toolCallId": call.id,
        "title": f"{call.name}: {_title(call)}",
        "kind": _KINDS.get(call.name, "other"),
        "rawInput": dict(call.input),
        "_meta": {"tool": call.name},
    }


def _title(call: Call) -> str:
    try:
        return call.title
    except KeyError:
        return json.dumps(dict(call.input))  # A call that will be refused as invalid.


def _prompt_text(value: object) -> str:
    """The text of a prompt's blocks. Raises for a block that we did not offer to take."""
    parts: list[str] = []
    for block in value if isinstance(value, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            parts.append(str(block.get("text", "")))
        elif kind == "resource_link":
            parts.append(str(block.get("uri", "")))
        else:
            raise _RpcError(-32602, f"a prompt block of type {kind} cannot be taken")
    if not "".join(parts).strip():
        raise _RpcError(-32602, "the prompt is empty")
    return "\n".join(parts)


def _servers(value: object) -> tuple[ServerSpec, ...]:
    """MCP servers as the protocol gives them: env is a list of names and values."""
    specs: list[ServerSpec] = []
    for each in value if isinstance(value, list) else []:
        given = each if isinstance(each, dict) else {}
        if given.get("type", "stdio") != "stdio":
            raise _RpcError(-32602, "only stdio MCP servers can be used")
        pairs = given.get("env", [])
        pairs = pairs if isinstance(pairs, list) else []
        env = {str(pair.get("name")): pair.get("value") for pair in pairs if isinstance(pair, dict)}
        try:
            specs.append(server(given.get("name"), {**given, "env": env}, "mcpServers"))
        except Refused as problem:
            raise _RpcError(-32602, str(problem)) from None
    return tuple(specs)
