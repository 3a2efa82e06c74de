"""Shows, on the real program, what instrumented mode declares."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from barry_adapter_opencode.canaries import CALLS, SECRET, SERVER, TASK, bash, effects, fetch
from barry_adapter_opencode.checks import MODEL, QUIET, settle
from barry_adapter_opencode.transcript import OpencodeTranscripts
from barry_cli.sessions import Endpoint, StdioMcpServer, Text, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from barry_cli.adapters import ProofContext, Terminal

_BOUND = {
    "bash": {"denyPrograms": ["touch"]},
    "files": {"deny": ["word.txt", "new.txt", "unasked"]},
    "network": {"domains": ["127.0.0.1"]},
    "deniedTools": ["mcp__small__greet"],
}
_DENIED = ("bash", "bash", "read", "write", "mcp__small__greet", "webfetch", "bash")
_MESSAGE = "/more of it: one line,\n\tanother one \U0001f642 here"
_KNOWS = 'test -n "$BARRY_SESSION" -a -n "$BARRY_TOKEN" && echo it knows'
_SECRETS = "echo [$OPENCODE_SERVER_PASSWORD$BARRY_OPENCODE_KEY]"


async def instrumented(proof: ProofContext) -> None:
    """Instrumented mode: rulings both ways, messages, what is told of it all."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    with _page() as (url, fetched):
        every = [*CALLS, fetch(url), TASK, {"text": "all tried"}]
        knows = [bash(_KNOWS), bash(_SECRETS), {"text": "awake"}]
        proof.model.script(
            [
                {"when": "the inner task", "then": [bash("touch inner"), {"text": "inner answer"}]},
                {"when": "wake up", "then": knows},
                {"when": "try everything", "then": every},
                {"when": "/more of it", "then": [{"text": "and more"}], "framed": True},
                {"when": "a while", "then": [bash("sleep 2"), {"text": "without more"}]},
            ]
        )
        await _denied(proof, fetched)
        await _allowed(proof, fetched)


@contextmanager
def _page() -> Iterator[tuple[str, list[str]]]:
    """A page of this machine, and who fetched it."""
    fetched: list[str] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fetched.append(self.path)
            self.send_response(200)
            self.send_header("content-type", "text/plain")
            self.end_headers()
            self.wfile.write(b"a page")

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        # A thread, because a check waits for the screen without its loop.
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/page", fetched
        finally:
            server.shutdown()


def _lay_traps(proof: ProofContext) -> None:
    """Rules that allow everything, and a folder that would run its own server."""
    allow = {"permission": {"*": "allow"}, "agent": {"build": {"permission": {"*": "allow"}}}}
    touch = {"type": "local", "command": ["touch", "from-server"], "enabled": True}
    home = proof.home / ".config" / "opencode" / "opencode.json"
    home.write_text(json.dumps(allow), encoding="utf-8")
    folder = {**allow, "mcp": {"trap": touch}}
    (proof.cwd / "opencode.json").write_text(json.dumps(folder), encoding="utf-8")
    (proof.cwd / "word.txt").write_text(SECRET, encoding="utf-8")


async def _launch(proof: ProofContext, bound: Mapping[str, object] | None) -> Terminal:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("openai-chat"), "api": "openai-chat", "key": proof.key}
    )
    _, terminal = await proof.launch(
        bound=bound,
        endpoint=endpoint,
        model=MODEL,
        denied_tools=("todowrite",),
        mcp_servers={"small": StdioMcpServer(command=sys.executable, args=("-c", SERVER))},
        env={**proof.env, **QUIET},
    )
    return terminal


async def _denied(proof: ProofContext, fetched: list[str]) -> None:
    """Nothing that the bound denies has an effect, and the agent gets to read why."""
    terminal = await _launch(proof, _BOUND)
    _ask(terminal, "try everything", "all tried")
    proof.require(
        "todowrite" not in proof.model.offered_tools(), "the denied tool todowrite is offered"
    )
    found = [*effects(proof), *fetched]
    proof.require(not found, f"denied calls had an effect: {found}")
    proof.require(not (proof.cwd / "from-server").exists(), "the folder's settings ran a server")
    denied = [ruled for ruled in proof.rulings if not ruled.allowed]
    results = "".join(proof.model.tool_results())
    proof.require(
        tuple(ruled.tool for ruled in denied) == _DENIED
        and all(ruled.reason in results for ruled in denied),
        lambda: f"the agent was not told why, but {results}, and the rulings were {denied}",
    )
    await _woken(proof, terminal)
    await _steered(proof, terminal)
    _recorded(proof)
    terminal.close()


async def _woken(proof: ProofContext, terminal: Terminal) -> None:
    before = len(proof.model.tool_results())
    state = await proof.send("wake up")
    proof.require(state == "consumed", f"a message to an idle opencode came to be {state}")
    terminal.wait_for("awake")
    told = proof.model.tool_results()[before:]
    proof.require("it knows" in told[0], "a child of the session does not find the session")
    proof.require(told[1].strip() == "[]", "the agent's commands see a secret of the session's")


async def _steered(proof: ProofContext, terminal: Terminal) -> None:
    _type(terminal, "a while")
    proof.model.wait_for_text("a while")
    state = await proof.send(_MESSAGE)
    proof.require(state == "consumed", f"a message to a working opencode came to be {state}")
    terminal.wait_for("and more")
    proof.require(_MESSAGE in proof.model.texts()[-1], "the message was changed on its way")


def _recorded(proof: ProofContext) -> None:
    """What the plugin tells, and opencode's own record, which the two agree on."""
    conversation = proof.standing["harnessSessionId"]
    told = {(notice.kind, notice.harness_session_id) for notice in proof.notices}
    wanted = {(kind, conversation) for kind in ("start", "prompt", "stop")}
    proof.require(wanted <= told, lambda: f"of {wanted} only {told} was told")
    transcripts = OpencodeTranscripts()
    path = transcripts.find(str(conversation), str(proof.cwd), proof.env)
    proof.require(path is not None, f"the database does not hold the conversation {conversation}")
    assert path is not None
    events = list(transcripts.read(path))
    said = [event.text for event in events if isinstance(event, Text)]
    calls = [event.id for event in events if isinstance(event, ToolUse)]
    results = {event.id for event in events if isinstance(event, ToolResult)}
    ended = {notice.call for notice in proof.notices if notice.kind == "after-tool"}
    wanted_words = ["try everything", "the inner task", "inner answer", "all tried"]
    wanted_words += ["wake up", "awake", "a while", _MESSAGE, "and more"]
    proof.require(
        said == wanted_words and set(calls) == results == ended and len(calls) == len(results),
        lambda: f"the record holds {said}, the calls {calls} with {results}, and told was {ended}",
    )


async def _allowed(proof: ProofContext, fetched: list[str]) -> None:
    """The counter-case: the same calls, where no bound denies them."""
    terminal = await _launch(proof, None)
    _ask(terminal, "try everything", "all tried")
    found = [*effects(proof), *fetched]
    proof.require(
        found == ["made", "unasked", "inner", "new.txt", "word.txt", "greet", "/page"],
        f"of the allowed calls only these had their effect: {found}",
    )
    ruled = [ruled.tool for ruled in proof.rulings if ruled.allowed]
    proof.require(
        sorted(ruled) == sorted((*_DENIED, "task")), f"only these calls were ruled on: {ruled}"
    )
    terminal.close()


def _ask(terminal: Terminal, prompt: str, answer: str) -> None:
    terminal.wait_for("scripted-model")
    _type(terminal, prompt)
    terminal.wait_for(answer)


def _type(terminal: Terminal, prompt: str) -> None:
    # Enter comes apart from the text: one burst of both is taken for a paste.
    terminal.type(prompt)
    time.sleep(0.6)
    terminal.type("\r")
