"""An instrumented launch: calls of every kind are ruled on, and what is recorded of it is true."""

from __future__ import annotations

import http.server
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.toy import Barry, alive, eventually, says, written
from tests.unit.launch.demo_session import ALLOWING, DemoSession

MCP = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {"capabilities": {}}
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": "touch"}]}
    elif asked["method"] == "tools/call":
        open(asked["params"]["arguments"]["path"], "w").close()
        result = {"content": [{"type": "text", "text": "touched"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def demo(barry: Barry) -> DemoSession:
    return DemoSession(barry)


@pytest.fixture
def web() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"fetched")

        def log_message(self, *given: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", asked
    server.shutdown()
    server.server_close()


def doing(**calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """A script in which "do NAME" makes one call."""
    return [
        {"when": f"do {name}", "then": [{"tool": tool, "input": given}, {"text": f"{name} done"}]}
        for name, (tool, given) in calls.items()
    ]


BOUND = {
    "bash": {"denyPrograms": ["touch"]},
    "files": {"deny": ["by-write", "secret"]},
    "network": {"domains": ["127.0.0.1"]},
}


@pytest.mark.parametrize("denied", [True, False], ids=["denied", "allowed"])
def test_every_kind_of_call_is_ruled_on(
    barry: Barry, demo: DemoSession, web: tuple[str, list[str]], denied: bool
) -> None:
    url, asked = web
    (barry.work / "secret").write_text("the canary sings")
    demo.play(
        [
            {
                "when": "as an agent",
                "then": [{"tool": "shell", "input": {"command": "touch by-agent"}}],
            },
            *doing(
                shell=("shell", {"command": "touch by-shell"}),
                write=("write", {"path": "by-write", "content": "x"}),
                read=("read", {"path": "secret"}),
                fetch=("fetch", {"url": url}),
                subagent=("agent", {"prompt": "as an agent"}),
            ),
        ]
    )  # fmt: skip
    bound = ("--bound", demo.bound(BOUND), "--require", "gating=hooks") if denied else ()
    child = demo.launch(*bound, "--option", ALLOWING)
    kinds = ("shell", "write", "read", "fetch", "subagent")
    for kind in kinds:
        demo.say(child, f"do {kind}", f"{kind} done")
    row = demo.row()
    assert (row.guarantees["gating"], row.lowered) == ("hooks", {})
    demo.leave(child)
    results = demo.told("tool_result")
    traces = {
        "shell": (barry.work / "by-shell").exists(),
        "write": (barry.work / "by-write").exists(),
        "read": any("the canary sings" in result for result in results),
        "fetch": bool(asked),
        "subagent": (barry.work / "by-agent").exists(),
    }
    assert traces == dict.fromkeys(kinds, not denied)
    refusals = [result for result in results if result.startswith("denied: ")]
    assert len(refusals) == (len(kinds) if denied else 0)
    if denied:
        # The sentence is Barry's, word for word.
        checked = barry.run("bound", "check", "--bound", demo.bound(BOUND), "--harness", "demo",
                            "--json", "--command", "touch by-shell")  # fmt: skip
        sentence = checked.json["verdict"]["agent"]
        assert f"denied: {sentence}" in refusals


def test_a_call_of_an_mcp_server_is_ruled_on(barry: Barry, demo: DemoSession) -> None:
    server = barry.top / "server.py"
    server.write_text(MCP)
    config = barry.top / "mcp.json"
    config.write_text(
        json.dumps(
            {"mcpServers": {"own": {"command": sys.executable, "args": ["-IS", str(server)]}}}
        )
    )
    for name, bound, there in (("denied", ["mcp__own__touch"], False), ("allowed", [], True)):
        canary = barry.work / name
        demo.play(doing(it=("mcp__own__touch", {"path": str(canary)})))
        child = demo.launch(
            "--bound", demo.bound({"deniedTools": ["nothing", *bound]}),
            "--", "--mcp-config", str(config), "--allow", "mcp__own",
        )  # fmt: skip
        demo.say(child, "do it", "it done")
        demo.leave(child)
        assert canary.exists() is there


def test_what_is_recorded_of_it(barry: Barry, demo: DemoSession) -> None:
    demo.play([{"when": "rest", "then": [{"delay": 1}, {"text": "rested"}]}])
    child = demo.launch()
    row = demo.row()
    assert row.mode == "instrumented"
    assert row.socket is not None
    assert Path(row.socket).stat().st_mode & 0o777 == 0o600
    demo.until(child, lambda: demo.row().activity == "idle")
    child.send("rest\r")
    demo.until(child, lambda: demo.row().activity == "active")
    child.expect("rested")
    demo.until(child, lambda: demo.row().activity == "idle")
    child.send("run true\r")
    child.expect("allow shell")
    demo.until(child, lambda: demo.row().activity == "waiting")
    child.send("y\r")
    child.expect("shell ran")
    digest = demo.row().token_digest
    assert digest
    pid = demo.row().pid
    assert pid is not None
    token = environment(pid)["BARRY_TOKEN"]
    assert environment(pid)["BARRY_SESSION"] == row.id
    said = demo.leave(child)
    row = demo.row()
    assert (row.state, row.exit_status, row.activity, row.token_digest) == ("ended", 0, None, None)
    assert not Path(row.socket or "").exists()
    assert barry.litter() == []
    assert token not in said
    assert token.encode() not in barry.folders.database.read_bytes()
    assert (row.guarantees["capture"], row.lowered) == ("near-total", {})
    events = barry.run("session", "events", row.id, "--json").out
    assert "rested" in events


def environment(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def test_a_dry_run_shows_it_and_leaves_nothing(barry: Barry, demo: DemoSession) -> None:
    with barry.leaves_nothing():
        shown = barry.run("session", "launch", "demo", "--mode", "instrumented", "--dry-run",
                          "--json", env=demo.env)  # fmt: skip
        plan = shown.json["plan"]
        assert (plan["mode"], plan["start"]) == ("instrumented", "supervise")
        assert {"BARRY_SESSION", "BARRY_TOKEN"} <= set(plan["environment"]["kept"])
        assert set(plan["environment"]["kept"].values()) == {"********"}
    assert not barry.folders.run.exists() or not list(barry.folders.run.iterdir())


@pytest.mark.parametrize(
    ("words", "env", "named"),
    [
        (["--hooks", "/dev/null"], {}, "--hooks"),
        (["--hooks=/dev/null"], {}, "--hooks=/dev/null"),
        (["--bend", "no-hooks"], {}, "no-hooks"),
        (["--bend=no-hooks"], {}, "no-hooks"),
        ([], {"BARRY_DEMO_BEND": "deaf,no-hooks"}, "no-hooks"),
    ],
)
def test_what_would_take_the_hooks_away_is_refused(
    barry: Barry, demo: DemoSession, words: list[str], env: dict[str, str], named: str
) -> None:
    with barry.leaves_nothing():
        done = barry.refused("session", "launch", "demo", "--mode", "instrumented", "--", *words,
                             env={**demo.env, **env})  # fmt: skip
        says(done, 2, f"{named} would take Barry's hooks out")
    assert not barry.folders.run.exists() or not list(barry.folders.run.iterdir())


# --- the hook ---


def hook_files(barry: Barry) -> dict[str, Path]:
    return {
        path.name.partition("-")[0]: path
        for folder in barry.litter()
        for path in folder.iterdir()
        if path.suffix in (".pyc", ".marshal")
    }


def test_the_agent_can_not_reach_what_it_is_ruled_by(barry: Barry, demo: DemoSession) -> None:
    """Whatever the bound says: here there is none."""
    barry.folders.state.mkdir(mode=0o700, parents=True)
    child = demo.launch("--option", ALLOWING, "--root", str(barry.folders.state))
    files = hook_files(barry)
    policy = files["policy"]
    before = {path: path.read_bytes() for path in files.values()}
    demo.say(child, f"run rm -f {policy}", "shell did not run: denied: ")
    demo.say(child, f"run echo > {files['hook']}", "shell did not run: denied: ")
    demo.say(child, f"write {policy} nothing", "write did not run: denied: ")
    demo.say(child, "run touch here", "shell ran")
    assert {path: path.read_bytes() for path in files.values()} == before
    demo.leave(child)
    assert (barry.work / "here").exists()


@pytest.mark.parametrize("name", ["hook", "policy"])
@pytest.mark.parametrize("how", ["missing", "garbage"])
def test_without_its_hook_every_call_is_refused_and_it_says_why(
    barry: Barry, demo: DemoSession, name: str, how: str
) -> None:
    child = demo.launch("--option", ALLOWING)
    demo.say(child, "run touch before", "shell ran")
    path = hook_files(barry)[name]
    path.unlink()
    if how == "garbage":
        path.write_bytes(b"nothing that anybody reads")
    demo.say(child, "run touch after", "shell did not run: denied: ")
    demo.leave(child)
    assert (barry.work / "before").exists()
    assert not (barry.work / "after").exists()
    (refusal,) = [each for each in demo.told("tool_result") if each.startswith("denied: ")]
    # Its own words, or those of the interpreter that can't read it: no ruling of a bound.
    assert path.name in refusal or ".pyc" in refusal


def test_it_rules_while_barry_is_stopped(barry: Barry, demo: DemoSession) -> None:
    """P02: a hook rules by itself, and one that wants an answer goes on without."""
    child = demo.launch("--option", ALLOWING, "--bound", demo.bound(BOUND))
    (barry_pid,) = {row.supervisor_pid for row in barry.sessions.all()}
    assert barry_pid is not None
    os.kill(barry_pid, signal.SIGSTOP)
    try:
        demo.say(child, "run touch by-shell", "shell did not run: denied: ")
    finally:
        os.kill(barry_pid, signal.SIGCONT)
    child.expect("you> ")
    demo.say(child, "run echo still", "shell ran")
    demo.leave(child)
    assert not (barry.work / "by-shell").exists()


def test_when_barry_is_killed_the_harness_goes_too(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    row = demo.row()
    assert row.supervisor_pid is not None
    assert row.pid is not None
    os.kill(row.supervisor_pid, signal.SIGKILL)
    assert eventually(lambda: not alive(row.pid or 0), 10)
    child.close(force=True)
    assert barry.listed()["state"] == "ended, status unknown"
    # Its token opens nothing any more, and the next launch removes what was left.
    child = demo.launch()
    demo.leave(child)
    assert barry.litter() == []
    assert not list(barry.folders.run.glob("*"))


def test_it_is_stopped(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    row = demo.row()
    done = barry.run("session", "stop", row.id)
    assert done.code == 0, done
    assert barry.ended(child) == 128 + signal.SIGTERM
    row = demo.row()
    assert (row.state, row.token_digest, row.activity) == ("ended", None, None)
    assert barry.litter() == []
    assert not list(barry.folders.run.glob("*"))


SAYING_ITS_KEY = "Path(config.cwd, 'key').write_text(config.instrument.key)"
A_PLUGIN = "import dataclasses; plan = dataclasses.replace(plan, reports_loaded=True)"


@pytest.mark.parametrize("held", [True, False], ids=["under a bound", "without one"])
def test_a_plugin_that_does_not_report_ends_what_depends_on_it(barry: Barry, held: bool) -> None:
    barry.install(modes=("guest", "instrumented"), planning=SAYING_ITS_KEY, planned=A_PLUGIN)
    bound = barry.top / "own.toml"
    bound.write_text("[bash]\ndenyPrograms = ['touch']\n")
    words = ("--bound", str(bound)) if held else ()
    child = barry.launch("--mode", "instrumented", *words)
    row = barry.row()
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(row.socket or "")
        key = (barry.work / "key").read_text()
        link.sendall(json.dumps({"type": "own", "key": key, "kind": "prompt"}).encode() + b"\n")
        assert eventually(lambda: barry.row().activity == "active")
        if held:
            assert barry.ended(child) == 2
            assert "was ended, since its plugin did not say before the first" in written(child)
        else:
            child.sendline("quit 3")
            assert barry.ended(child) == 3
    assert barry.row().state == "ended"


def test_a_program_that_can_not_be_started_leaves_nothing(barry: Barry) -> None:
    toy = str(barry.bin / "toy")
    barry.install(modes=("guest", "instrumented"), planned=f"import os; os.remove({toy!r})")
    with barry.leaves_nothing():
        done = barry.refused("session", "launch", "toy", "--mode", "instrumented")
    assert done.code in (126, 127)
    assert not list(barry.folders.run.glob("*"))


def test_a_bound_of_the_project_chooses_the_mode(barry: Barry, demo: DemoSession) -> None:
    (barry.work / ".barry").mkdir()
    (barry.work / ".barry" / "bound.toml").write_text("[bash]\ndenyPrograms = ['touch']\n")
    child = barry.open("session", "launch", "demo", "--option", ALLOWING, env=demo.env)
    child.expect("you> ")
    demo.say(child, "run touch it", "shell did not run: denied: ")
    demo.say(child, "run echo fine > it", "shell ran")
    assert demo.row().mode == "instrumented"
    demo.leave(child)
    assert "instrumented mode, the first that can hold a restriction" in written(child)
