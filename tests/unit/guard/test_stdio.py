"""Each guarded tool over stdio: allowed it has its effect, denied it has none."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from barry_cli.base.processes import descendants
from tests.toy import alive, eventually
from tests.unit.guard.guarded import Session, Tools, over_stdio

BOUND = {
    "bash": {"denyPrograms": ["git:push", "forbidden"]},
    "files": {"deny": [".env", "secret/**"]},
    "network": {"domains": ["denied.test"]},
}


async def test_the_shell(session: Session) -> None:
    session.bound = BOUND
    async with over_stdio(session) as tools:
        assert await tools("shell", command="echo one; echo two >&2; touch made") == (
            "one\ntwo\n[exit code 0]"
        )
        assert (session.work / "made").exists()
        told = await tools.refused("shell", command="touch no; git push")
        assert "bash.denyPrograms git:push" in told
        assert not (session.work / "no").exists()
        assert await tools("shell", command="exit 3") == "[exit code 3]"
        assert await tools("shell", command="kill -9 $$") == "[ended by signal 9]"
        assert "command is missing" in await tools.refused("shell", cmd="ls")


async def test_the_shell_reads_nothing_and_sees_what_the_session_sees(session: Session) -> None:
    env = {"GIVEN": "yes", "HIDDEN": "no", "BASH_ENV": "/nowhere"}
    session.variables += ("BASH_ENV",)
    async with over_stdio(session, env=env) as tools:
        assert await tools("shell", command="cat; echo end") == "end\n[exit code 0]"
        seen = await tools("shell", command='echo "$GIVEN-$HIDDEN-$BASH_ENV-$PWD"')
        assert seen == f"yes---{session.work}\n[exit code 0]"


async def test_a_function_of_the_environment_is_no_program(session: Session) -> None:
    session.bound = BOUND
    name = "BASH_FUNC_ls%%"
    session.variables += (name,)
    async with over_stdio(session, env={name: "() { touch no; }"}) as tools:
        await tools("shell", command="ls")
    assert not (session.work / "no").exists()


async def test_a_line_that_looks_like_an_option_is_a_line(session: Session) -> None:
    async with over_stdio(session) as tools:
        assert "-x: command not found" in await tools("shell", command="-x; echo it ran")
        assert "127" in await tools("shell", command="--version")


async def test_no_variable_bends_what_a_line_says(session: Session) -> None:
    session.work.mkdir()
    for folder, text in (("keys", "near"), ("deploy/keys", "far")):
        (session.work / folder).mkdir(parents=True)
        (session.work / folder / "a").write_text(text)
    env = {"CDPATH": "deploy", "GLOBIGNORE": "x", "GIVEN": "kept"}
    session.variables += tuple(env)
    (session.work / ".hidden").write_text("")
    async with over_stdio(session, env=env) as tools:
        assert (await tools("shell", command="cd keys; cat a")).startswith("near")
        assert await tools("shell", command='echo * "$GIVEN"') == "deploy keys kept\n[exit code 0]"


async def test_where_commands_run(session: Session, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    session.roots = (other,)
    (session.work).mkdir()
    (session.work / "inner").mkdir()
    (session.work / "out").symlink_to("/")
    async with over_stdio(session) as tools:
        inner = await tools("shell", command="pwd", cwd="inner")
        assert inner == f"{session.work}/inner\n[exit code 0]"
        assert str(other) in await tools("shell", command="pwd", cwd=str(other))
        for outside in ("..", "/", "out", str(tmp_path)):
            assert "outside" in await tools.refused("shell", command="pwd", cwd=outside)
        assert "can't be started" in await tools.refused("shell", command="pwd", cwd="absent")


async def test_files(session: Session) -> None:
    session.bound = BOUND
    session.work.mkdir()
    (session.work / ".env").write_text("KEY=1")
    async with over_stdio(session) as tools:
        assert "made" in await tools("write_file", path="a/b.txt", content="one\ntwo\nthree\n")
        assert await tools("read_file", path="a/b.txt") == "one\ntwo\nthree\n"
        part = await tools("read_file", path="a/b.txt", start=2, count=1)
        assert part == "two\n\n[lines 2 to 2 of 3; ask on with start 3]"
        await tools("edit_file", path="a/b.txt", old="two", new="2")
        assert (session.work / "a" / "b.txt").read_text() == "one\n2\nthree\n"
        for name, given in (
            ("read_file", {}),
            ("write_file", {"content": "KEY=2"}),
            ("edit_file", {"old": "KEY", "new": "X"}),
        ):
            assert "files.deny .env" in await tools.refused(name, path=".env", **given)
        assert (session.work / ".env").read_text() == "KEY=1"
        # Without a rule of the bound, too.
        assert "Barry" in await tools.refused("write_file", path=".barry/x", content="")
        assert not (session.work / ".barry").exists()


async def test_edits_are_exact(session: Session) -> None:
    session.work.mkdir()
    path = session.work / "text"
    path.write_bytes(b"aaa\r\nb\r\n")
    async with over_stdio(session) as tools:
        for old, count in (("aa", 2), ("a", 3), ("nothing", 0), ("b\n", 0)):
            assert f"{count} times" in await tools.refused(
                "edit_file", path="text", old=old, new="x"
            )
        assert path.read_bytes() == b"aaa\r\nb\r\n"
        await tools("edit_file", path="text", old="aaa", new="é")
        assert path.read_bytes() == "é\r\nb\r\n".encode()


class Pages(BaseHTTPRequestHandler):
    """Answers by path."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        name, _, rest = self.path.lstrip("/").partition("?")
        where = {"away": "http://denied.test/", "near": "/page", "round": "/round", "file": "file:"}
        self.send_response(302 if name in where else 200)
        if name in where:
            self.send_header("Location", where[name] + rest)
        kinds = {"page": "text/html; charset=latin-1", "picture": "image/png"}
        kinds["spelt"] = f"text/plain; charset={rest}"
        self.send_header("Content-Type", kinds.get(name, "text/plain"))
        self.end_headers()
        if name == "flood":
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return
        self.wfile.write("hé".encode("latin-1" if name == "page" else "utf-8"))

    def log_message(self, *given: Any) -> None:
        pass


@pytest.fixture
def pages() -> Any:
    Pages.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


async def test_fetching(session: Session, pages: str) -> None:
    session.bound = BOUND
    async with over_stdio(session) as tools:
        assert (await tools("fetch", url=f"{pages}/page")).endswith("\nhé")
        assert (await tools("fetch", url=f"{pages}/near")).endswith("\nhé")
        asked = list(Pages.asked)
        assert "network.domains" in await tools.refused("fetch", url="http://denied.test/")
        assert Pages.asked == asked
        # Each hop is ruled on: what is allowed may not lead to what isn't.
        assert "network.domains" in await tools.refused("fetch", url=f"{pages}/away")
        assert "only URLs" in await tools.refused("fetch", url=f"{pages}/file?///etc/passwd")
        assert "more than 10" in await tools.refused("fetch", url=f"{pages}/round")
        flood = await tools("fetch", url=f"{pages}/flood")
        assert len(flood) < 31_000
        assert "no text" in await tools.refused("fetch", url=f"{pages}/picture")
        for charset in ("none-such", "hex", "idna", "undefined"):
            assert (await tools("fetch", url=f"{pages}/spelt?{charset}")).endswith("\nhé")
        with_user = pages.replace("http://", "http://me:pass@")
        for url, part in (
            ("file:///etc/passwd", "only URLs"),
            (with_user, "a user or a password"),
            ("http://allowed.test\\@denied.test/", "backslashes"),
            ("http:///", "only URLs"),
            ("http://127.0.0.1:99999/", "65535"),
        ):
            told = await tools.refused("fetch", url=url)
            assert part in told
            assert "me:pass" not in told


async def test_fetching_may_be_denied_whole(session: Session, pages: str) -> None:
    session.bound = {"network": {"actions": ["http:read"]}}
    async with over_stdio(session) as tools:
        assert "network.actions" in await tools.refused("fetch", url=f"{pages}/page")
    assert Pages.asked == []


async def test_what_is_offered(session: Session) -> None:
    session.tools = ("shell", "fetch")
    async with over_stdio(session) as tools:
        listed = (await tools.client.list_tools()).tools
        assert [tool.name for tool in listed] == ["shell", "fetch"]
        assert all(tool.input_schema["additionalProperties"] is False for tool in listed)
        hints = [tool.annotations.read_only_hint for tool in listed if tool.annotations]
        assert hints == [False, True]
        assert "there is no such tool" in await tools.refused("write_file", path="a", content="")
    assert not (session.work / "a").exists()


async def test_a_changed_policy_refuses_everything(session: Session) -> None:
    async with over_stdio(session) as tools:
        assert "one" in await tools("shell", command="echo one")
        path = session.policy_file()
        kept = path.read_bytes()
        path.chmod(0o600)
        path.write_bytes(kept.replace(b"work", b"wrok"))
        told = await tools.refused("shell", command="touch no")
        assert "isn't the file that the session was started with" in told
        path.unlink()
        assert "can't be used" in await tools.refused("read_file", path="x")
        path.write_bytes(kept)
        assert "one" in await tools("shell", command="echo one")
    assert not (session.work / "no").exists()


async def test_a_policy_that_is_wrong_from_the_start_refuses_everything(session: Session) -> None:
    server = session.server()
    path = session.policy_file()
    path.unlink()
    path.write_bytes(b"")
    done = await asyncio.to_thread(
        exchange, [server.command, *server.args], [call(1, "shell", command="touch no")], session
    )
    (answer,) = [each for each in done if each.get("id") == 1]
    assert answer["result"]["isError"] is True
    assert "can't be used" in answer["result"]["content"][0]["text"]
    assert not (session.work / "no").exists()


async def test_output_is_bounded_and_told_while_it_comes(session: Session) -> None:
    told: list[tuple[float, str | None]] = []

    async def progress(count: float, total: float | None, message: str | None) -> None:
        told.append((count, message))

    async with over_stdio(session) as tools:
        text = await tools(
            "shell", command="echo first; sleep 0.6; echo last", on_progress=progress
        )
        assert text == "first\nlast\n[exit code 0]"
        assert told[0] == (6, "first\n")
        (server,) = descendants(os.getpid())
        before = rss(server.pid)
        command = "echo begin; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo end"
        text = await tools("shell", command=command, on_progress=progress)
        assert len(text) < 31_000
        assert text.startswith("begin\nxxx")
        assert "100,000,011 bytes" in text
        assert text.endswith("xxx\nend\n[exit code 0]")
        assert all(len(message or "") <= 2_000 for _, message in told)
        # What was printed would have taken 100.
        assert rss(server.pid) - before < 30 << 20


def rss(pid: int) -> int:
    text = Path(f"/proc/{pid}/statm").read_text()
    return int(text.split()[1]) * os.sysconf("SC_PAGESIZE")


TREE = "(trap '' TERM; sleep 300) & setsid sleep 300 & echo $! > pid; echo up > up; sleep 300"


async def running(session: Session, tools: Tools, work: asyncio.Task[Any]) -> int:
    """The number of a command that left its session, once everything is up."""
    for _ in range(500):
        if (session.work / "up").exists():
            return int((session.work / "pid").read_text())
        assert not work.done(), work.result()
        await asyncio.sleep(0.01)
    raise AssertionError("the command did not start")


async def gone(pid: int) -> bool:
    return await asyncio.to_thread(eventually, lambda: not alive(pid), 10)


async def test_a_command_that_takes_too_long(session: Session) -> None:
    async with over_stdio(session) as tools:
        work = asyncio.ensure_future(tools.refused("shell", command=TREE, timeout=1))
        pid = await running(session, tools, work)
        assert "ended after 1 seconds" in await work
        assert not alive(pid)


async def test_a_cancelled_call_takes_its_whole_tree_along(session: Session) -> None:
    async with over_stdio(session) as tools:
        work = asyncio.ensure_future(tools.answer("shell", command=TREE))
        pid = await running(session, tools, work)
        work.cancel()
        assert await gone(pid)
        # The server is there for the next call.
        assert "on" in await tools("shell", command="echo on")


async def test_a_client_that_leaves_takes_everything_along(session: Session) -> None:
    async with over_stdio(session) as tools:
        work = asyncio.ensure_future(tools.answer("shell", command=TREE))
        pid = await running(session, tools, work)
    assert await gone(pid)
    work.cancel()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_killed_server_leaves_no_child(session: Session, number: int) -> None:
    command = ["sh", "-c", 'exec "$0" "$@"', *server_words(session)]
    server = subprocess.Popen(
        command, cwd=session.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdin
        for each in (INITIALIZE, INITIALIZED, call(1, "shell", command=TREE)):
            server.stdin.write(json.dumps(each) + "\n")
        server.stdin.flush()
        assert await asyncio.to_thread(eventually, (session.work / "up").exists, 10)
        pid = int((session.work / "pid").read_text())
        assert alive(pid)
        server.send_signal(number)
        assert await gone(pid)
    finally:
        server.kill()
        server.communicate()


async def test_several_calls_at_once(session: Session) -> None:
    session.bound = BOUND
    async with over_stdio(session) as tools:
        answers = await asyncio.gather(
            *(tools.answer("shell", command=f"sleep 0.2; echo {each}") for each in range(8)),
            tools.answer("shell", command="forbidden"),
        )
    assert [text for _, text in answers[:8]] == [f"{each}\n[exit code 0]" for each in range(8)]
    assert answers[8][0]


async def test_nothing_of_the_folder_stands_in_for_a_module(session: Session) -> None:
    session.work.mkdir()
    canary = session.work / "canary"
    spoilt = f"open({str(canary)!r}, 'w')\nraise SystemExit(9)\n"
    for name in ("mcp", "barry_cli", "pydantic"):
        (session.work / name).mkdir()
        (session.work / name / "__init__.py").write_text(spoilt)
    for name in ("anyio.py", "httpx2.py", "signal.py", "sitecustomize.py", "uvicorn.py"):
        (session.work / name).write_text(spoilt)
    env = {"PYTHONPATH": ".", "PYTHONSTARTUP": "mcp/__init__.py", "PYTHONHOME": ""}
    async with over_stdio(session, env=env) as tools:
        assert "one" in await tools("shell", command="echo one")
        assert "can't be read" in await tools.refused("fetch", url="http://127.0.0.1:9/")
    assert not canary.exists()
    words = [word for word in server_words(session) if word != "-I"]
    subprocess.run(words, cwd=session.work, stdin=subprocess.DEVNULL, check=False, timeout=20)
    assert canary.exists()


def test_called_by_hand_it_says_what_it_is(session: Session) -> None:
    from barry_cli.guard.serve import main

    assert main([]) == 2
    assert main(["--http"]) == 2


@pytest.mark.parametrize("more", [[], ["--http"]], ids=["stdio", "http"])
@pytest.mark.parametrize(
    ("streams", "code"),
    [("<&-", 125), (">&-", 125), ("<&- >&- 2>&-", 125), (">/dev/full", 125), ("2>&-", 0)],
)
def test_streams_that_are_no_use(
    session: Session, streams: str, code: int, more: list[str]
) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {streams}', "sh", *server_words(session), *more],
        cwd=session.work,
        input=json.dumps(INITIALIZE).encode() + b"\n",
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == code
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert said.count("\n") == (1 if code and "2>" not in streams else 0), said


@pytest.mark.parametrize("more", [[], ["--http"]], ids=["stdio", "http"])
def test_it_ends_with_its_input_and_prints_nothing(session: Session, more: list[str]) -> None:
    done = subprocess.run(
        [*server_words(session), *more],
        cwd=session.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"" or more


# --- the wire, where a client of the SDK's would hide what happens ---

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, name: str, **given: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def server_words(session: Session) -> list[str]:
    server = session.server()
    return [server.command, *server.args]


def exchange(
    command: list[str], frames: list[dict[str, Any]], session: Session
) -> list[dict[str, Any]]:
    """What the server answers until it has answered all."""
    with subprocess.Popen(
        command, cwd=session.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        for each in (INITIALIZE, INITIALIZED, *frames):
            server.stdin.write(json.dumps(each) + "\n")
        server.stdin.flush()
        answers: list[dict[str, Any]] = []
        while len(answers) < 1 + len(frames):
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        assert server.wait(20) == 0
    return answers
