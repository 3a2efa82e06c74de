"""A harness that is started: handed over to, or stayed with; and what is recorded of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toy import Barry, alive, eventually, identity_of, says, written

# --- handed over ---


def test_it_is_handed_over(barry: Barry) -> None:
    child = barry.launch("--", "one", "--two")
    started = barry.started()
    assert started["pid"] == child.pid == int(child.match[1])
    assert started["argv"] == [str(barry.bin / "toy"), "one", "--two"]
    assert started["cwd"] == str(barry.work)
    row = barry.row()
    assert (row.state, row.pid, row.supervisor_pid) == ("handed_over", child.pid, None)
    assert row.pid_started == identity_of(child.pid).start_time
    listed = barry.listed()
    assert (listed["state"], listed["handedOver"]) == ("running", True)
    child.sendline("quit 42")
    assert barry.ended(child) == 42
    assert barry.listed()["state"] == "ended, status unknown"
    assert barry.listed()["exitStatus"] is None


def test_a_signal_ends_it_as_it_would_have_alone(barry: Barry) -> None:
    child = barry.launch()
    child.kill(signal.SIGTERM)
    assert barry.ended(child) == -signal.SIGTERM


def test_nothing_of_barrys_reaches_it(barry: Barry) -> None:
    """No open file, no ignored signal, no variable of Barry's own."""
    child = barry.launch()
    status = Path(f"/proc/{child.pid}/status").read_text()
    (ignored,) = [line for line in status.splitlines() if line.startswith("SigIgn:")]
    # What Python ignores itself is 0x1001000 (PIPE, XFSZ): the toy is Python, too. Signals 32 and
    # 33 are the C library's own: whoever starts the tests may have left them ignored.
    assert int(ignored.split()[1], 16) & 0x7FFFFFFF == 0x1001000
    files = os.listdir(f"/proc/{child.pid}/fd")
    opened = {os.readlink(f"/proc/{child.pid}/fd/{each}") for each in files}
    assert not {each for each in opened if each.startswith(os.environ["BARRY_HOME"])}
    assert not [name for name in barry.started()["env"] if name.startswith("BARRY")]
    child.sendline("quit")
    assert barry.ended(child) == 0


def test_the_user_is_told_before_the_screen_is_the_harnesses(barry: Barry) -> None:
    barry.install(warnings=("the moon is \x1b[31mred", "and full"), lowers=True)
    child = barry.launch(env={"SECRET_SAUCE": "x"})
    child.sendline("quit")
    barry.ended(child)
    said = written(child).split("<ready")[0]
    assert "warning: the moon is \N{REPLACEMENT CHARACTER}[31mred\n" in said
    assert "warning: and full\n" in said
    assert "warning: gating is only none in this launch: the toy is worn out\n" in said
    assert "not passed on: 2\n" in said
    row = barry.row()
    assert row.lowered == {"gating": "the toy is worn out"}
    assert len(row.warnings) == 3


# --- stayed with ---


def test_it_is_stayed_with(barry: Barry) -> None:
    child = barry.launch("--supervise")
    started = barry.started()
    assert started["parent"] == child.pid
    row = barry.row()
    assert (row.state, row.pid, row.supervisor_pid) == ("running", started["pid"], child.pid)
    assert barry.listed()["state"] == "running"
    child.sendline("quit 42")
    assert barry.ended(child) == 42
    row = barry.row()
    assert (row.state, row.exit_status, row.exit_signal) == ("ended", 42, None)
    assert row.ended_at is not None
    assert row.ended_at >= row.created_at
    assert barry.listed()["state"] == "ended"


def test_the_signal_that_ends_it_is_recorded(barry: Barry) -> None:
    child = barry.launch("--supervise")
    child.sendline("die 9")
    assert barry.ended(child) == 137
    row = barry.row()
    assert (row.exit_status, row.exit_signal) == (None, 9)
    assert "ended by signal 9" in barry.run("session", "list").out


def test_a_signal_is_passed_on(barry: Barry) -> None:
    child = barry.launch("--supervise", "--", "gentle")
    child.kill(signal.SIGTERM)
    assert barry.ended(child) == 143
    row = barry.row()
    assert (row.exit_status, row.exit_signal) == (0, 15)


def test_the_interrupt_key_is_the_harnesses(barry: Barry) -> None:
    child = barry.launch("--supervise", "--", "deaf")
    child.sendintr()
    child.sendline("hello")
    child.expect_exact("<hello done>")
    child.sendline("quit 5")
    assert barry.ended(child) == 5


def test_barry_killed_leaves_no_harness(barry: Barry) -> None:
    child = barry.launch("--supervise")
    toy = barry.started()["pid"]
    child.kill(signal.SIGKILL)
    assert eventually(lambda: not alive(toy))
    assert barry.listed()["state"] == "ended, status unknown"


# --- folders of a plan ---


def leave_quietly(child: object, barry: Barry) -> int:
    child.sendline("quit 3")
    return barry.ended(child)


def die(child: object, barry: Barry) -> int:
    child.sendline("die 11")
    return barry.ended(child)


def ask_to_end(child: object, barry: Barry) -> int:
    child.kill(signal.SIGTERM)
    return barry.ended(child)


def hang_up(child: object, barry: Barry) -> int:
    child.kill(signal.SIGHUP)
    return barry.ended(child)


def stop_by_verb(child: object, barry: Barry) -> int:
    assert barry.run("session", "stop", barry.row().id).code == 0
    return barry.ended(child)


@pytest.mark.parametrize(
    ("end", "code"),
    [(leave_quietly, 3), (die, 139), (ask_to_end, 143), (hang_up, 129), (stop_by_verb, 143)],
)
def test_the_folders_of_a_plan_are_removed(
    barry: Barry, end: Callable[[object, Barry], int], code: int
) -> None:
    barry.install(tmp_dirs=True)
    child = barry.launch()
    settings = barry.started()["argv"][1].partition("=")[2]
    assert os.stat(settings).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(settings)).st_mode & 0o777 == 0o700
    assert end(child, barry) == code
    assert not os.path.exists(settings)
    assert barry.litter() == []


def test_what_a_killed_barry_left_is_swept_by_the_next(barry: Barry) -> None:
    barry.install(tmp_dirs=True)
    child = barry.launch()
    child.kill(signal.SIGKILL)
    barry.ended(child)
    assert len(barry.litter()) == 1
    again = barry.launch()
    assert len(barry.litter()) == 1
    assert barry.litter()[0].name.startswith(f"{again.pid}-")
    again.sendline("quit")
    assert barry.ended(again) == 0
    assert barry.litter() == []


@pytest.mark.parametrize(
    "spec",
    [
        {"planning": "raise RuntimeError('boom')"},
        {"planning": "raise SystemExit(3)"},
        {"planned": "plan['x']"},
        {"planned": "raise KeyboardInterrupt"},
    ],
    ids=["raises", "leaves", "raises-later", "interrupted"],
)
def test_a_plan_that_fails_leaves_nothing(barry: Barry, spec: dict[str, str]) -> None:
    barry.install(tmp_dirs=True, **spec)
    code = 130 if "Keyboard" in str(spec) else 2
    with barry.leaves_nothing():
        done = barry.refused("session", "launch", "toy")
    assert done.code == code, done
    if code == 2:
        says(done, 2, "the adapter toy failed while planning", "fault of the adapter")


def test_a_plan_that_waits(barry: Barry) -> None:
    """Planned in a loop then; the first attempt's folders are gone."""
    barry.install(waits=True, tmp_dirs=True)
    child = barry.launch()
    assert len(barry.litter()) == 1
    child.sendline("quit 4")
    assert barry.ended(child) == 4
    assert barry.litter() == []


# --- the conversation ---


def test_the_conversation_is_found_while_it_runs(barry: Barry) -> None:
    barry.install(discover=True)
    child = barry.launch()
    assert barry.row().harness_session_id is None
    child.sendline("name talk-1")
    child.expect_exact("<name done>")
    assert eventually(lambda: barry.row().harness_session_id == "talk-1")
    child.sendline("name talk-2")
    child.expect_exact("<name done>")
    child.sendline("quit")
    assert barry.ended(child) == 0
    assert barry.row().harness_session_id == "talk-2"  # once more when it had ended


def test_a_reserved_conversation_is_known_at_once(barry: Barry) -> None:
    barry.install(reserves=True)
    child = barry.launch()
    assert barry.row().harness_session_id == barry.row().id
    child.sendline("quit")
    assert barry.ended(child) == 0


@pytest.mark.parametrize(
    "code", ["raise RuntimeError", "raise SystemExit(3)", "import time; time.sleep(0.3)", "1/0"]
)
def test_an_adapter_that_fails_to_look_disturbs_nobody(barry: Barry, code: str) -> None:
    barry.install(discover=True, discovering=code)
    child = barry.launch()
    time.sleep(1.5)
    child.sendline("quit 6")
    assert barry.ended(child) == 6
    assert written(child).endswith("quit 6\n") or "Traceback" not in written(child)
    assert barry.row().exit_status == 6


def test_a_database_that_goes_while_it_runs(barry: Barry) -> None:
    """The session goes on, its status is Barry's, and the user is told."""
    barry.install(discover=True)
    child = barry.launch()
    barry.folders.database.write_bytes(b"not a database at all")
    child.sendline("name talk")
    child.expect_exact("<name done>")
    time.sleep(1.2)
    child.sendline("quit 7")
    assert barry.ended(child) == 7
    assert "warning: how the session ended is not recorded" in written(child)


# --- several, and their variety ---


def test_two_at_once(barry: Barry) -> None:
    barry.install(tmp_dirs=True)
    first, second = barry.launch(), barry.launch()
    rows = {row.id: row for row in barry.sessions.all()}
    assert len(rows) == 2
    assert len(barry.litter()) == 2
    first.sendline("quit 1")
    assert barry.ended(first) == 1
    assert len(barry.litter()) == 1
    second.sendline("quit 2")
    assert barry.ended(second) == 2
    assert sorted(row.exit_status for row in barry.sessions.all()) == [1, 2]


def test_a_mode_that_is_asked_for(barry: Barry) -> None:
    barry.install(modes=("guest", "instrumented"))
    child = barry.launch("--mode", "instrumented")
    assert barry.row().mode == "instrumented"
    child.sendline("quit")
    barry.ended(child)


def test_a_denial_chooses_the_mode_that_can_hold_it(barry: Barry) -> None:
    barry.install(modes=("guest", "instrumented"))
    plan = barry.run("session", "launch", "toy", "--deny-tool", "shell", "--dry-run", "--json")
    assert plan.json["plan"]["mode"] == "instrumented"
    assert any("can hold a restriction" in note for note in plan.json["plan"]["notes"])
    assert "--deny=Shell" in plan.json["plan"]["argv"]
    bare = barry.run("session", "launch", "toy", "--dry-run", "--json")
    assert bare.json["plan"]["mode"] == "guest"


def test_a_group_that_falls_whole_and_a_tool_that_stays(barry: Barry) -> None:
    words = ("--deny-tool", "edit", "--deny-tool", "Think", "--dry-run", "--json")
    plan = barry.run("session", "launch", "toy", *words).json["plan"]
    assert "--deny=Write,Edit" in plan["argv"]
    assert [each for each in plan["warnings"] if "keeps its tool Think: it is built in" in each]


def test_a_harness_that_can_deny_nothing(barry: Barry) -> None:
    barry.install(tool_denial="none")
    plan = barry.run("session", "launch", "toy", "--deny-tool", "Shell", "--dry-run", "--json")
    assert plan.json["plan"]["warnings"] == [
        "Toy can't be given denied tools in this mode: that is left out"
    ]
    asked = ("--deny-tool", "Shell", "--require", "gating=static", "--dry-run")
    says(barry.run("session", "launch", "toy", *asked), 2, "gating none")


def test_experimental_is_unverified(barry: Barry) -> None:
    barry.install(experimental="nobody has looked yet")
    plan = barry.run("session", "launch", "toy", "--dry-run", "--json").json["plan"]
    assert plan["guaranteesUnverified"] is True


def test_a_build_that_the_adapter_carries(barry: Barry) -> None:
    """No version is asked for; the program is Barry's own Python."""
    (barry.bin / "toy").unlink()
    barry.install(
        build="bundled",
        planning='draft.args += ["-c", "import sys; sys.exit(9)"]',
        modes=("guest",),
    )
    child = barry.open("session", "launch", "toy")
    assert barry.ended(child) == 9
    assert barry.row().harness_version == "1.2.3"


@pytest.mark.parametrize("command", ["sh", "/bin/sh"])
def test_a_plan_that_starts_another_program(barry: Barry, command: str) -> None:
    barry.install(command=command, planning='draft.args += ["-c", "exit 8"]')
    (barry.work / "sh").write_text("#!/bin/sh\nexit 66\n")
    (barry.work / "sh").chmod(0o755)
    path = {"PATH": f":.:{barry.env['PATH']}"}
    assert barry.ended(barry.open("session", "launch", "toy", env=path)) == 8


def test_a_plan_that_starts_a_program_that_is_nowhere(barry: Barry) -> None:
    barry.install(command="no-such-program")
    with barry.leaves_nothing():
        says(barry.refused("session", "launch", "toy"), 127, "no-such-program", "not on PATH")


def test_what_comes_after_two_dashes_is_the_harnesses(barry: Barry) -> None:
    words = ("--", "--help", "--json", "--", "--resume", "-x", "")
    child = barry.launch(*words)
    assert barry.started()["argv"][1:] == list(words[1:])
    child.sendline("quit")
    assert barry.ended(child) == 0


def test_no_other_verb_takes_words_after_two_dashes(barry: Barry) -> None:
    for words in (("session", "list"), ("adapter", "list"), ("doctor",), ("session", "show", "x")):
        says(barry.run(*words, "--", "extra"), 2, "takes nothing after --", "extra")


def test_from_a_shell_script(barry: Barry) -> None:
    """Under `sh -c`, as most people's scripts start it, with its output kept apart."""
    line = f"{sys.executable} -m barry_cli session launch toy 2>{barry.top}/said; echo code $?"
    child = barry.open("-c", line, program=("/bin/sh",))
    child.expect("<ready")
    child.sendline("quit 12")
    child.expect_exact("code 12")
    barry.ended(child)
    assert "Traceback" not in (barry.top / "said").read_text()


def test_in_the_background_it_is_not_started_without_a_terminal(barry: Barry) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "barry_cli", "session", "launch", "toy", "--json"],
        env=barry.env,
        cwd=barry.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == "no-terminal"
