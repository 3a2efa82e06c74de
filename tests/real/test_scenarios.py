"""Scenarios that a person would try, each named by its number, on the harnesses' own programs.

Those that need none of them are in ``tests/unit/test_scenarios.py``; those of messages and rulings
in a terminal UI stand with each harness's instrumented mode.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from harness import Job, Lab

from barry_cli.base.processes import ProcessIdentity, descendants, is_alive, subreaper
from barry_cli.verify.models import ModelServer

PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
MANUAL = ("--option", 'permissionMode="manual"')


def surroundings(lab: Lab) -> dict[str, str]:
    """The environment in which each harness reaches the scripted model and nothing else."""
    quiet = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
    if lab.adapter.id == "claude":
        url = lab.server.url("anthropic")
        return {**quiet, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": lab.key}
    return quiet


def codex(lab: Callable[[str], Lab]) -> Lab:
    """A home whose own settings lead to the scripted model."""
    here = lab("codex")
    here.add()
    url = here.server.url("openai-responses")
    provider = f'{{name = "mine", base_url = "{url}", wire_api = "responses"}}'
    settings = here.home / ".codex" / "config.toml"
    settings.write_text(
        f'model_provider = "mine"\nmodel_providers.mine = {provider}\n{settings.read_text()}'
    )
    return here


def claude(lab: Callable[[str], Lab]) -> Lab:
    here = lab("claude")
    here.add()
    return here


def leave(job: Job) -> None:
    for _ in range(2):
        job.terminal.type("\x04")
        job.terminal.pump(0.4)
    assert job.status() == 0


def sessions(lab: Lab) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(lab.barry("session", "list", "--json").stdout)[
        "sessions"
    ]
    return found


def refused(lab: Lab, env: Mapping[str, str], *words: str) -> dict[str, Any]:
    """A launch that is refused before anything starts: its error."""
    before = len(lab.server.requests)
    job = lab.job([sys.executable, "-m", "barry_cli", *words, "--json"], env=env)
    assert job.status() == 2
    assert len(lab.server.requests) == before
    text = bytes(job.terminal.raw).decode(errors="replace").replace("\r\n", "")
    error: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index('{"error"') :])[0]
    return error["error"]  # type: ignore[no-any-return] - as the line above says


def test_p15_a_session_whose_first_turn_failed_is_not_begun_under_the_same_id(
    lab: Callable[[str], Lab],
) -> None:
    here = claude(lab)
    env = surroundings(here)
    here.script({"when": "first question", "then": [{"status": 400, "message": "made up"}]})
    job = here.launch(*MANUAL, env=env)
    job.terminal.wait_for(PROMPT)
    job.terminal.submit("first question")
    job.terminal.wait_for("400")
    leave(job)
    (first,) = sessions(here)
    here.script({"when": "second question", "then": [{"text": "the second answer"}]})
    again = here.launch("--resume", first["id"], *MANUAL, env=env)
    again.terminal.wait_for(PROMPT)
    again.terminal.submit("second question")
    again.terminal.wait_for("the second answer")
    leave(again)
    second = next(each for each in sessions(here) if each["id"] != first["id"])
    assert second["resumedFrom"] == first["id"]
    assert second["harnessSessionId"] == first["harnessSessionId"]
    # A new launch takes a new one.
    third = here.barry("session", "launch", "claude", "--dry-run", "--json", env=env)
    assert first["harnessSessionId"] not in third.stdout


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_p17_a_conversation_that_is_gone_is_said_to_be_before_anything_starts(
    lab: Callable[[str], Lab], harness: str
) -> None:
    here = claude(lab) if harness == "claude" else codex(lab)
    env = surroundings(here)
    here.script({"when": "first question", "then": [{"text": "the first answer"}]})
    asked = here.barry("session", "start", harness, "first question", env=env, seconds=90)
    assert asked.stdout == "the first answer\n", asked.stderr
    (session,) = sessions(here)
    source = here.adapter.transcript
    assert source is not None
    found = source.find(session["harnessSessionId"], str(here.work), {**here.env, **env})
    assert found is not None
    Path(found).unlink()
    error = refused(here, env, "session", "launch", harness, "--resume", session["id"])
    assert error["code"] == "conversation-lost", error
    assert "session" in error["hint"]
    (kept,) = sessions(here)
    assert kept["harnessSessionId"] == session["harnessSessionId"]


def test_p19_settings_do_not_move_the_endpoint(lab: Callable[[str], Lab]) -> None:
    here = claude(lab)
    here.script({"when": "first question", "then": [{"text": "the first answer"}]})
    env = surroundings(here)
    with ModelServer() as other:
        (here.home / ".claude").mkdir(exist_ok=True)
        (here.home / ".claude" / "settings.json").write_text(
            json.dumps({"env": {"ANTHROPIC_BASE_URL": other.url("anthropic")}})
        )
        job = here.launch(*MANUAL, env=env)
        job.terminal.wait_for(PROMPT)
        job.terminal.submit("first question")
        job.terminal.wait_for("the first answer")
        leave(job)
        assert other.requests == ()
    assert here.server.model_requests()


def test_p22_an_input_that_never_ends_holds_nothing_up(lab: Callable[[str], Lab]) -> None:
    here = codex(lab)
    here.script({"when": "first question", "then": [{"text": "the first answer"}]})
    reading, writing = os.pipe()  # nobody ever writes, nobody closes
    try:
        done = subprocess.run(
            [sys.executable, "-m", "barry_cli", "session", "start", "codex", "first question"],
            env={**here.env, **surroundings(here)}, cwd=here.work, stdin=reading,
            capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (0, "the first answer\n"), done.stderr


# An MCP server that leaves its group, as some do, and says which process it is.
APART = """
import json, os, sys
os.setsid()
open(sys.argv[1], "w").write(str(os.getpid()))
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "tools": [],
            "serverInfo": {"name": "apart", "version": "1"}}}), flush=True)
"""


def test_p27_nothing_of_a_session_outlives_a_barry_that_was_killed(
    lab: Callable[[str], Lab], tmp_path: Path
) -> None:
    here = claude(lab)
    env = surroundings(here)
    apart, note = tmp_path / "apart.py", tmp_path / "note"
    apart.write_text(APART)
    settings = json.loads((here.home / ".claude.json").read_text())
    settings["mcpServers"] = {"apart": {"command": sys.executable, "args": [str(apart), str(note)]}}
    (here.home / ".claude.json").write_text(json.dumps(settings))
    call = {"tool": "Bash", "input": {"command": "python3 -c 'import time; time.sleep(600)'"}}
    here.script({"when": "first question", "then": [call]})
    # One of the same name that is somebody else's.
    other = subprocess.Popen([here.program, "-p"], stdin=subprocess.PIPE, env={**here.env, **env},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    words = [sys.executable, "-m", "barry_cli", "session", "start", "claude", "first question"]
    try:
        with subreaper():
            barry = subprocess.Popen([*words, "--relax", "--json"], env={**here.env, **env},
                                     cwd=here.work, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True)  # fmt: skip
            assert barry.stdout is not None
            assert any('"tool_use"' in line for line in barry.stdout)
            seen = set(descendants(barry.pid))
            assert any(each.pid == int(note.read_text()) for each in seen)
            barry.kill()
            barry.communicate()
            gone(seen)
        (session,) = sessions(here)
        shown = json.loads(here.barry("session", "show", session["id"], "--json").stdout)
        assert [turn["state"] for turn in shown["turns"]] == ["recovery_required"]
        assert other.poll() is None
    finally:
        other.communicate(b"", timeout=60)


def gone(seen: set[ProcessIdentity], seconds: float = 20) -> None:
    give_up = time.monotonic() + seconds
    while left := [each for each in seen if is_alive(each)]:
        assert time.monotonic() < give_up, left
        time.sleep(0.05)
