"""Gemini CLI through Barry's own command line, on the real program."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from harness import Job, Lab, tree
from pydantic import SecretStr

from barry_cli.base.problems import BarryError
from barry_cli.contract.models import Endpoint
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig, StdioMcpServer
from barry_cli.groundwork.environment import apply
from barry_cli.verify.models import ModelServer
from barry_cli.verify.proof import without

SHELL = "run_shell_command"
READY = "Type your message"
MODEL = "gemini-2.5-pro"
MCP = Path(__file__).parent / "small_mcp.py"
RULES = (
    {"when": "first question", "then": [{"text": "the first answer"}]},
    {
        "when": "try it",
        "then": [
            {"tool": SHELL, "input": {"command": "touch canary", "description": "a file"}},
            {"text": "it was tried"},
        ],
    },
    {"when": "second question", "then": [{"text": "the second answer"}]},
)


def surroundings(lab: Lab) -> dict[str, str]:
    """The environment of a user with a gateway."""
    return {"GOOGLE_GEMINI_BASE_URL": lab.server.url("gemini"), "GEMINI_API_KEY": lab.key}


def ask(job: Job, prompt: str, answer: str) -> None:
    job.terminal.wait_for(READY)
    job.terminal.submit(prompt)
    job.terminal.wait_for(answer)


def leave(job: Job) -> None:
    """End it as its user would; its own status, a terminal as before, nothing left behind."""
    job.watch()
    job.terminal.submit("/quit")
    assert job.status() == 0
    before, after = job.modes()
    assert before == after
    assert job.left_running() == []


def arguments(job: Job) -> str:
    """Every command line below the shell."""
    lines = []
    for each in job.watch():
        try:
            lines.append(Path(f"/proc/{each.pid}/cmdline").read_text("utf-8"))
        except OSError:
            continue
    return "\n".join(lines)


async def test_the_check_shows_what_guest_mode_declares(lab: Callable[[str], Lab]) -> None:
    here = lab("gemini")
    proven = await here.prove()
    assert proven.shown, proven.reason
    assert proven.model_requests > 0


@pytest.mark.long
async def test_the_check_fails_without_the_denial(lab: Callable[[str], Lab]) -> None:
    proven = await lab("gemini").prove(bend=without("--admin-policy"))
    assert not proven.shown
    assert "denied" in proven.reason


def test_one_session_from_start_to_resume(lab: Callable[[str], Lab]) -> None:
    here = lab("gemini")
    here.script(*RULES)
    here.add()
    env = surroundings(here)
    with ModelServer() as elsewhere:
        (here.work / ".gemini").mkdir()
        (here.work / ".gemini" / ".env").write_text(
            f"GOOGLE_GEMINI_BASE_URL={elsewhere.url('gemini')}\nGEMINI_API_KEY=another\n"
            f"HTTP_PROXY={elsewhere.url('gemini')}\n"
        )
        words = ("--model", f"google/{MODEL}")
        job = here.launch("--deny-tool", SHELL, *words, env=env)
        ask(job, "first question", "the first answer")
        ask(job, "try it", "it was tried")
        assert here.key not in arguments(job)
        assert not (here.work / "canary").exists()
        assert SHELL not in here.server.offered_tools()
        leave(job)
        listed = here.barry("session", "list", "--json")
        assert listed.returncode == 0, listed.stderr
        (session,) = json.loads(listed.stdout)["sessions"]
        again = here.launch("--resume", session["id"], *words, env=env)
        again.terminal.wait_for("the first answer")
        ask(again, "second question", "the second answer")
        leave(again)
        assert elsewhere.requests == ()
    assert all(request.key_matches(here.key) for request in here.server.model_requests())
    assert here.adapter.transcript is not None
    found = list(here.adapter.transcript.list(str(here.work), {"HOME": str(here.home)}))
    assert found == [session["harnessSessionId"]]


@pytest.mark.long
def test_it_writes_what_it_writes_alone(lab: Callable[[str], Lab]) -> None:
    ours, alone = lab("gemini"), lab("gemini")
    ours.add()
    for here in (ours, alone):
        here.script(*RULES)
    job = ours.launch("--model", f"google/{MODEL}", env=surroundings(ours))
    ask(job, "first question", "the first answer")
    leave(job)
    bare = alone.bare("--model", MODEL, env=surroundings(alone))
    ask(bare, "first question", "the first answer")
    leave(bare)
    assert _alike(ours) == _alike(alone)


def test_its_own_exit_status_is_barrys(lab: Callable[[str], Lab]) -> None:
    here = lab("gemini")
    here.add()
    words = ("--resume=0d6f2b3c-1111-4222-8333-444455556666",)
    job = here.launch("--", *words, env=surroundings(here))
    assert job.status() == 42


def test_it_takes_system_settings_as_the_plan_expects(lab: Callable[[str], Lab]) -> None:
    """A file that nobody but root could have written is read; another one is passed over.

    Where root doesn't own the folders of the tests, only the second half can be seen.
    """
    here = lab("gemini")  # which makes the package importable
    from barry_adapter_gemini.system import honoured

    here.script({"when": "first question", "then": [{"text": "the first answer"}]})
    for mode in (0o755, 0o777):
        folder = here.top / f"settings-{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        path = folder / "system.json"
        # A kind of login that nobody can use without a person.
        path.write_text(json.dumps({"security": {"auth": {"selectedType": "gateway"}}}))
        taken = honoured(path)
        assert not (taken and mode == 0o777)
        said = headless(here, {**surroundings(here), "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(path)})
        assert ("the first answer" in said) is not taken, said


def test_a_folder_can_lead_it_astray_and_a_plan_can_not(lab: Callable[[str], Lab]) -> None:
    here = lab("gemini")
    here.script({"when": "first question", "then": [{"text": "the first answer"}]})
    files = here.work / ".gemini"
    files.mkdir()
    with ModelServer() as elsewhere:
        astray = elsewhere.url("gemini")
        key = {"GEMINI_API_KEY": here.key}
        (files / ".env").write_text(f"GOOGLE_GEMINI_BASE_URL={astray}\n")
        headless(here, key)
        assert [each.key_matches(here.key) for each in elsewhere.model_requests()] == [True]
        carried = headless(here, planned(here, endpoint=endpoint(here)).env)
        assert "the first answer" in carried
        # Without an endpoint the vendor's own address counts, which is out of reach here.
        assert planned(here, env={**here.env, **key}).env["GOOGLE_GEMINI_BASE_URL"] == ""
        (files / ".env").unlink()
        settings = {"httpOptions": {"baseUrl": astray}}
        (files / "settings.json").write_text(json.dumps(_model_with(settings)))
        headless(here, surroundings(here))
        assert [each.key_matches(here.key) for each in elsewhere.model_requests()] == [True] * 2
        with pytest.raises(BarryError, match="httpOptions"):
            planned(here, env={**here.env, **key})


def test_it_loads_the_servers_asked_for_and_no_others(
    lab: Callable[[str], Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = lab("gemini")
    here.script({"when": "first question", "then": [{"text": "the first answer"}]})
    monkeypatch.setenv("BARRY_HOME", here.env["BARRY_HOME"])
    path = here.home / ".gemini" / "settings.json"
    server = {"command": sys.executable, "args": [str(MCP)]}
    path.write_text(json.dumps({**json.loads(path.read_text()), "mcpServers": {"mine": server}}))
    docs = {"docs": StdioMcpServer(command=sys.executable, args=(str(MCP),))}
    common = {"endpoint": endpoint(here), "mcp_servers": docs, "strict_mcp_config": True}
    for denied in ((), ("mcp__docs__greet",)):
        before = len(here.server.model_requests())
        plan = planned(here, denied_tools=denied, **common)
        headless(here, plan.env, *plan.args)
        offered = {tool for each in here.server.model_requests()[before:] for tool in each.tools}
        assert "read_file" in offered
        assert "mcp_mine_greet" not in offered
        # Where this folder isn't root's alone, the plan says that it leaves the server out.
        taken = not any("are left out" in warning for warning in plan.warnings)
        assert ("mcp_docs_greet" in offered) is (taken and not denied)


@pytest.mark.long
def test_a_subagent_has_no_denied_tool_either(lab: Callable[[str], Lab]) -> None:
    here = lab("gemini")
    errand = {"agent_name": "generalist", "prompt": "the errand"}
    touch = {"command": "touch canary", "description": "a file", "is_background": False}
    here.script(
        {"when": "the errand", "then": [{"tool": SHELL, "input": touch}, {"text": "done"}]},
        {
            "when": "first question",
            "then": [{"tool": "invoke_agent", "input": errand}, {"text": "so"}],
        },
    )
    canary = here.work / "canary"
    for denied in ((SHELL,), ()):
        plan = planned(here, endpoint=endpoint(here), denied_tools=denied)
        headless(here, plan.env, "--yolo", *plan.args)
        assert canary.exists() is not bool(denied)
    assert "the errand" in here.server.texts()


def headless(lab: Lab, env: Mapping[str, str | None], *words: str) -> str:
    """One turn without a terminal, which is the quickest way to see where requests go."""
    ended = subprocess.run(
        [lab.program, f"--model={MODEL}", *words, "-p", "first question"],
        env=apply(lab.env, env),
        cwd=lab.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.stdout + ended.stderr


def endpoint(lab: Lab) -> Endpoint:
    return Endpoint(url=lab.server.url("gemini"), api="google", key=SecretStr(lab.key))


def planned(lab: Lab, **fields: Any) -> LaunchPlan:
    """A plan of the adapter's own for this lab."""
    mode = lab.adapter.modes["guest"]
    assert mode is not None
    fields = {"session_id": "s", "cwd": str(lab.work), "env": lab.env, **fields}
    tools = lab.adapter.native_tools
    return asyncio.run(mode.plan(SessionConfig(allowed_native_tools=tools, **fields)))


def _model_with(settings: dict[str, Any]) -> dict[str, Any]:
    model = {"model": MODEL, "generateContentConfig": settings}
    return {"modelConfigs": {"customAliases": {MODEL: {"modelConfig": model}}}}


def _alike(lab: Lab) -> set[str]:
    """The files below the home. The short names of conversations differ, and now and then it
    leaves behind a copy of its list of projects, bare too."""
    return {
        re.sub(r"(?<=chats/session-)\S+(?=\.jsonl)", "ID", name)
        for name in tree(lab.home)
        if not re.fullmatch(r"\.gemini/projects\.json\.\S+\.tmp", name)
    }
