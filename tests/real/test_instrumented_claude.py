"""Claude Code's own TUI with Barry's hooks in it, on the real program."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness import Lab, tree
from plugged import Plugged, at_random_moments, bound

from barry_cli.contract.plan import LaunchPlan

PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
MANUAL = ("--option", 'permissionMode="manual"')
QUESTION = "Do you want to proceed?"
SLOW = "python3 -c 'import time; time.sleep(2)'"
HARD = (
    "/clear is a word,\n\tand so is !touch bang\N{PARTY POPPER} #x @word.txt\n" + "x" * 6000 + "\n"
)
NO_TOUCH = {"bash": {"denyPrograms": ["touch"]}}
TOUCH_REFUSED = "bash.denyPrograms touch"
FRAMED = True


class Session(Plugged):
    """One instrumented session of Claude Code's."""

    def ready(self) -> None:
        self.job.terminal.wait_for(PROMPT)
        self.until(lambda: self.row.activity is not None)

    def approve(self) -> None:
        """Answer its question with yes, as often as it takes: one that has just appeared, or moved,
        takes no answer yet.
        """
        while QUESTION in self.job.terminal.screen():
            self.job.terminal.type("\r")
            self.job.terminal.pump(0.7)

    def leave(self, *, status: int = 0) -> None:
        self.job.watch()
        self.job.terminal.settle(quiet=0.4, seconds=5)
        for _ in range(20):  # it counts two that come soon after one another
            self.job.terminal.type("\x04")
            self.job.terminal.pump(0.4)
            if self.job.over():
                break
        assert self.job.status() == status
        before, after = self.job.modes()
        assert before == after
        assert self.job.left_running() == []

    def told(self) -> list[str]:
        """Every text of the conversation as the newest request to the model has it."""
        requests = self.lab.server.model_requests()
        found: list[str] = []
        for message in requests[-1].body["messages"] if requests else ():
            content = message["content"]
            blocks = [{"text": content}] if isinstance(content, str) else content
            found += [block["text"] for block in blocks if "text" in block]
        return found

    def times_told(self, text: str) -> int:
        return sum(each.count(text) for each in self.told())


def bash(command: str) -> dict[str, object]:
    return {"tool": "Bash", "input": {"command": command, "description": "a try"}}


def heard(when: str, then: str) -> dict[str, object]:
    """What the model says to a message that reaches it by the harness's own frame."""
    return {"when": when, "then": [{"text": then}], "framed": FRAMED}


RULES = (
    {"when": "try it", "then": [bash("touch denied"), {"text": "round-over"}]},
    {"when": "make one", "then": [bash(": > allowed"), {"text": "work-done"}]},
    {"when": "a while", "then": [bash(SLOW), bash("true"), {"text": "without-more"}]},
    heard("wake up", "woken-up"),
    heard("/clear is", "took-it-in"),
    heard("beside the dialog", "heard-beside"),
)


@pytest.fixture
def claude(lab: Callable[[str], Lab]) -> Lab:
    return of_a_user(lab("claude"))


def of_a_user(made: Lab) -> Lab:
    """A user with a gateway; nothing else is reached."""
    from barry_adapter_claude.checks import QUIET

    made.env |= {
        **QUIET,
        "ANTHROPIC_BASE_URL": made.server.url("anthropic"),
        "ANTHROPIC_API_KEY": made.key,
    }
    made.script(*RULES)
    made.add()
    return made


def users_settings(lab: Lab, **settings: object) -> None:
    folder = lab.home / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings))


def edited(change: Callable[[dict[str, Any]], object], *left_out: str) -> Any:
    """A bend that changes the inline settings, and leaves flags out."""

    def bend(plan: LaunchPlan) -> LaunchPlan:
        args = []
        for word in plan.args:
            flag, _, value = word.partition("=")
            if flag == "--settings":
                settings = json.loads(value)
                change(settings)
                value = json.dumps(settings)
            if flag not in left_out:
                args.append(f"{flag}={value}" if value else word)
        return replace(plan, args=tuple(args))

    return bend


async def test_the_evidence(claude: Lab) -> None:
    proven = await claude.prove(mode="instrumented")
    assert proven.shown, proven.reason


UNGUARDED = {
    "no ruling": (
        edited(lambda settings: settings["hooks"].pop("PreToolUse")),
        "denied calls had their effect: ['shell', 'write', 'read', 'fetch', 'mcp', 'subagent']",
    ),
    "skills run commands": (
        edited(lambda settings: settings.pop("disableSkillShellExecution")),
        "nobody ruled on: ['from-skill']",
    ),
    "the folder decides": (
        edited(lambda settings: settings.pop("disableAllHooks"), "--setting-sources"),
        "denied calls had their effect",
    ),
    "messages are kept back": (
        edited(lambda settings: settings.update(crossSessionInbound="hold")),
        "a message to an idle session is written",
    ),
}


@pytest.mark.parametrize(
    "case",
    [
        "no ruling",
        pytest.param("skills run commands", marks=pytest.mark.long),
        pytest.param("the folder decides", marks=pytest.mark.long),
        pytest.param("messages are kept back", marks=pytest.mark.long),
    ],
)
async def test_the_evidence_is_not_shown_without_its_guard(claude: Lab, case: str) -> None:
    bend, reason = UNGUARDED[case]
    proven = await claude.prove(mode="instrumented", bend=bend)
    assert not proven.shown
    assert reason in proven.reason


def test_p11_p12_a_session_from_its_first_message_to_its_end(claude: Lab) -> None:
    """Just started, idle, busy, beside a dialog, just resumed, ended: each message once, as it was
    written.
    """
    (claude.work / "CLAUDE.md").write_text("what this folder is about")
    (claude.work / "word.txt").write_text("what only the file says")
    held = bound(claude, NO_TOUCH)
    session = Session(claude, *MANUAL, bound=held)
    assert session.send("wake up") == "consumed"  # the TUI has hardly begun
    session.job.terminal.wait_for("woken-up")
    assert claude.server.model_requests()[-1].contains("what this folder is about")
    session.ask("try it", "round-over")
    assert not (claude.work / "denied").exists()
    assert TOUCH_REFUSED in claude.server.tool_results()[-1].text
    # A message while it asks its user: it answers nothing, and waits.
    session.ask("make one", QUESTION)
    session.post("beside the dialog")
    session.until(lambda: session.states()[-1] == "written")
    session.until(lambda: session.row.activity == "waiting")
    session.job.terminal.pump(1)
    assert QUESTION in session.job.terminal.screen()
    assert not (claude.work / "allowed").exists()
    assert session.states() == ["consumed", "written"]
    session.approve()
    session.job.terminal.wait_for("heard-beside")
    session.until(lambda: session.states() == ["consumed", "consumed"])
    assert (claude.work / "allowed").exists()
    # While a call runs: it joins the turn.
    session.ask("a while", QUESTION)
    session.approve()
    assert session.send(HARD) == "consumed"
    session.job.terminal.wait_for("took-it-in")
    for text in ("wake up\n", "beside the dialog\n", HARD):
        assert session.times_told(text) == 1
    assert "without-more" not in session.job.terminal.screen()
    assert not (claude.work / "bang").exists()
    requests = claude.server.model_requests()
    assert not any(request.contains("what only the file says") for request in requests)

    shown = session.show()["session"]
    assert shown["guarantees"]["gating"] == "hooks"
    assert shown["guarantees"]["delivery"] == "wake-peer-framed"
    assert shown["lowered"] == {}
    session.until(lambda: session.row.activity == "idle")
    session.leave()
    events = session.beside("events", session.id).stdout
    for word in ("wake up", "woken-up", "touch denied", TOUCH_REFUSED, "took-it-in", ": > allowed"):
        assert word in events
    late = session.beside("send", session.id, "too late")
    assert late.returncode == 2
    assert "resume" in late.stderr

    again = Session(claude, *MANUAL, "--last", bound=held)
    assert again.send("wake up again") == "consumed"
    again.until(lambda: again.times_told("wake up again") == 1)
    assert again.times_told(HARD) == 1
    # Another conversation in the same session.
    conversation = again.row.harness_session_id
    again.job.terminal.submit("/clear")
    again.until(lambda: again.row.harness_session_id != conversation)
    assert again.send("wake up, all is new") == "consumed"
    again.until(lambda: again.times_told("wake up, all is new") == 1)
    assert again.times_told(HARD) == 0
    again.leave()


def test_messages_at_random_moments_arrive_in_order_and_once(claude: Lab) -> None:
    claude.script({"when": "number", "then": [bash("true"), {"text": "counted"}], "framed": True})
    users_settings(claude, permissions={"allow": ["Bash"]})
    session = Session(claude, *MANUAL)
    session.ready()
    texts = [f"number {index}." for index in range(30)]
    at_random_moments(session, texts)
    last = session.told()
    places = [[at for at, each in enumerate(last) if text in each] for text in texts]
    assert all(len(found) == 1 for found in places), places
    assert places == sorted(places)
    session.leave()


def test_neither_the_folder_nor_the_agent_lifts_the_bound(claude: Lab) -> None:
    """Settings that switch hooks off, before and in the midst; and what the agent would write."""
    off = json.dumps({"disableAllHooks": True})
    own = claude.work / ".claude"
    own.mkdir()
    (own / "settings.json").write_text(off)
    users_settings(claude, permissions={"allow": ["Bash", "Write"], "defaultMode": "manual"})
    session = Session(claude, bound=bound(claude, NO_TOUCH))
    session.ask("try it", "round-over")
    assert not (claude.work / "denied").exists()
    # Claude Code takes in what is written there while it runs.
    (own / "settings.local.json").write_text(off)
    folder = (claude.top / "barry").rglob("policy-*.marshal")
    (policy,) = folder
    (entry,) = policy.parent.glob("hook-*.pyc")
    before = [each.read_bytes() for each in (policy, entry)]
    settings = claude.home / ".claude" / "settings.json"
    mine = settings.read_text()

    def write(path: Path | str) -> dict[str, object]:
        return {"tool": "Write", "input": {"file_path": str(path), "content": off}}

    tries = [
        write(".claude/settings.json"),
        write(own / "settings.local.json"),
        bash(f"echo '{off}' > {shlex.quote(str(settings))}"),
        bash(f"echo '{off}' > {shlex.quote(str(policy))}"),
        bash(f"rm -f {shlex.quote(str(entry))}"),
        bash(f"echo '{off}' > .claude/settings.local.json"),
        bash("mkdir -p .barry && echo '' > .barry/bound.toml"),
        bash("touch denied"),
    ]
    claude.script({"when": "break out", "then": [*tries, {"text": "gave-up"}]})
    session.ask("break out", "gave-up")
    results = claude.server.tool_results()[-len(tries) :]
    assert [result.is_error for result in results] == [True] * len(tries), results
    texts = [result.text for result in results]
    assert all("Refused by the policy" in text for text in texts), "\n".join(texts)
    assert [each.read_bytes() for each in (policy, entry)] == before
    assert settings.read_text() == mine
    assert not (claude.work / "denied").exists()
    assert not (claude.work / ".barry").exists()
    session.leave()


def test_p01_p05_a_hook_that_is_gone_refuses_and_says_so(claude: Lab) -> None:
    """Of a subagent's calls too; another session beside it is not affected."""
    inner = {
        "tool": "Agent",
        "input": {"description": "a", "prompt": "inner", "subagent_type": "general-purpose"},
    }
    claude.script(
        {"when": "inner", "then": [bash("touch inner"), {"text": "inner-over"}]},
        {"when": "share it", "then": [inner, {"text": "shared"}]},
        *RULES,
    )
    users_settings(claude, permissions={"allow": ["Bash"]})
    held = bound(claude, NO_TOUCH)
    session, other = (Session(claude, *MANUAL, bound=held) for _ in range(2))
    session.ask("share it", "shared")
    session.until(lambda: _refused(claude))
    assert not (claude.work / "inner").exists()
    other.ready()
    for each in _hooks(session).iterdir():
        each.unlink()
    session.ask("make one", "work-done")
    result = claude.server.tool_results()[-1]
    assert result.is_error
    assert "can't open file" in result.text
    assert "Refused by the policy" not in result.text
    assert not (claude.work / "allowed").exists()
    other.ask("make one", "work-done")
    assert (claude.work / "allowed").exists()
    session.leave()
    other.leave()


@pytest.mark.long
def test_p02_a_barry_that_stands_still_lets_nothing_through(claude: Lab) -> None:
    users_settings(claude, permissions={"allow": ["Bash"]})
    session = Session(claude, *MANUAL, bound=bound(claude, NO_TOUCH))
    session.ready()
    barry = session.row.supervisor_pid
    assert barry is not None
    os.kill(barry, signal.SIGSTOP)
    try:
        session.job.terminal.submit("try it")
        session.job.terminal.wait_for("round-over", seconds=30)
        assert TOUCH_REFUSED in claude.server.tool_results()[-1].text
        assert not (claude.work / "denied").exists()
    finally:
        os.kill(barry, signal.SIGCONT)
    session.ask("make one", "work-done")
    assert (claude.work / "allowed").exists()
    assert session.send("wake up") == "consumed"
    session.leave()


def _refused(lab: Lab) -> bool:
    return any(TOUCH_REFUSED in result.text for result in lab.server.tool_results())


def _hooks(session: Session) -> Path:
    """The folder of the hooks that this very session's Claude Code was given."""
    for each in session.job.watch():
        with suppress(OSError):  # many of them have ended
            words = Path(f"/proc/{each.pid}/cmdline").read_bytes().decode().split("\0")
            for word in words:
                if word.startswith("--settings="):
                    hooks = json.loads(Path(word.partition("=")[2]).read_text())["hooks"]
                    (command,) = (call["command"] for call in hooks["PreToolUse"][0]["hooks"])
                    return Path(shlex.split(command)[3]).parent
    raise AssertionError("no settings were found in any command line")


@pytest.mark.long
@pytest.mark.parametrize("denied", [True, False], ids=["denied", "allowed"])
def test_whatever_runs_commands_is_asked_about(claude: Lab, denied: bool) -> None:
    """Monitors, the agents of workflows, what a schedule begins."""
    workflow = """export const meta = { name: "t", description: "d" }
    return await agent("inner work", { label: "x" })"""
    monitor = {"description": "m", "timeout_ms": 5000, "command": "touch by-monitor"}
    cron = {"cron": "* * * * *", "prompt": "it is time", "recurring": False}
    claude.script(
        {"when": "inner work", "then": [bash("touch by-workflow"), {"text": "inner-over"}]},
        {"when": "it is time", "then": [bash("touch by-cron"), {"text": "fired"}], "framed": True},
        {
            "when": "try them",
            "then": [
                {"tool": "Monitor", "input": monitor},
                {"tool": "Workflow", "input": {"script": workflow}},
                {"tool": "CronCreate", "input": cron},
                {"text": "tried-them"},
            ],
        },
    )
    tools = ["Bash", "Monitor", "Workflow", "CronCreate"]
    users_settings(claude, permissions={"allow": tools})
    session = Session(claude, *MANUAL, bound=bound(claude, NO_TOUCH) if denied else None)
    session.ask("try them", "tried-them")
    session.job.terminal.wait_for("fired", seconds=100)
    made = sorted(path.name for path in claude.work.glob("by-*"))
    assert made == ([] if denied else ["by-cron", "by-monitor", "by-workflow"])
    refused = [TOUCH_REFUSED in result.text for result in claude.server.tool_results()]
    assert refused.count(True) == (3 if denied else 0)
    session.leave()


@pytest.mark.long
def test_where_it_asks_about_nothing_calls_are_ruled_on_and_messages_come_by_hooks(
    claude: Lab,
) -> None:
    claude.env["IS_SANDBOX"] = "1"  # its own condition for root
    users_settings(claude, skipDangerousModePermissionPrompt=True)
    claude.script(
        {"when": "a while", "then": [bash(SLOW), bash("touch denied"), {"text": "without-more"}]},
        {"when": "go on", "then": [{"text": "went-on"}]},
        heard("at the end", "heard-it"),
    )
    session = Session(
        claude, "--option", 'permissionMode="bypassPermissions"', bound=bound(claude, NO_TOUCH)
    )
    session.ready()
    shown = session.show()["session"]
    assert shown["guarantees"]["delivery"] == "tool-call"
    assert "messages back" in shown["lowered"]["delivery"]
    # While a call runs: after it.
    session.job.terminal.submit("a while")
    session.until(lambda: session.row.activity == "active")
    assert session.send(HARD) == "consumed"
    session.job.terminal.wait_for("without-more")
    assert session.times_told(HARD) == 1
    assert not (claude.work / "denied").exists()
    assert not (claude.work / "bang").exists()
    # While it is idle: held, until the next turn is to end.
    session.post("at the end")
    session.job.terminal.pump(1.5)
    assert session.states() == ["consumed", "held"]
    session.ask("go on", "heard-it")
    session.until(lambda: session.states() == ["consumed", "consumed"])
    session.leave()


@pytest.mark.long
def test_without_its_socket_it_promises_less_and_messages_come_at_a_turns_end(
    claude: Lab,
) -> None:
    # It makes none where it can't tell whose its folders are.
    programs = claude.top / "programs"
    programs.mkdir()
    (programs / "claude").write_text(f'#!/bin/sh\nexec unshare -U {claude.program} "$@"\n')
    (programs / "claude").chmod(0o755)
    claude.env["PATH"] = f"{programs}:{claude.env['PATH']}"
    claude.script({"when": "go on", "then": [{"text": "went-on"}]}, heard("at the end", "heard-it"))
    session = Session(claude, *MANUAL)
    session.ready()
    session.post("at the end")
    session.until(lambda: session.row.guarantees["delivery"] == "turn-end", seconds=20)
    assert session.states() == ["held"]
    session.ask("go on", "heard-it")
    session.until(lambda: session.states() == ["consumed"])
    assert session.times_told("at the end") == 1
    assert session.send("z" * 10_000) == "failed"  # it would pass on the beginning alone
    session.leave()


@pytest.mark.long
def test_it_writes_what_it_writes_alone(lab: Callable[[str], Lab]) -> None:
    ours, alone = (of_a_user(lab("claude")) for _ in range(2))
    session = Session(ours, *MANUAL, bound=bound(ours, NO_TOUCH))
    session.ask("try it", "round-over")
    session.leave()
    bare = alone.bare("--permission-mode=manual", "--disallowedTools=Bash")
    bare.terminal.wait_for(PROMPT)
    bare.terminal.submit("try it")
    bare.terminal.wait_for("round-over")
    for _ in range(2):
        bare.terminal.type("\x04")
        bare.terminal.pump(0.4)
    assert bare.status() == 0
    written = [
        {re.sub("(?<=projects/)[^/]+", "WORK", name) for name in tree(each.home)}
        for each in (ours, alone)
    ]
    assert written[0] == written[1]
    assert [path.name for path in ours.work.iterdir()] == []


def test_killed_in_the_midst_of_it_nothing_runs_on_and_nothing_is_sent_twice(claude: Lab) -> None:
    users_settings(claude, permissions={"allow": ["Bash"]})
    session = Session(claude, *MANUAL)
    session.ready()
    session.job.terminal.submit("a while")
    session.until(lambda: session.row.activity == "active")
    session.post("wake up once")
    session.until(lambda: session.states() == ["written"])
    session.kill_barry()
    session.until(lambda: not session.job.left_running(), seconds=20)
    assert _shown(session) == ["uncertain"]
    again = Session(claude, *MANUAL, "--last")
    assert again.send("wake up again") == "consumed"
    again.until(lambda: again.times_told("wake up again") == 1)
    assert again.times_told("wake up once") <= 1
    assert _shown(session) == ["uncertain"]
    again.leave()


def _shown(session: Session) -> list[str]:
    """What ``session show`` says of its messages."""
    return [each["state"] for each in session.show()["messages"]]
