"""The guarded tools inside real harnesses: they stand in for what a bound takes back in guest mode.

The deed of an allowed call is there; a denied call leaves nothing, and the model reads why.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import test_codex as codex
import test_gemini as gemini
import test_opencode as opencode
import test_qwen as qwen
from harness import Job, Lab
from test_claude import MANUAL, PROMPT, leave, surroundings

SHELL = "mcp__barry__shell"
READ = "mcp__barry__read_file"
GUEST = ("--mode", "guest", "--bound")


def calls(
    when: str, tool: str, answer: str, *, namespace: str = "", **given: str
) -> dict[str, Any]:
    call = {"tool": tool, "input": given, **({"namespace": namespace} if namespace else {})}
    return {"when": when, "then": [call, {"text": answer}]}


def pushes(tool: str, **more: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call that no-push allows, and one that it denies."""
    return (
        calls("do the first", tool, "first-over", command="touch made", **more),
        calls("do the second", tool, "second-over", command="touch spoilt; git push", **more),
    )


def is_held(lab: Lab, job: Job, ask: Callable[[Job, str, str], None]) -> None:
    ask(job, "do the first", "first-over")
    assert (lab.work / "made").exists(), lab.server.tool_results()
    ask(job, "do the second", "second-over")
    assert "Refused by the policy of this session" in lab.server.tool_results()[-1].text
    assert not (lab.work / "spoilt").exists()


@pytest.fixture
def claude(lab: Callable[[str], Lab]) -> Lab:
    """Its user lets this server's tools run unasked; their calls are ruled on all the same."""
    made = lab("claude")
    (made.home / ".claude").mkdir(exist_ok=True)
    allowed = {"permissions": {"allow": ["mcp__barry"]}}
    (made.home / ".claude" / "settings.json").write_text(json.dumps(allowed), "utf-8")
    return made


def ask_claude(job: Job, prompt: str, answer: str) -> None:
    job.terminal.wait_for(PROMPT)
    job.terminal.submit(prompt)
    job.terminal.wait_for(answer)


def test_a_shell_under_no_push(claude: Lab) -> None:
    claude.script(*pushes(SHELL))
    claude.add()
    job = claude.launch(*GUEST, "no-push", *MANUAL, env=surroundings(claude))
    is_held(claude, job, ask_claude)
    offered = set(claude.server.offered_tools())
    assert SHELL in offered
    assert not {"Bash", "WebFetch"} & offered
    leave(job)


def test_files_under_no_secrets(claude: Lab) -> None:
    (claude.work / ".env").write_text("KEY=told", "utf-8")
    (claude.work / "notes").write_text("plain words", "utf-8")
    claude.script(
        calls("do the first", READ, "first-over", path="notes"),
        calls("do the second", READ, "second-over", path=".env"),
    )
    claude.add()
    job = claude.launch(*GUEST, "no-secrets", *MANUAL, env=surroundings(claude))
    ask_claude(job, "do the first", "first-over")
    assert "Read" not in claude.server.offered_tools()
    assert claude.server.tool_results()[-1].text == "plain words"
    ask_claude(job, "do the second", "second-over")
    refused = claude.server.tool_results()[-1].text
    assert "files.deny .env" in refused
    assert "KEY=told" not in refused
    leave(job)


@pytest.mark.long
def test_the_shell_in_codex(lab: Callable[[str], Lab]) -> None:
    here = lab("codex")
    here.env.update(codex.CLOSED)
    codex.use(here.home, here.server.url("openai-responses"))
    here.script(*pushes("shell", namespace="mcp__barry"))
    here.add()
    job = here.launch(*GUEST, "no-push", *codex.MODEL, *codex.OPEN)
    is_held(here, job, codex.ask)
    codex.leave(job)


@pytest.mark.long
def test_the_shell_in_opencode(lab: Callable[[str], Lab]) -> None:
    here = lab("opencode")
    here.env.update(opencode.CLOSED)
    opencode.use(here, here.home)
    here.script(*pushes("barry_shell"))
    here.add()
    job = here.launch(*GUEST, "no-push", *opencode.MODEL, *opencode.PASSED)
    is_held(here, job, opencode.ask)
    assert "bash" not in here.server.offered_tools()
    opencode.leave(job)


@pytest.mark.long
def test_the_shell_in_qwen(lab: Callable[[str], Lab]) -> None:
    here = lab("qwen")
    here.script(*pushes(SHELL))
    here.add()
    free = ("--option", 'approvalMode="yolo"')
    job = here.launch(*GUEST, "no-push", *free, env=qwen.surroundings(here))
    is_held(here, job, qwen.ask)
    assert qwen.SHELL not in here.server.offered_tools()
    qwen.leave(job)


@pytest.mark.long
def test_the_shell_in_gemini(lab: Callable[[str], Lab]) -> None:
    here = lab("gemini")
    here.script(*pushes("mcp_barry_shell"))
    here.add()
    job = here.launch(*GUEST, "no-push", env=gemini.surroundings(here))
    is_held(here, job, gemini.ask)
    gemini.leave(job)
