"""Codex driven by Barry, on the real program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness import Lab
from hosted import FAULT_CASES, FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.base.problems import BarryError
from barry_cli.contract.events import Init, Result, SessionEvent, ToolResult, ToolUse
from barry_cli.contract.session import StdioMcpServer
from barry_cli.verify.proof import without

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
UNKNOWN = "01a22df1-fc76-7ba3-b422-f9d34d0693bd"
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n"
HEREDOC = f"apply_patch <<'EOF'\n{PATCH}EOF\n"


def command(text: str, **more: Any) -> dict[str, object]:
    return {"tool": "exec_command", "input": {"cmd": text, **more}}


def scripted(script: str) -> dict[str, object]:
    return {"tool": "exec", "input": f"const r = await {script}; text(JSON.stringify(r))"}


RULES = (
    {"when": "first question", "then": ["the first answer"]},
    {"when": "second question", "then": ["the second answer"]},
    {"when": "touch it", "then": [command("touch canary"), "it was touched"]},
    {"when": "both", "then": [{"tools": [command("touch one"), command("touch two")]}, "both"]},
    {"when": "patch it", "then": [{"tool": "apply_patch", "input": PATCH}, "it was patched"]},
    {"when": "by heredoc", "then": [command(HEREDOC), command(f"cd . && {HEREDOC}"), "so"]},
    {"when": "more of it", "then": ["and more"]},
    {"when": "for long", "then": [command("python3 -c 'import time; time.sleep(60)'; touch late")]},
    {"when": "a while", "then": [command("python3 -c 'import time; time.sleep(1)'"), "eh"]},
    {"when": "/review", "then": ["it read a command as text"]},
    {"when": "count", "then": ['{"n": 4}']},
)
SCRIPTED = (
    {"when": "name them", "then": [{"tool": "exec", "input": "text(Object.keys(tools))"}, "done"]},
    {"when": "touch it", "then": [scripted('tools.exec_command({cmd:"touch canary"})'), "done"]},
    {"when": "patch it", "then": [scripted(f"tools.apply_patch({json.dumps(PATCH)})"), "done"]},
)


@pytest.fixture
def codex(lab: Callable[[str], Lab]) -> HostedLab:
    here = lab("codex")
    from barry_adapter_codex.checks import MODEL, NO_NETWORK
    from barry_adapter_codex.hosted import agent

    told = subprocess.run(
        [here.program, "--version"], env=here.env, capture_output=True, text=True, timeout=30,
        check=True,
    )  # fmt: skip
    here.figures.version = re.findall(r"\d+\.\d+\.\d+", told.stdout)[0]
    here.script(*RULES)
    return HostedLab(here, agent, api="openai-responses", env=NO_NETWORK, model=MODEL)


def told(codex: HostedLab) -> str:
    """The newest request to the model, as text."""
    return str(codex.lab.server.model_requests()[-1].body)


def made(codex: HostedLab, name: str) -> bool:
    """Whether a call made this file; it is taken away again."""
    path = codex.lab.work / name
    found = path.exists()
    path.unlink(missing_ok=True)
    return found


def settings(codex: HostedLab, text: str) -> Path:
    """Write these before the user's own settings."""
    path = codex.lab.home / ".codex" / "config.toml"
    path.write_text(text + path.read_text("utf-8"), "utf-8")
    return path


# --- the evidence ---


async def test_the_check_shows_what_hosted_mode_declares(codex: HostedLab) -> None:
    proven = await codex.lab.prove(mode="hosted")
    assert proven.shown, proven.reason


def _asks_nothing(patch: pytest.MonkeyPatch) -> None:
    from barry_adapter_codex import dialogue

    patch.setattr(dialogue, "ASKING", {**dialogue.ASKING, "approvalPolicy": "on-request"})


def _trusts_the_folder(patch: pytest.MonkeyPatch) -> None:
    from barry_adapter_codex import hosted

    patch.setattr(hosted, "_trust", lambda draft: None)


def _believes_servers(patch: pytest.MonkeyPatch) -> None:
    from barry_adapter_codex import hosted

    patch.setattr(hosted, "ask_about", lambda table, own: table)


def _says_nothing(patch: pytest.MonkeyPatch) -> None:
    from barry_adapter_codex import dialogue

    patch.setattr(dialogue.Dialogue, "_tell", lambda self, sentence: "")


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (_asks_nothing, r"denied calls had an effect: \['exec_command'"),
        (_trusts_the_folder, "a command of the folder's settings ran"),
        # It comes to the same: what nobody was asked about, or what it did.
        (_believes_servers, r"these were asked about: \['exec_command', 'apply_patch'\]|greet"),
        (_says_nothing, "no request to the model carried"),
    ],
    ids=["asks nothing", "trusts the folder", "believes servers", "says nothing"],
)
async def test_the_check_fails_where_a_guard_is_gone(
    codex: HostedLab, monkeypatch: pytest.MonkeyPatch, bend: Any, reason: str
) -> None:
    bend(monkeypatch)
    proven = await codex.lab.prove(mode="hosted")
    assert not proven.shown
    assert re.search(reason, proven.reason), proven.reason


@pytest.mark.long
async def test_the_check_fails_where_features_stay_on(codex: HostedLab) -> None:
    proven = await codex.lab.prove(mode="hosted", bend=without("--disable"))
    assert not proven.shown
    assert "was taken back, and yet it was offered" in proven.reason


# --- turns ---


async def test_one_process_takes_turn_after_turn(codex: HostedLab) -> None:
    rulings = Rulings()
    async with codex.open(decide=rulings) as harness:
        turn = await codex.turn(harness, "first question")
        assert (turn.called, turn.outcome.text) == ("done", "the first answer")
        assert turn.text == "the first answer"
        first = turn.outcome.usage
        assert first is not None
        assert first.complete
        assert harness.observed_version == codex.lab.figures.version
        assert harness.observed_model == "gpt-5.5"
        standing = sorted(codex.executor.watch(), key=str)  # the program and what it starts from

        turn = await codex.turn(harness, "touch it")
        assert rulings.tools == ["exec_command"]
        assert rulings.asked[0].input == {"cmd": "touch canary", "workdir": str(codex.lab.work)}
        assert made(codex, "canary")
        assert [each.error for each in turn.of(ToolResult)] == [None]
        usage = turn.outcome.usage  # of this turn alone: two requests, most of it read again
        assert usage is not None
        assert 0 < usage.input < first.input
        assert 0 < usage.cached < 2 * (first.input + usage.input)

        turn = await codex.turn(harness, "patch it")
        assert rulings.tools[1:] == ["apply_patch"]
        assert f"*** Add File: {codex.lab.work / 'new.txt'}" in rulings.asked[1].input["command"]
        assert made(codex, "new.txt")

        rulings.denied = {"*": SENTENCE}
        for text, file in (("touch it", "canary"), ("patch it", "new.txt"), ("both", "two")):
            turn = await codex.turn(harness, text)
            assert turn.called == "done"
            assert not made(codex, file)
            assert all(each.error and each.result == SENTENCE for each in turn.of(ToolResult))
            assert SENTENCE in told(codex)
        assert len(turn.of(ToolUse)) == len(turn.of(ToolResult)) == 2
        assert rulings.tools[-2:] == ["exec_command", "exec_command"]

        rulings.denied = {}
        turn = await codex.turn(harness, "/review")  # a message is no command
        assert turn.text == "it read a command as text"

        async def steer(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await codex.executor.child("time.sleep")
                assert await harness.steer("more of it")

        turn = await codex.turn(harness, "a while", on=steer)
        assert turn.text == "and more"

        async def cut(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await codex.executor.child("time.sleep(60)")
                await harness.interrupt()

        turn = await codex.turn(harness, "for long", on=cut)
        assert turn.called == "aborted"
        assert await codex.gone(but=standing) == []  # Codex by itself lets it run
        assert not made(codex, "late")

        turn = await codex.turn(harness, "second question")
        assert turn.text == "the second answer"
    assert len(codex.executor.started) == 1
    assert await codex.gone() == []


@pytest.mark.long
async def test_a_turn_is_cut_while_a_call_waits_for_its_ruling(codex: HostedLab) -> None:
    import asyncio

    asked = asyncio.Event()

    async def think(request: object) -> Any:
        asked.set()
        await asyncio.sleep(60)

    async with codex.open(decide=think) as harness:

        async def cut(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await asked.wait()
                await harness.interrupt()

        turn = await codex.turn(harness, "touch it", on=cut)
        assert turn.called == "aborted"
        turn = await codex.turn(harness, "first question")
        assert turn.text == "the first answer"
    assert not made(codex, "canary")
    assert await codex.gone() == []


async def test_a_conversation_goes_on_and_is_copied(codex: HostedLab) -> None:
    async with codex.open(keep=False) as harness:
        turn = await codex.turn(harness, "first question")
        known, first = harness.session_id, turn.outcome.usage
        turn = await codex.turn(harness, "second question")  # another process
        assert "the first answer" in told(codex)
        assert harness.session_id == known
        usage = turn.outcome.usage
        assert usage is not None
        assert first is not None
        assert usage.complete
        assert usage.input + usage.cached < 1.5 * first.input  # one request, not the whole count
    async with codex.open(resume=known) as harness:
        turn = await codex.turn(harness, "touch it")
        assert harness.resumed_session
        assert [each.harness_session_id for each in turn.of(Init)] == [known]
        assert "the second answer" in told(codex)
    async with codex.open(resume=known, fork=True) as harness:
        turn = await codex.turn(harness, "first question")
        assert harness.session_id not in (None, known)
        assert "it was touched" in told(codex)
        usage = turn.outcome.usage
        assert usage is not None
        assert usage.input + usage.cached < 1.5 * first.input
    # One that is gone: seen before anything starts, and else by what Codex says of it.
    plain, before = codex.agent, len(codex.lab.server.model_requests())
    for started in (0, 1):
        processes = len(codex.executor.started)
        async with codex.open(resume=UNKNOWN) as harness:
            turn = await codex.turn(harness, "first question")
            assert turn.called == "session"
            assert not harness.resumed_session
        assert len(codex.executor.started) == processes + started
        codex.agent = lambda config: replace(plain(config), storage=None)
    assert len(codex.lab.server.model_requests()) == before
    assert await codex.gone() == []


@pytest.mark.long
async def test_a_captured_conversation_goes_on_in_another_home(codex: HostedLab) -> None:
    from barry_adapter_codex.hosted import CONVERSATIONS
    from barry_cli.agents import AgentFault, Place

    async with codex.open() as harness:
        await codex.turn(harness, "first question")
        known = str(harness.session_id)
    async with codex.open(resume=known, fork=True) as harness:
        await codex.turn(harness, "second question")
        copy = str(harness.session_id)
    here = Place(cwd=str(codex.lab.work), env=codex.env)
    record = CONVERSATIONS.capture(known, here, codex.lab.top / "kept")
    with pytest.raises(AgentFault) as refused:  # its beginning is in the other one's file
        CONVERSATIONS.capture(copy, here, codex.lab.top / "kept")
    assert known in str(refused.value)

    home = codex.lab.top / "another"
    codex.lab.settle(home)
    there = Place(cwd=str(codex.lab.work), env={**codex.env, "HOME": str(home)})
    assert CONVERSATIONS.locate(known, there) is None
    CONVERSATIONS.restore(record, there)
    async with codex.open(resume=known, env=dict(there.env)) as harness:
        turn = await codex.turn(harness, "second question")
        assert turn.called == "done"
        assert "the first answer" in told(codex)


@pytest.mark.long
async def test_a_schema_is_handed_to_the_service(codex: HostedLab) -> None:
    async with codex.open() as harness:
        turn = await codex.turn(harness, "count", output_schema=SCHEMA)
        assert turn.outcome.structured == {"n": 4}
        assert [each.structured for each in turn.of(Result)] == [{"n": 4}]
        form = codex.lab.server.model_requests()[-1].body["text"]["format"]
        assert (form["type"], form["strict"], form["schema"]) == ("json_schema", True, SCHEMA)
        turn = await codex.turn(harness, "first question")
        assert turn.outcome.structured is None


@pytest.mark.long
async def test_an_ephemeral_session_leaves_no_conversation(codex: HostedLab) -> None:
    from barry_adapter_codex.transcript import Rollouts

    async with codex.open(ephemeral=True) as harness:
        turn = await codex.turn(harness, "first question")
        assert turn.called == "done"
    assert list(Rollouts().list(str(codex.lab.work), codex.env)) == []


@pytest.mark.parametrize("name", FAULT_CASES)
async def test_a_fault_of_the_service_is_called_by_its_name(codex: HostedLab, name: str) -> None:
    turn = await codex.fail(name)
    assert turn.called == FAULTS[name].called, turn.outcome
    assert turn.seconds < 30
    assert await codex.gone() == []


async def test_a_patch_in_a_command_is_asked_about_as_a_patch(codex: HostedLab) -> None:
    rulings = Rulings(["*"])
    async with codex.open(decide=rulings) as harness:
        turn = await codex.turn(harness, "by heredoc")
    assert turn.called == "done"
    assert rulings.tools == ["apply_patch", "apply_patch"]
    assert not made(codex, "new.txt")


async def test_a_model_that_calls_from_scripts_is_asked_about_as_well(codex: HostedLab) -> None:
    from barry_adapter_codex.tools import HOSTED_NATIVE

    codex.lab.script(*SCRIPTED)
    rulings = Rulings(["*"])
    async with codex.open(decide=rulings, model="openai/gpt-6-sol") as harness:
        for text, file in (("touch it", "canary"), ("patch it", "new.txt")):
            await codex.turn(harness, text)
            assert not made(codex, file)
            assert SENTENCE in told(codex)
        assert rulings.tools == ["exec_command", "apply_patch"]
        await codex.turn(harness, "name them")
        named = json.loads(codex.lab.server.tool_results()[-1].text.splitlines()[-1])
        assert {name.rpartition("__")[2] for name in named} < set(HOSTED_NATIVE.grantable)
        rulings.denied = {}
        for text, file in (("touch it", "canary"), ("patch it", "new.txt")):
            await codex.turn(harness, text)
            assert made(codex, file)


async def test_denied_tools_are_refused_without_asking(codex: HostedLab) -> None:
    rulings = Rulings()
    async with codex.open(decide=rulings, denied_tools=("apply_patch",)) as harness:
        await codex.turn(harness, "patch it")
        assert not made(codex, "new.txt")
        assert "this session is denied apply_patch" in told(codex)
        await codex.turn(harness, "touch it")
        assert made(codex, "canary")
    assert rulings.tools == ["exec_command"]


@pytest.mark.long
async def test_a_line_as_long_as_a_picture_is_read(codex: HostedLab) -> None:
    patch = f"*** Begin Patch\n*** Add File: long.txt\n+{'z' * 1_300_000}\n*** End Patch\n"
    codex.lab.script({"when": "write it", "then": [{"tool": "apply_patch", "input": patch}, "ok"]})
    async with codex.open() as harness:
        turn = await codex.turn(harness, "write it")
        assert (turn.called, turn.text) == ("done", "ok")
    assert max(map(len, codex.executor.lines())) > 1_300_000
    assert made(codex, "long.txt")


async def test_without_a_login_nothing_is_sent(codex: HostedLab) -> None:
    """A key in the environment is none: Codex would send its requests without it."""
    (codex.lab.home / ".codex" / "auth.json").unlink()
    env = {**codex.env, "OPENAI_API_KEY": codex.lab.key, "CODEX_API_KEY": codex.lab.key}
    async with codex.open(endpoint=None, model=None, env=env) as harness:
        turn = await codex.turn(harness, "first question")
    assert turn.called == "process"
    assert "not logged in: run `codex login`" in str(turn.outcome.fault)


# --- what the user's and the folder's files say ---


async def test_a_hook_of_the_users_does_not_answer_in_barrys_place(
    codex: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_codex import hosted
    from barry_adapter_codex.tools import HOSTED_OFF

    answer = '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'  # noqa: E501 - one document
    path = settings(
        codex,
        "[[hooks.PermissionRequest]]\n[[hooks.PermissionRequest.hooks]]\n"
        f"type = 'command'\ncommand = '''printf %s '{answer}' '''\n[notice]\n",
    )
    path.write_text(path.read_text("utf-8").split("[notice]")[0], "utf-8")
    trusted = await _hash_of_the_hook(codex)
    path.write_text(path.read_text("utf-8") + trusted, "utf-8")
    rulings = Rulings(["*"])
    async with codex.open(decide=rulings) as harness:
        await codex.turn(harness, "touch it")
    assert rulings.tools == ["exec_command"]
    assert not made(codex, "canary")
    # Without that guard it answers; the first call that Barry was not asked about is the last.
    off = tuple(each for each in HOSTED_OFF if each != "hooks")
    monkeypatch.setattr(hosted, "HOSTED_OFF", off)
    async with codex.open(decide=rulings) as harness:
        turn = await codex.turn(harness, "touch it")
    assert rulings.tools == ["exec_command"]
    assert made(codex, "canary")
    assert turn.called == "process"
    assert "Barry did not allow" in str(turn.outcome.fault)


async def _hash_of_the_hook(codex: HostedLab) -> str:
    """Settings that say of the user's one hook that the user trusts it."""
    hello = {"clientInfo": {"name": "a-test", "title": "a test", "version": "1"}}
    asked = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(codex.lab.work)]}},
    ]
    with subprocess.Popen(
        [codex.lab.program, "app-server", "--stdio"], env=codex.env, cwd=codex.lab.work,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked))
        server.stdin.flush()
        found = next(row for line in server.stdout if (row := json.loads(line)).get("id") == 2)
        server.stdin.close()
    (hook,) = found["result"]["data"][0]["hooks"]
    return f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n'


async def test_rules_of_the_users_that_allow_are_refused(
    codex: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_codex import hosted

    folder = codex.lab.home / ".codex" / "rules"
    folder.mkdir()
    rules = folder / "default.rules"
    rules.write_text('prefix_rule(pattern=["touch"], decision="allow")\n', "utf-8")
    with pytest.raises(BarryError) as refused:
        async with codex.open():
            pass
    assert str(rules) in str(refused.value)
    # Why that is needed: the command runs, and only then is it seen.
    monkeypatch.setattr(hosted, "allowing", lambda env: [])
    rulings = Rulings(["*"])
    async with codex.open(decide=rulings) as harness:
        turn = await codex.turn(harness, "touch it")
    assert rulings.tools == []
    assert made(codex, "canary")
    assert "Barry did not allow" in str(turn.outcome.fault)
    # Rules that only make Codex stricter are no trouble.
    monkeypatch.undo()
    rules.write_text('prefix_rule(pattern=["touch"], decision="prompt")\n', "utf-8")
    async with codex.open(decide=rulings) as harness:
        await codex.turn(harness, "touch it")
    assert rulings.tools == ["exec_command"]
    assert not made(codex, "canary")


async def test_the_folders_words_are_read_and_its_settings_are_not(codex: HostedLab) -> None:
    """Also where the user trusts a folder above it."""
    top = codex.lab.work
    below = top / "below"
    below.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    (below / "AGENTS.md").write_text("The word of this folder is zebra.", "utf-8")
    path = codex.lab.home / ".codex" / "config.toml"
    before = f'[projects."{top}"]\ntrust_level = "trusted"\n'
    path.write_text(before, "utf-8")
    rulings = Rulings(["*"])
    async with codex.open(decide=rulings, cwd=str(below)) as harness:
        await codex.turn(harness, "first question")
    # Where this machine has such a folder above, the words are unread, too, which is warned about.
    elsewhere = any((each / ".codex").exists() for each in top.parents)
    assert ("zebra" in told(codex)) is not elsewhere
    (top / ".codex" / "rules").mkdir(parents=True)
    rule = 'prefix_rule(pattern=["touch"], decision="allow")\n'
    (top / ".codex" / "rules" / "all.rules").write_text(rule, "utf-8")
    async with codex.open(decide=rulings, cwd=str(below)) as harness:
        await codex.turn(harness, "touch it")
    assert rulings.tools == ["exec_command"]
    assert SENTENCE in told(codex)
    assert path.read_text("utf-8") == before


async def test_the_users_settings_are_not_written(codex: HostedLab) -> None:
    path = codex.lab.home / ".codex" / "config.toml"
    path.write_text("", "utf-8")
    async with codex.open() as harness:
        await codex.turn(harness, "touch it")
    assert path.read_text("utf-8") == ""


@pytest.mark.long
async def test_the_users_own_servers_come_along_only_when_asked_for(codex: HostedLab) -> None:
    """And then every call of theirs is asked about, whatever the user approved in the TUI."""
    from barry_adapter_codex.hosted_checks import SERVER
    from barry_adapter_codex.toml import toml

    server = {"command": sys.executable, "args": ["-c", SERVER]}
    approved = {"tools": {"greet": {"approval_mode": "approve"}}}
    settings(codex, f"mcp_servers.mine = {toml({**server, **approved})}\n")
    greets = {"tool": "greet", "namespace": "mcp__mine", "input": {}}
    codex.lab.script({"when": "greet", "then": [greets, "greeted"]})
    rulings = Rulings(["*"])
    async with codex.open(decide=rulings) as harness:
        await codex.turn(harness, "greet")
    assert rulings.tools == []
    assert "unsupported call" in told(codex)
    async with codex.open(decide=rulings, strict_mcp_config=False) as harness:
        await codex.turn(harness, "greet")
    assert rulings.tools == ["mcp__mine__greet"]
    assert SENTENCE in told(codex)
    rulings.denied = {}
    async with codex.open(decide=rulings, strict_mcp_config=False) as harness:
        await codex.turn(harness, "greet")
    assert "hello from the server" in told(codex)


async def test_secrets_of_the_session_do_not_reach_commands(codex: HostedLab) -> None:
    server = StdioMcpServer(command="/bin/true", env={"TOKEN": "secret-of-a-server"})
    codex.lab.script({"when": "env", "then": [command("env"), "done"]})
    async with codex.open(mcp_servers={"small": server}) as harness:
        await codex.turn(harness, "env")
    assert "PATH=" in told(codex)
    for secret in (codex.lab.key, "secret-of-a-server"):
        assert secret not in told(codex)
        assert secret not in json.dumps(codex.executor.argvs)
