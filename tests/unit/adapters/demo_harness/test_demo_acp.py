"""The Agent Client Protocol end."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = str(Path(__file__).with_name("fake_mcp.py"))


class Client:
    """Sends messages; reads until what it waits for. Updates and questions are kept."""

    def __init__(self, child, cwd):
        self.child = child
        self.cwd = str(cwd)
        self.count = 0
        self.updates = []
        self.permission = None
        """Answers a permission request: takes its params, returns the outcome, or None: silent."""

    def send(self, **message):
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.child.stdin.flush()

    def ask(self, method, **params):
        self.count += 1
        self.send(id=self.count, method=method, params=params)
        return self.count

    def read(self):
        line = self.child.stdout.readline()
        assert line, "the agent ended"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def wait(self, number, until=None):
        """The answer to a request; or the first message that ``until`` takes."""
        while True:
            message = self.read()
            if message.get("method") == "session/update":
                self.updates.append(message["params"]["update"])
            elif message.get("method") == "session/request_permission":
                outcome = self.permission and self.permission(message["params"])
                if outcome:
                    self.send(id=message["id"], result={"outcome": outcome})
            elif message.get("id") == number:
                return message
            if until and until(message):
                return message

    def call(self, method, **params):
        return self.wait(self.ask(method, **params))

    def new(self, **params):
        return self.call("session/new", **{"cwd": self.cwd, "mcpServers": [], **params})["result"][
            "sessionId"
        ]

    def prompt(self, session, text):
        return self.call(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}]
        )

    def said(self):
        return "".join(
            each["content"]["text"]
            for each in self.updates
            if each["sessionUpdate"] == "agent_message_chunk"
        )

    def end(self):
        self.child.stdin.close()
        self.child.stdout.read()
        return self.child.wait(timeout=10)


@pytest.fixture
def client(demo):
    def start(*flags):
        child = demo.popen("--acp", *flags, stdin=subprocess.PIPE)
        made = Client(child, demo.cwd)
        hello = made.call("initialize", protocolVersion=1, clientCapabilities={})["result"]
        assert hello["protocolVersion"] == 1
        assert hello["agentInfo"]["version"] == "1.0.0"
        assert hello["agentCapabilities"]["loadSession"] is True
        return made

    return start


def choose(kind):
    def answer(params):
        (option,) = [each for each in params["options"] if each["kind"] == kind]
        return {"outcome": "selected", "optionId": option["optionId"]}

    return answer


def test_turn(client, demo):
    agent = client()
    session = agent.new()
    answer = agent.prompt(session, "hello there")
    assert answer["result"]["stopReason"] == "end_turn"
    assert answer["result"]["_meta"]["usage"] == {"inputTokens": 2, "outputTokens": 4}
    assert agent.said() == "demo heard: hello there"
    assert agent.end() == 0
    assert demo.transcripts()[0].name == f"{session}.jsonl"


@pytest.mark.parametrize("kind", ["allow_once", "allow_always", "reject_once"])
def test_permission(client, demo, kind):
    agent = client()
    session = agent.new()
    seen = []
    agent.permission = lambda params: seen.append(params) or choose(kind)(params)
    for name in ("one", "two"):
        assert agent.prompt(session, f"run touch {name}")["result"]["stopReason"] == "end_turn"
        assert (demo.cwd / name).exists() is (kind != "reject_once")
    assert len(seen) == (1 if kind == "allow_always" else 2)
    assert seen[0]["sessionId"] == session
    asked = seen[0]["toolCall"]
    assert (asked["title"], asked["kind"]) == ("shell: touch one", "execute")
    assert asked["rawInput"] == {"command": "touch one"}
    updates = {each["sessionUpdate"]: each for each in agent.updates}
    wanted = "failed" if kind == "reject_once" else "completed"
    assert updates["tool_call_update"]["status"] == wanted
    assert updates["tool_call"]["status"] == "pending"


@pytest.mark.parametrize(
    "outcome", [{"outcome": "selected", "optionId": "zzz"}, {"outcome": "zzz"}, {"optionId": "yes"}]
)
def test_an_answer_that_cannot_be_read_allows_nothing(client, demo, outcome):
    agent = client()
    agent.permission = lambda params: outcome
    assert agent.prompt(agent.new(), "run touch x")["result"]["stopReason"] == "end_turn"
    assert not (demo.cwd / "x").exists()


def test_an_error_for_an_answer_allows_nothing(client, demo):
    agent = client()
    session = agent.new()
    number = agent.ask(
        "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "run touch x"}]
    )
    asked = agent.wait(number, lambda each: each.get("method") == "session/request_permission")
    agent.send(id=asked["id"], error={"code": -32603, "message": "no"})
    assert agent.wait(number)["result"]["stopReason"] == "end_turn"
    assert not (demo.cwd / "x").exists()


@pytest.mark.parametrize("moment", ["answer", "permission", "tool"])
def test_cancel(client, demo, wait_for, gone, moment):
    agent = client("--script", demo.script(("go", {"text": "a"}, {"hang": True})))
    session = agent.new()
    text = "go" if moment == "answer" else "run touch x; echo $$ > pid; sleep 300"
    if moment == "tool":
        agent.permission = choose("allow_once")
    number = agent.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
    if moment == "permission":
        agent.wait(number, lambda each: each.get("method") == "session/request_permission")
    else:
        agent.wait(number, lambda each: "params" in each)
    if moment == "tool":
        agent.wait(number, lambda each: each.get("method") == "session/request_permission")
        pid = int(wait_for(lambda: (demo.cwd / "pid").exists() and (demo.cwd / "pid").read_text()))
    agent.send(method="session/cancel", params={"sessionId": session})
    assert agent.wait(number)["result"]["stopReason"] == "cancelled"
    if moment == "tool":
        assert gone(pid)
    else:
        assert not (demo.cwd / "x").exists()
    # The session goes on.
    assert agent.prompt(session, "hi")["result"]["stopReason"] == "end_turn"
    assert agent.end() == 0


def test_load_replays_and_keeps_the_id(client, demo):
    agent = client("--allow", "shell")
    session = agent.new()
    agent.prompt(session, "run echo hi")
    agent.end()
    agent = client()
    assert "result" in agent.call("session/load", sessionId=session, cwd=agent.cwd, mcpServers=[])
    assert [each["sessionUpdate"] for each in agent.updates] == [
        "user_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk",
    ]  # fmt: skip
    agent.updates.clear()
    agent.prompt(session, "recall")
    assert agent.said() == "before this you said: run echo hi"
    assert len(demo.transcripts()) == 1


def test_load_of_nothing(client, demo):
    agent = client()
    unknown = "11111111-2222-4333-8444-555555555555"
    error = agent.call("session/load", sessionId=unknown, cwd=agent.cwd, mcpServers=[])["error"]
    assert error["code"] == -32002
    assert error["message"] == f"no conversation with id {unknown} in {demo.cwd}"


def test_sessions_are_apart(client, demo):
    other = demo.base / "other"
    other.mkdir()
    agent = client("--script", demo.script(("go", {"hang": True})), "--allow", "write")
    one, two = agent.new(), agent.new(cwd=str(other))
    number = agent.ask("session/prompt", sessionId=one, prompt=[{"type": "text", "text": "go"}])
    assert agent.prompt(two, "write a b")["result"]["stopReason"] == "end_turn"
    assert (other / "a").read_text() == "b"
    error = agent.prompt(one, "again")["error"]
    assert (error["code"], error["message"]) == (-32600, "a prompt of this session is running")
    agent.send(method="session/cancel", params={"sessionId": one})
    assert agent.wait(number)["result"]["stopReason"] == "cancelled"


def test_error_of_the_model(client, demo):
    agent = client("--script", demo.script(("", {"error": "overloaded"})))
    assert agent.prompt(agent.new(), "x")["error"] == {"code": -32603, "message": "overloaded"}


def test_mcp_servers_of_the_client(client):
    agent = client("--allow", "mcp__fake")
    env = [{"name": "GIVEN", "value": "given "}]
    server = {"name": "fake", "command": sys.executable, "args": [SERVER], "env": env}
    session = agent.new(mcpServers=[server])
    agent.prompt(session, "call mcp__fake__env {}")
    assert f"given {agent.cwd}" in agent.said()
    refused = agent.call("session/new", cwd=agent.cwd, mcpServers=[{**server, "type": "http"}])
    assert refused["error"]["code"] == -32602


BAD = [
    ("session/new", {"cwd": "relative"}, -32602),
    ("session/new", {"cwd": "/no/such/dir"}, -32602),
    ("session/new", {}, -32602),
    ("session/load", {"cwd": "/"}, -32602),
    ("session/prompt", {"sessionId": "nope", "prompt": []}, -32602),
    ("session/prompt", {"sessionId": 5}, -32602),
    ("session/set_mode", {}, -32601),
    ("authenticate", {}, -32601),
]


@pytest.mark.parametrize(("method", "params", "code"), BAD)
def test_bad_requests(client, method, params, code):
    assert client().call(method, **params)["error"]["code"] == code


def test_bad_prompts_and_lines(client):
    agent = client()
    session = agent.new()
    for block in ({"type": "image"}, {}, 5, {"type": "text", "text": " "}):
        answer = agent.call("session/prompt", sessionId=session, prompt=[block])
        assert answer["error"]["code"] == -32602
    for line, code in (("{", -32700), ("[" * 100_000, -32700), ("5", -32600)):
        agent.child.stdin.write(line + "\n\n")
        agent.child.stdin.flush()
        assert agent.read()["error"]["code"] == code
    agent.send(id=99, method="session/new", params=[1])
    assert agent.read()["error"]["code"] == -32602
    agent.send(id=12345, result={})  # The answer to nothing.
    agent.send(method="session/cancel", params={"sessionId": "nope"})  # Nothing to answer.
    assert agent.prompt(session, "hi")["result"]["stopReason"] == "end_turn"


def test_resource_link(client):
    agent = client()
    session = agent.new()
    blocks = [{"type": "text", "text": "see"}, {"type": "resource_link", "uri": "file:///a"}]
    agent.call("session/prompt", sessionId=session, prompt=blocks)
    assert agent.said() == "demo heard: see\nfile:///a"


def test_crash(client, demo):
    agent = client("--script", demo.script(("", {"crash": True})))
    session = agent.new()
    agent.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}])
    assert agent.child.stdout.read() == ""
    assert agent.child.wait(timeout=10) == 70


@pytest.mark.parametrize("how", ["eof", "term"])
@pytest.mark.parametrize("busy", [False, True])
def test_end(client, demo, gone, wait_for, how, busy):
    agent = client("--allow", "shell")
    session = agent.new()
    if busy:
        text = "run echo $$ > pid; sleep 300"
        agent.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
        pid = int(wait_for(lambda: (demo.cwd / "pid").exists() and (demo.cwd / "pid").read_text()))
    if how == "term":
        agent.child.send_signal(signal.SIGTERM)
        agent.child.stdout.read()
        assert agent.child.wait(timeout=10) == 143
    else:
        assert agent.end() == 0
    if busy:
        assert gone(pid)


def test_client_that_stops_reading(client, demo):
    agent = client("--script", demo.script(("", {"text": "word " * 50_000})))
    session = agent.new()
    agent.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}])
    agent.child.stdout.close()
    assert agent.child.wait(timeout=10) == 129
