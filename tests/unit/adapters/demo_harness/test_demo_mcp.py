"""MCP servers: their tools are tools like the others."""

import json
import signal
import sys
from pathlib import Path

import pytest

SERVER = str(Path(__file__).with_name("fake_mcp.py"))


def config(demo, **how):
    servers = {
        name: {"command": sys.executable, "args": [SERVER, each], "env": {"GIVEN": "given "}}
        for name, each in how.items()
    }
    return demo.file("mcp.json", {"mcpServers": servers})


def call(demo, prompt, *flags, allow="mcp__fake"):
    events = demo.events(
        prompt, "--mcp-config", config(demo, fake="well"), "--allow", allow, *flags
    )
    (result,) = [each for each in events if each["type"] == "tool_result"]
    return result


def test_tools_are_offered_and_called(demo):
    result = call(demo, 'call mcp__fake__add {"a": 1, "b": 2}')
    assert (result["ok"], result["output"]) == (True, "3")
    assert call(demo, "call mcp__fake__env {}")["output"] == f"given {demo.cwd}"
    result = call(demo, "call mcp__fake__fail {}")
    assert (result["ok"], result["decision"], result["output"]) == (False, "ran", "it failed")
    events = demo.events("x", "--mcp-config", config(demo, fake="well"), "--deny", "mcp__fake__die")
    assert "mcp__fake__add" in events[0]["tools"]
    assert "mcp__fake__die" not in events[0]["tools"]


def test_not_allowed_is_refused(demo):
    result = call(demo, 'call mcp__fake__add {"a": 1, "b": 2}', allow="mcp__other")
    assert result["decision"] == "refused"
    result = call(demo, 'call mcp__fake__add {"a": 1, "b": 2}', allow="mcp__fake__add")
    assert result["ok"]


@pytest.mark.parametrize("flags", [["--deny", "mcp__fake"], ["--tools", "read"]])
def test_withheld(demo, flags):
    assert call(demo, 'call mcp__fake__add {"a": 1, "b": 2}', *flags)["decision"] == "unavailable"


def test_only_the_server_s_tools(demo):
    flags = ["--tools", "mcp__fake"]
    assert call(demo, "call mcp__fake__env {}", *flags)["ok"]
    assert call(demo, "run true", *flags)["decision"] == "unavailable"


def test_a_server_that_dies_in_a_call(demo):
    result = call(demo, "call mcp__fake__die {}")
    assert (result["ok"], result["output"]) == (False, "mcp server fake: it ended")


@pytest.mark.parametrize("how", ["dead", "nothing"])
def test_a_server_that_does_not_come_up(demo, how):
    path = config(demo, fake=how, good="well")
    if how == "nothing":
        path = demo.file("mcp.json", {"mcpServers": {"fake": {"command": "/no/such/file"}}})
    done = demo.run("-p", "hi", "--mcp-config", path)
    assert (done.returncode, done.stdout) == (0, "demo heard: hi\n")
    assert done.stderr.startswith("demo: mcp server fake did not ")
    assert done.stderr.endswith("; its tools are not available\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("how", ["start", "call"])
def test_a_signal_ends_a_wait_for_a_server(demo, wait_for, how):
    path = config(demo, fake="mute" if how == "start" else "well")
    child = demo.popen(
        "-p", "call mcp__fake__hang {}", "--mcp-config", path, "--allow", "mcp__fake",
        "--output", "ndjson",
    )  # fmt: skip
    if how == "call":
        wait_for(lambda: demo.transcripts() and demo.recorded()[-1]["type"] == "tool_use")
    with pytest.raises(Exception, match="timed out"):
        child.wait(timeout=0.5)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=10)
    assert child.returncode == 143


def test_servers_end_with_the_program(demo, gone):
    assert gone(int(call(demo, "call mcp__fake__pid {}")["output"]))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "is not JSON"),
        ({}, 'has no object "mcpServers"'),
        ({"mcpServers": {"a b": {}}}, "a server's name has"),
        ({"mcpServers": {"a__b": {"command": "x"}}}, "a server's name has"),
        ({"mcpServers": {"a": {}}}, "server a has no command"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "args of server a"),
        ({"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}, "env of server a"),
    ],
)
def test_bad_config(demo, value, words):
    path = demo.file("mcp.json", value)
    done = demo.run("-p", "x", "--mcp-config", path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_same_server_twice(demo):
    path = config(demo, fake="well")
    done = demo.run("-p", "x", "--mcp-config", path, "--mcp-config", path)
    assert (done.returncode, done.stderr) == (2, "demo: two MCP servers have the same name\n")


def test_the_question_shows_the_input(demo, prompt):
    child = demo.tui("--mcp-config", config(demo, fake="well"))
    prompt(child)
    child.send("call mcp__fake__add " + json.dumps({"a": 1, "b": 2}) + "\r")
    child.expect_exact('allow mcp__fake__add: {"a": 1, "b": 2}? ')
    child.send("y\r")
    child.expect_exact("mcp__fake__add ran:\r\n3")
