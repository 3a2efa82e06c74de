"""The real Codex, started by Barry's own command line in a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import Job, Lab, tree

from barry_cli.contract.models import Endpoint
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig, StdioMcpServer
from barry_cli.groundwork import environment
from barry_cli.launch.planning import make_plan
from barry_cli.verify.models import ModelServer, Script
from barry_cli.verify.proof import without
from barry_cli.verify.terminal import ScreenTerminal

READY = "? for shortcuts"
# Codex looks for news and plugins when it starts: nothing may leave this machine.
CLOSED = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}
MODEL = ("--model", "openai/gpt-5.5")
# What a sandbox allows is not the matter here, and not every machine has one.
OPEN = ("--option", 'sandbox="danger-full-access"', "--option", 'approvalPolicy="never"')


@pytest.fixture
def codex(lab: Callable[[str], Lab]) -> Lab:
    """A home whose own settings lead to the scripted model."""
    made = lab("codex")
    made.env.update(CLOSED)
    use(made.home, made.server.url("openai-responses"))
    made.script(
        {"when": "say one", "then": ["first-answer"]},
        {"when": "try it", "then": [touch("denied"), "round-over"]},
        {"when": "do it", "then": [touch("allowed"), "work-done"]},
        {"when": "say two", "then": ["second-answer"]},
    )
    return made


def use(home: Path, url: str) -> None:
    """The user's own settings name a provider at this address."""
    settings = home / ".codex" / "config.toml"
    provider = f'{{name = "mine", base_url = "{url}", wire_api = "responses"}}'
    settings.write_text(
        f'model_provider = "mine"\nmodel_providers.mine = {provider}\n{settings.read_text()}'
    )


def touch(name: str) -> dict[str, object]:
    return {"tool": "exec_command", "input": {"cmd": f"touch {name}"}}


def ask(job: Job, prompt: str, answer: str) -> None:
    job.terminal.wait_for(READY, seconds=30)
    job.terminal.submit(prompt)
    job.terminal.wait_for(answer, seconds=30)
    job.watch()


def leave(job: Job) -> None:
    """End it as a person does, and see that all is as it was before."""
    job.terminal.submit("/quit")
    assert job.status() == 0
    before, after = job.modes()
    assert before == after
    assert job.left_running() == []


def sessions(lab: Lab) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(lab.barry("session", "list", "--json").stdout)[
        "sessions"
    ]
    return listed


def test_a_launch_from_the_first_prompt_to_going_on(codex: Lab) -> None:
    codex.add()
    guest = ("--mode", "guest", "--require", "gating=static")
    job = codex.launch(*MODEL, *OPEN, "--deny-tool", "exec_command", *guest)
    ask(job, "say one", "first-answer")
    ask(job, "try it", "round-over")
    assert not (codex.work / "denied").exists()
    leave(job)
    (ended,) = sessions(codex)
    assert ended["exitStatus"] == 0
    conversation = ended["harnessSessionId"]
    assert conversation is not None
    (kept,) = (codex.home / ".codex" / "sessions").rglob("rollout-*.jsonl")
    assert conversation in kept.name
    written = tree(codex.home)

    # Going on keeps the denial; the model gets what was said before.
    going_on = codex.launch("--resume", str(ended["id"]))
    going_on.terminal.wait_for("first-answer", seconds=30)
    ask(going_on, "try it again", "round-over")
    assert not (codex.work / "denied").exists()
    leave(going_on)
    assert sessions(codex)[0]["harnessSessionId"] == conversation
    assert codex.server.model_requests()[-1].contains("say one")

    # Without the denial the same call has its effect.
    last = codex.launch(*MODEL, *OPEN, "--last")
    last.terminal.wait_for("first-answer", seconds=30)
    ask(last, "do it", "work-done")
    assert (codex.work / "allowed").exists()
    leave(last)
    assert sessions(codex)[0]["harnessSessionId"] == conversation

    # A failure of Codex's own keeps its own status.
    failed = codex.launch("--", "-c", 'approval_policy="untrusted"')
    assert failed.status() == 1

    # What a launch leaves behind in the home is what Codex leaves behind by itself.
    bare_home = codex.top / "bare"
    bare_home.mkdir(mode=0o700)
    codex.settle(bare_home)
    use(bare_home, codex.server.url("openai-responses"))
    bare = codex.bare("--no-daemon", "-m", "gpt-5.5", env={"HOME": str(bare_home)})
    ask(bare, "say two", "second-answer")
    leave(bare)
    assert lasting(written) == lasting(tree(bare_home))


def lasting(names: set[str]) -> set[str]:
    """Without the files that a database has while it is open, or was not closed in peace."""
    return {name for name in names if not name.endswith(("-wal", "-shm"))}


@pytest.fixture
def elsewhere() -> Iterator[ModelServer]:
    """A server that no request may reach."""
    with ModelServer(Script.parse({"default": "wrong-place"})) as server:
        yield server


async def test_the_evidence(codex: Lab, elsewhere: ModelServer) -> None:
    codex.add()
    proven = await codex.prove()
    assert proven.shown, proven.reason
    unguarded = await codex.prove(bend=without("--disable"))
    assert not unguarded.shown
    assert "denied" in unguarded.reason


async def planned(lab: Lab, **fields: Any) -> LaunchPlan:
    """A plan with an endpoint, which no command line can name."""
    mode = lab.adapter.modes["guest"]
    assert mode is not None
    endpoint = {"url": lab.server.url("openai-responses"), "api": "openai", "key": lab.key}
    asked: dict[str, Any] = {
        "session_id": "barry-1",
        "cwd": str(lab.work),
        "env": lab.env,
        "allowed_native_tools": lab.adapter.native_tools,
        "model": "openai/gpt-5.5",
        "endpoint": Endpoint.model_validate(endpoint),
        "options": {"sandbox": "danger-full-access", "approvalPolicy": "never"},
    }
    return await make_plan(lab.adapter, mode, SessionConfig(**{**asked, **fields}))


def start(lab: Lab, plan: LaunchPlan, *args: str) -> Job:
    """What the launcher would start, in a terminal of its own."""
    argv = [str(lab.program), *(args or plan.args)]
    terminal = ScreenTerminal(argv, environment.apply(lab.env, plan.env), lab.work)
    lab._jobs.append(Job(terminal))
    return lab._jobs[-1]


async def test_an_endpoint_is_reached_whatever_settings_say(
    codex: Lab, elsewhere: ModelServer
) -> None:
    wrong = elsewhere.url("openai-responses")
    mine = f'base_url = "{wrong}"\nwire_api = "responses"\n'
    evil = (
        f'model_provider = "evil"\nopenai_base_url = "{wrong}"\n'
        f'[model_providers.evil]\nname = "e"\nenv_key = "BARRY_CODEX_KEY"\n{mine}'
        f'[model_providers.barry]\nname = "e"\nrequires_openai_auth = true\n{mine}'
        "[features]\nshell_tool = true\n"
    )
    settings = codex.home / ".codex" / "config.toml"
    trusted = f'[projects."{codex.work}"]\ntrust_level = "trusted"\n'
    news = '[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n'
    settings.write_text(evil + trusted + news)
    (codex.work / ".codex").mkdir()
    (codex.work / ".codex" / "config.toml").write_text(evil)
    codex.script(
        {"when": "say one", "then": ["first-answer"]},
        {"when": "try it", "then": [touch("denied"), "round-over"]},
    )
    plan = await planned(codex, denied_tools=("exec_command",))
    job = start(codex, plan)
    ask(job, "say one", "first-answer")
    ask(job, "try it", "round-over")
    assert not (codex.work / "denied").exists()
    assert elsewhere.requests == ()
    assert all(each.key_matches(codex.key) for each in codex.server.model_requests())
    job.terminal.close()

    # The guard is what holds it: without the settings of the plan the other server is asked.
    there = start(codex, plan, "--no-daemon", "-m", "gpt-5.5")
    ask(there, "say one", "wrong-place")
    assert elsewhere.model_requests() != []
    there.terminal.close()


async def test_what_a_plan_hands_over_arrives(codex: Lab) -> None:
    seen = codex.work / "seen"
    server = StdioMcpServer(
        command="/bin/sh",
        args=("-c", 'printf %s "$TOKEN" > "$1"; exec cat > /dev/null', "sh", str(seen)),
        env={"TOKEN": 'a "quoted" $ecret'},
    )
    prompt = 'Mind the "gap" = 1,\nand \\ the rest.'
    patch = "*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch"
    codex.script(
        {"when": "patch it", "then": [{"tool": "apply_patch", "input": patch}, "patch-done"]},
        {
            "when": "look for keys",
            "then": [
                {"tool": "exec_command", "input": {"cmd": "env | grep -c BARRY_ | sed s/^/keys-/"}},
                "look-done",
            ],
        },
    )
    plan = await planned(
        codex,
        mcp_servers={"files": server},
        system_prompt=prompt,
        denied_tools=("apply_patch", "request_user_input"),
        extra_args=("--strict-config",),
    )
    assert plan.guarantees.gating == "none"
    # Every setting that the plan names is one that this build knows.
    job = start(codex, plan)
    ask(job, "patch it", "patch-done")
    # It is as the plan says: the patch tool stays.
    assert (codex.work / "patched").exists()
    ask(job, "look for keys", "look-done")
    (answer,) = [
        result.text
        for request in codex.server.model_requests()
        for result in request.tool_results
        if "keys-" in result.text
    ]
    assert "keys-1" in answer, "BARRY_HOME is the user's own; nothing else is to be seen"
    assert seen.read_text() == 'a "quoted" $ecret'
    asked = [each for each in codex.server.model_requests() if "exec_command" in each.tools]
    assert asked
    assert all(each.contains(prompt) for each in asked)
    assert all("request_user_input" not in each.tools for each in asked)
    job.terminal.close()


async def test_an_endpoint_that_is_down_is_not_asked_for_ever(codex: Lab) -> None:
    down = ModelServer()
    url = down.url("openai-responses")
    down.close()
    endpoint = Endpoint.model_validate({"url": url, "api": "openai", "key": codex.key})
    job = start(codex, await planned(codex, endpoint=endpoint))
    ask(job, "say one", "Connection failed")
    job.terminal.close()
