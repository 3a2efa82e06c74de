"""The hook program, as a harness calls it: it rules, or it refuses and says why."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from barry_cli.cli.render.verdicts import facts
from barry_cli.hook.install import interpreter
from barry_cli.hook.policy_file import HookPolicy, fingerprint, pack
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule
from tests.unit.hook.conftest import FORMAT, Hook, Hooked, policy

ROOT = Path(__file__).resolve().parents[3]
UNRULED = "Barry could not rule on this call, so it is refused: "


def reason(out: str) -> str:
    answer = json.loads(out)["verdict"]
    assert answer["again"] == [f"{answer['no']}!"]
    said = answer["no"]
    assert isinstance(said, str)
    return said


def refused(done: object) -> str:
    """Why a call was refused that could not be ruled on: one line, and no answer."""
    assert (done.returncode, done.stdout) == (2, ""), done  # type: ignore[attr-defined]
    said = done.stderr  # type: ignore[attr-defined]
    assert isinstance(said, str)
    assert said.startswith(UNRULED)
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said.removeprefix(UNRULED)


def test_a_denial_is_written_in_the_harness_own_form(hooked: Hooked) -> None:
    hook = hooked()
    done = hook.call(hook.event("env X=1 touch 'a \"b\" \\ é'"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "touch" in reason(done.stdout)


def test_what_is_allowed_is_answered_with_nothing(hooked: Hooked) -> None:
    hook = hooked()
    done = hook.call(hook.event("echo touch"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_format_may_allow_in_words(hooked: Hooked) -> None:
    answers = {**FORMAT["answers"], "allow": {"stdout": "go on\n", "stderr": "well"}}
    hook = hooked(answers=answers)
    done = hook.call(hook.event("ls"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "go on\n", "well")


def test_a_format_may_deny_by_its_exit_code(hooked: Hooked) -> None:
    hook = hooked(answers={"deny": {"exit": 2, "stderr": "no: {reason}"}})
    done = hook.call(hook.event("touch x"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("no: ")
    assert "touch" in done.stderr
    assert UNRULED not in done.stderr


def test_a_tool_is_ruled_under_the_name_that_its_table_has(hooked: Hooked) -> None:
    event = {"kind": "AboutToAct", "tool": "Shell"}
    unnamed = hooked(folder="unnamed")
    assert unnamed.call(unnamed.event("touch x", what=event)).stdout == ""
    named = hooked(names={"Shell": "zap"})
    assert "touch" in reason(named.call(named.event("touch x", what=event)).stdout)
    assert named.call(named.event("ls", what=event)).stdout == ""


def test_another_tool_is_ruled_by_its_row(hooked: Hooked) -> None:
    hook = hooked()
    done = hook.call(hook.event(what={"kind": "AboutToAct", "tool": "scribble"}))
    assert "can't be seen" in reason(done.stdout)


GARBAGE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "isn't JSON"),
    "blanks": (b" \n", "isn't JSON"),
    "words": (b"garbage", "isn't JSON"),
    "half": (b'{"what": {"kind": "About', "isn't JSON"),
    "a comma": (b'{"a": 1,}', "isn't JSON"),
    "two": (b"{} {}", "more than one JSON document"),
    "a tail": (b'{"a": 1} x', "more than one JSON document"),
    "NaN": (b'{"a": NaN}', "isn't JSON"),
    "a long number": (b'{"a": ' + b"9" * 5000 + b"}", "isn't JSON"),
    "a control character": (b'{"a": "\n"}', "isn't JSON"),
    "no object": (b'["AboutToAct"]', "isn't a JSON object"),
    "a text": (b'"AboutToAct"', "isn't a JSON object"),
    "no UTF-8": (b'{"a": "\xff"}', "isn't UTF-8"),
    "a mark in front": (b"\xef\xbb\xbf{}", "isn't JSON"),
    "too deep": (b'{"a":' * 100_000, "isn't JSON"),
    "too much": (b" " * ((16 << 20) + 1), "more than 16 MiB"),
}


@pytest.mark.parametrize("case", GARBAGE)
def test_garbage_is_refused(hooked: Hooked, case: str) -> None:
    data, why = GARBAGE[case]
    said = refused(hooked().call(data))
    assert "what the harness said about the call can't be read" in said
    assert why in said


MISSING = {
    "another event": ({"what": {"kind": "Ended", "tool": "zap"}}, "doesn't describe"),
    "no event": ({"what": "zap"}, "doesn't describe"),
    "no tool": ({"what": {"kind": "AboutToAct"}}, "which tool"),
    "a tool that is no text": ({"what": {"kind": "AboutToAct", "tool": 1}}, "which tool"),
    "no input": ({"with": None}, "what zap is called with"),
    "no folder": ({"at": None}, "in which folder"),
    "a folder that is none": ({"at": "here"}, "in which folder"),
}


@pytest.mark.parametrize("case", MISSING)
def test_an_event_without_its_parts_is_refused(hooked: Hooked, case: str) -> None:
    more, why = MISSING[case]
    hook = hooked()
    assert why in refused(hook.call(hook.event(**more)))


def test_a_long_event_is_ruled_on(hooked: Hooked) -> None:
    hook = hooked()
    done = hook.call(hook.event("touch x", more="y" * (15 << 20)))
    assert "touch" in reason(done.stdout)


def gone(hook: Hook) -> None:
    hook.installed.policy.unlink()


def changed(hook: Hook) -> None:
    hook.installed.policy.chmod(0o600)
    data = bytearray(hook.installed.policy.read_bytes())
    data[-1] ^= 1
    hook.installed.policy.write_bytes(data)


def a_folder(hook: Hook) -> None:
    hook.installed.policy.unlink()
    hook.installed.policy.mkdir()


def another(hook: Hook) -> None:
    """One that is well made, and of another session."""
    hook.installed.policy.chmod(0o600)
    hook.installed.policy.write_bytes(pack(HookPolicy(Policy(), (), None)))


SPOILT = {
    gone: "No such file",
    changed: "isn't the file",
    a_folder: "directory",
    another: "isn't the file",
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_without_its_own_policy_nothing_is_allowed(hooked: Hooked, spoil: object) -> None:
    hook = hooked()
    assert hook.call(hook.event("ls")).returncode == 0
    spoil(hook)  # type: ignore[operator]
    said = refused(hook.call(hook.event("ls")))
    assert str(hook.installed.policy) in said
    assert SPOILT[spoil] in said


def test_a_policy_that_is_none_is_refused_whatever_its_fingerprint(
    hooked: Hooked, tmp_path: Path
) -> None:
    hook = hooked()
    for data in (b"", b"N", b"(", b"\xff" * 40):
        other = tmp_path / "other"
        other.write_bytes(data)
        words = [interpreter(), "-I", "-S", str(hook.installed.entry), str(other)]
        said = refused(hook.call(hook.event("ls"), shlex.join([*words, fingerprint(data)])))
        assert "isn't a hook's policy" in said


def test_without_its_words_it_refuses(hooked: Hooked) -> None:
    hook = hooked()
    command = hook.installed.command.replace(hook.installed.fingerprint, "")
    assert "without its policy" in refused(hook.call(hook.event("ls"), command))


def test_by_hand_it_rules_alike(hooked: Hooked) -> None:
    hook = hooked()
    held = hook.installed
    barry = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.quote(sys.executable)} -m barry_cli hook"
    words = f"{barry} {shlex.quote(str(held.policy))} {held.fingerprint}"
    assert "touch" in reason(hook.call(hook.event("touch x"), words).stdout)
    assert hook.call(hook.event("ls"), words).returncode == 0
    assert "without its policy" in refused(hook.call(hook.event("ls"), barry))
    spoilt = f"{shlex.quote(sys.executable)} -c {shlex.quote(SPOILT_INSTALLATION)} hook"
    done = hook.call(hook.event("ls"), f"PYTHONPATH={shlex.quote(str(ROOT))} {spoilt}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not whole" in done.stderr


# What can't be imported can't rule.
SPOILT_INSTALLATION = (
    "import sys; sys.modules['barry_cli.policy.ruling.rule'] = None; "
    "from barry_cli.__main__ import main; main()"
)


def test_without_its_program_the_shell_refuses(hooked: Hooked) -> None:
    hook = hooked()
    hook.installed.entry.unlink()
    done = hook.call(hook.event("ls"))
    assert (done.returncode, done.stdout) == (2, "")
    assert str(hook.installed.entry) in done.stderr
    # The counter-case: it is the shell's part that refuses here, and Python's where it can.
    hook.installed.entry.write_bytes(b"no program")
    alone = hook.installed.command.partition(" || ")[0]
    assert hook.call(hook.event("ls"), alone).returncode == 1
    assert hook.call(hook.event("ls")).returncode == 2


def test_what_cannot_be_answered_is_refused(hooked: Hooked) -> None:
    hook = hooked()
    done = hook.call(hook.event("touch x"), f"{{ {hook.installed.command}; }} >/dev/full")
    assert "OSError" in refused(done)
    closed = hook.call(hook.event("touch x"), f"{{ {hook.installed.command}; }} >&-")
    assert closed.returncode == 2


def test_nothing_of_the_agent_is_run(hooked: Hooked) -> None:
    """A module in the agent's folder, or in its environment, does not become ours."""
    hook = hooked()
    for name in ("barry_cli", "_json", "marshal", "site", "usercustomize", "sitecustomize"):
        (hook.cwd / f"{name}.py").write_text("import os; os._exit(0)\n", encoding="utf-8")
    around = f"PYTHONPATH={shlex.quote(str(hook.cwd))} "
    done = hook.call(hook.event("touch x"), around + hook.installed.command)
    assert "touch" in reason(done.stdout)
    # The counter-case: without its flags it would be.
    bare = hook.installed.command.replace(" -I -S ", " ")
    done = hook.call(hook.event("touch x"), around + bare)
    assert (done.returncode, done.stdout) == (0, "")


def test_its_files_are_not_for_writing(hooked: Hooked) -> None:
    hook = hooked()
    for path in (hook.installed.entry, hook.installed.policy):
        assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert sorted(os.listdir(hook.installed.policy.parent)) == sorted(
        (hook.installed.entry.name, hook.installed.policy.name)
    )


def test_what_was_ruled_is_told(hooked: Hooked, tmp_path: Path) -> None:
    path = f"/tmp/{os.path.basename(tmp_path.parent)}-{os.getpid()}.sock"
    hook = hooked(listener=(path, "the key", "session-1"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        told: list[str] = []

        def listen() -> None:
            for _ in range(2):
                link, _ = server.accept()
                with link, link.makefile() as words:
                    told.append(words.read())

        listening = threading.Thread(target=listen)
        listening.start()
        assert "touch" in reason(hook.call(hook.event('touch "x"')).stdout)
        assert hook.call(hook.event("ls")).stdout == ""
        said = rule(policy(), "zap", {"line": 'touch "x"'}, str(hook.cwd))
        listening.join(10)
    os.unlink(path)
    first, second = (json.loads(each) for each in told)
    assert {name: first.pop(name) for name in ("type", "key", "session", "tool", "call")} == {
        "type": "ruled",
        "key": "the key",
        "session": "session-1",
        "tool": "zap",
        "call": "call-1",
    }
    assert first == {name: value for name, value in facts(said).items() if name != "text"}
    assert (first["outcome"], first["rule"], first["start"]) == ("denied", "touch", 0)
    assert (second["outcome"], second["rule"]) == ("allowed", None)


def test_nobody_to_tell_is_no_loss(hooked: Hooked) -> None:
    hook = hooked(listener=("/nowhere/at/all.sock", "token", "session"))
    assert "touch" in reason(hook.call(hook.event("touch x")).stdout)
    assert hook.call(hook.event("ls")).returncode == 0


def test_somebody_who_never_listens_is_not_waited_for(hooked: Hooked, tmp_path: Path) -> None:
    path = f"/tmp/{os.path.basename(tmp_path.parent)}-{os.getpid()}-busy.sock"
    hook = hooked(listener=(path, "token", "session"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            try:
                each.connect(path)
            except BlockingIOError:
                break
        began = time.monotonic()
        assert "touch" in reason(hook.call(hook.event("touch x")).stdout)
        assert time.monotonic() - began < 5
        for each in waiting:
            each.close()
    os.unlink(path)


LESS_TIME = "import sys, barry_cli.hook.run as hook; hook.SECONDS = 1; hook.main(sys.argv[1:])"


def test_a_harness_that_says_nothing_is_refused_in_time(hooked: Hooked) -> None:
    """It is the hook's own clock that ends it: a harness's would let the call run."""
    held = hooked().installed
    with subprocess.Popen(
        [sys.executable, "-c", LESS_TIME, held.policy, held.fingerprint],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.wait(20) == 2
        assert running.stdin is not None  # open to the end
        assert running.stderr is not None
        said = running.stderr.read()
    assert said == f"{UNRULED}the ruling took longer than 1 seconds\n"


# A file system that answers no more: a call that no signal's handler can cut short.
STUCK = """
import posix, sys, barry_cli.hook.run as hook
def rule(*given):
    end, _ = posix.pipe()
    while True:
        try:
            posix.read(end, 1)
        except BaseException:
            pass
hook.rule, hook.SECONDS = rule, 1
hook.main(sys.argv[1:])
"""


def test_a_file_system_that_answers_no_more_refuses_in_time(hooked: Hooked) -> None:
    hook = hooked()
    held = hook.installed
    words = [sys.executable, "-c", STUCK, str(held.policy), held.fingerprint]
    done = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.join(words)} || exit 2"],
        cwd=ROOT, input=hook.event(), capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")


def test_a_clock_that_the_harness_blocked_runs_all_the_same(hooked: Hooked) -> None:
    held = hooked().installed
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # a child inherits it
    try:
        with subprocess.Popen(
            [sys.executable, "-c", LESS_TIME, held.policy, held.fingerprint],
            cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as running:  # fmt: skip
            assert running.wait(20) == 2
            assert running.stderr is not None
            assert "longer than 1 seconds" in running.stderr.read()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
