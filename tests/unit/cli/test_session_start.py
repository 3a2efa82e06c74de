"""A turn without a terminal UI: what goes in, what comes out, how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from barry_cli.base.secrets import MASK
from barry_cli.contract.events import SessionEvent
from barry_cli.turns.store.record import Record
from tests.toy import Barry, Done, eventually, says, written

EVENT: TypeAdapter[SessionEvent] = TypeAdapter(SessionEvent)
RESET = 1_900_000_000
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def start(barry: Barry, *words: str, id: str = "demo", **more: Any) -> Done:
    return barry.run("session", "start", id, *words, **more)


def stream(done: Done) -> list[dict[str, Any]]:
    """The events on stdout, each as the vocabulary has it."""
    rows = [json.loads(line) for line in done.out.splitlines()]
    for row in rows:
        EVENT.validate_python(row, by_alias=True, by_name=False)
    return rows


def scripted(barry: Barry, *rules: tuple[str, list[dict[str, Any]]]) -> dict[str, str]:
    """What the demo harness does, as a variable for it."""
    path = barry.top / "script.json"
    path.write_text(json.dumps([{"when": when, "then": then} for when, then in rules]))
    return {"BARRY_DEMO_SCRIPT": str(path)}


def turns(barry: Barry, session_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = barry.run("session", "show", session_id, "--json").json["turns"]
    return found


# --- what goes in ---


def test_the_answer_alone_is_on_stdout(demo: Barry) -> None:
    done = start(demo, "hello there")
    assert (done.code, done.out) == (0, "demo heard: hello there\n")
    row = demo.row()
    assert (row.mode, row.state, row.exit_status) == ("hosted", "ended", 0)
    assert f"session {row.id}\n" in done.err
    assert f'barry session resume {row.id} "..." goes on\n' in done.err


@pytest.mark.parametrize("words", [(), ("-",), ("--file", "prompt.txt")], ids=str)
def test_the_prompt_comes_from(demo: Barry, words: tuple[str, ...]) -> None:
    (demo.work / "prompt.txt").write_text("in a żółty file")
    with (demo.work / "prompt.txt").open() as file:
        done = start(demo, *words, stdin=file)
    assert (done.code, done.out) == (0, "demo heard: in a żółty file\n")


def test_a_prompt_like_a_flag(demo: Barry) -> None:
    (demo.work / "prompt.txt").write_text("--version")
    assert start(demo, "--file", "prompt.txt").out == "demo heard: --version\n"


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        ((), b"", "the prompt is empty"),
        ((" \n",), b"", "the prompt is empty"),
        (("-",), b"a\xffb", "not UTF-8"),
        (("--file", "nothing.txt"), b"", "nothing.txt can't be read"),
        (("one", "--file", "nothing.txt"), b"", "given twice"),
        (("one", "--resume", "a", "--fork", "b"), b"", "each name a session"),
        (("one", "--timeout", "0"), b"", "is no time"),
        (("one", "--timeout", "1e7"), b"", "below 10000000"),
        (("one", "--schema", "nothing.json"), b"", "nothing.json can't be read"),
        (("one", "--fallback", "toy,"), b"", "empty id"),
        (("one", "--fallback", "demo"), b"", "stands twice"),
        (("one", "--fallback", "toy", "--resume", "x"), b"", "can't go on"),
        (("one", "--", "--more"), b"", "--more"),
        (("one", "--bound", "none-such"), b"", "none-such"),
        (("one", "--model", "other/big"), b"", "other/big"),
        (("one", "--option", 'allow=["shell"]'), b"", "could undo what it is held to"),
        (("one", "--require", "steer=true"), b"", "steer"),
        (("one", "--cwd", "nowhere"), b"", "nowhere"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_refused_before_anything_runs(
    demo: Barry, words: tuple[str, ...], text: bytes, said: str
) -> None:
    path = demo.work / "stdin"
    path.write_bytes(text)
    with path.open("rb") as file:
        done = start(demo, *words, stdin=file)
    says(done, 2, said)
    assert done.out == ""
    kept = demo.sessions.all() if demo.folders.database.exists() else []
    assert [row for row in kept if row.state != "ended"] == []
    assert not (Path(os.environ["HOME"]) / ".barry-demo").exists()


def test_a_terminal_without_a_prompt_is_told(demo: Barry) -> None:
    done = demo.refused("session", "start", "demo")
    says(done, 2, "there is no prompt")


def test_a_harness_that_can_not_be_driven(demo: Barry) -> None:
    demo.install(id="screen", aliases=())
    says(start(demo, "hello", id="screen"), 2, "can't be driven by Barry today", "guest")


# --- what comes out ---


def test_the_stream_is_what_is_on_record(demo: Barry) -> None:
    done = start(demo, "run echo hi", "--json")
    assert done.code == 0
    rows = stream(done)
    assert [row["type"] for row in rows if row["type"] != "partial"] == [
        "init", "tool_use", "tool_result", "text", "usage", "result", "done",
    ]  # fmt: skip
    assert "".join(row["text"] for row in rows if row["type"] == "partial") == "shell ran:\nhi\n"
    session_id = demo.row().id
    kept = demo.run("session", "events", session_id, "--json")
    recorded = [json.loads(line) for line in kept.out.splitlines()]
    assert [row["event"] for row in recorded] == [row for row in rows if row["type"] != "partial"]
    assert [row["sequence"] for row in recorded] == sorted({row["sequence"] for row in recorded})
    assert {row["turnId"] for row in recorded} == {turns(demo, session_id)[0]["id"]}


def test_a_failure_ends_the_stream_like_any_turn(demo: Barry) -> None:
    done = start(demo, "fail badly", "--json")
    rows = stream(done)
    assert rows[-1]["type"] == "done"
    for kind in ("error", "done"):
        assert sum(row["type"] == kind for row in rows) == 1
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert error["details"]["sessionId"] == demo.row().id
    assert error["details"]["state"] == "failed"


def test_a_reader_who_has_seen_enough(demo: Barry) -> None:
    """Whoever reads the stream leaves: the turn ends, and its record says so."""
    reading, writing = os.pipe()
    child = subprocess.Popen(
        [sys.executable, "-m", "barry_cli", "session", "start", "demo", "call x", "--json"],
        env=demo.surroundings(),
        cwd=demo.work,
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    assert os.read(reading, 10)
    os.close(reading)
    assert child.wait(30) == 141
    row = demo.row()
    assert (row.state, row.exit_status) == ("ended", 141)
    (turn,) = turns(demo, row.id)
    assert (turn["state"], turn["uncertainCalls"]) == ("cancelled", [])


def test_on_a_terminal_it_can_be_followed(demo: Barry) -> None:
    child = demo.open(
        "session", "start", "demo", "run touch made; echo seen", "--bound", "read-only"
    )
    assert demo.ended(child) == 0
    said = written(child)
    for part in (
        "note: Demo 1.0.0, driven by Barry (gating per-call): session ",
        "note: held to read-only\n",
        "> shell touch made; echo seen\n",
        "  denied shell: denied by deniedAccess files: writes made (touch)\n",
        "shell did not run: denied: ",
        "done in ",
        " tokens in, ",
        f'barry session resume {demo.row().id} "..." goes on\n',
    ):
        assert part in said, said
    assert said.count("shell did not run") == 1


# --- how it ends ---


@pytest.mark.parametrize(
    ("prompt", "words", "code", "named", "state"),
    [
        ("hello", (), 0, None, "completed"),
        ("fail badly", (), 1, "process", "failed"),
        ("outage back soon", (), 75, "process", "failed"),
        ("limit", (), 75, "quota", "failed"),
        ("crash", (), 1, "process", "failed"),
        ("hang", ("--timeout", "0.7"), 124, "timeout", "cancelled"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_exit_codes(
    demo: Barry, prompt: str, words: Sequence[str], code: int, named: str | None, state: str
) -> None:
    env = scripted(
        demo,
        ("limit", [{"quota": RESET}]),
        ("crash", [{"crash": True}]),
        ("hang", [{"hang": True}]),
    )
    done = start(demo, prompt, *words, "--json", env=env)
    assert done.code == code
    row = demo.row()
    assert (row.state, row.exit_status) == ("ended", code)
    assert [turn["state"] for turn in turns(demo, row.id)] == [state]
    if named is None:
        assert '"error"' not in done.err
        return
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert error["code"] == named
    assert error["details"].get("resetAt") == ("2030-03-17T17:46:40Z" if named == "quota" else None)


def test_no_such_harness_and_no_such_program(demo: Barry) -> None:
    says(start(demo, "hello", id="nothing"), 127, "nothing")
    (demo.bin / "toy").chmod(0o644)
    says(start(demo, "say hi", id="toy"), 126, "toy")
    (demo.bin / "toy").unlink()
    says(start(demo, "say hi", id="toy"), 127, "toy")
    assert not demo.folders.database.exists() or demo.sessions.all() == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_a_signal_ends_the_turn_in_good_order(
    demo: Barry, number: signal.Signals, code: int
) -> None:
    child = demo.open("session", "start", "demo", "run sleep 61", "--json")
    child.expect('"tool_use"')
    os.kill(child.pid, number)
    assert demo.ended(child) == code
    assert '"done"' in written(child)
    row = demo.row()
    assert (row.state, row.exit_status) == ("ended", code)
    (turn,) = turns(demo, row.id)
    assert (turn["state"], turn["uncertainCalls"]) == ("cancelled", [])


def test_who_asks_twice_does_not_wait(demo: Barry) -> None:
    """A harness that takes no interrupt and no TERM: the second ^C ends Barry, and it with it."""
    demo.env["BARRY_DEMO_BEND"] = "deaf,ignore-term"
    with demo.leaves_no_process():
        child = demo.open("session", "start", "demo", "run sleep 62", "--json")
        child.expect('"tool_use"')
        os.kill(child.pid, signal.SIGINT)
        time.sleep(0.3)  # two that come at once are one
        assert child.isalive()
        os.kill(child.pid, signal.SIGINT)
        assert demo.ended(child) == -signal.SIGINT


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["text", "json"])
def test_a_stdout_that_takes_nothing_cuts_the_turn(demo: Barry, words: tuple[str, ...]) -> None:
    """In good order: it is known how far it came. An answer that is there is kept on record."""
    asked = "run sleep 60" if words else "say hi"
    with open("/dev/full", "w") as full, demo.leaves_no_process():
        done = subprocess.run(
            [sys.executable, "-m", "barry_cli", "session", "start", "demo", asked, *words],
            env=demo.surroundings(),
            cwd=demo.work,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 125
    assert "the output can't be written: No space left on device" in done.stderr
    if words:
        assert json.loads(done.stderr.splitlines()[-1])["error"]["code"] == "output"
    (turn,) = turns(demo, demo.row().id)
    assert turn["state"] == ("cancelled" if words else "completed")


def test_a_kill_in_the_middle_of_a_call(demo: Barry) -> None:
    """Nothing of the turn goes on, and nobody says that it is known how far it came."""
    with demo.leaves_no_process():
        child = demo.open("session", "start", "demo", "run touch begun; sleep 63", "--json")
        child.expect('"tool_use"')
        assert eventually((demo.work / "begun").exists, 10)
        assert demo.listed()["state"] == "running"
        child.kill(signal.SIGKILL)
        child.wait()
    row = demo.row()
    assert demo.listed()["state"] == "ended, status unknown"
    (turn,) = turns(demo, row.id)
    assert turn["state"] == "recovery_required"
    (call,) = turn["uncertainCalls"]
    assert (call["tool"], call["input"]) == ("shell", {"command": "touch begun; sleep 63"})
    shown = demo.run("session", "show", row.id).out
    assert "uncertain     shell touch begun; sleep 63\n" in shown
    done = demo.run("session", "resume", row.id, "recall")
    assert (done.code, done.out) == (0, "before this you said: run touch begun; sleep 63\n")
    assert "was lost with the process that ran it" in done.err


# --- the bound ---


def test_a_denied_call_has_no_effect_and_the_agent_reads_why(demo: Barry) -> None:
    done = start(demo, "run touch made", "--bound", "read-only", "--json")
    assert done.code == 0
    assert not (demo.work / "made").exists()
    (result,) = [row for row in stream(done) if row["type"] == "tool_result"]
    assert result["error"] is True
    assert "Refused by the policy of this session" in result["result"]
    (kept,) = [
        json.loads(line)
        for path in Path(os.environ["HOME"], ".barry-demo").rglob("*.jsonl")
        for line in path.read_text().splitlines()
        if '"tool_result"' in line
    ]
    assert kept["output"] == result["result"]
    allowed = start(demo, "run touch made")
    assert allowed.code == 0
    assert (demo.work / "made").exists()


def test_without_a_bound_it_is_said(demo: Barry) -> None:
    assert "no bound applies: everything the harness asks for is allowed" in start(demo, "a").err
    assert "no bound applies" not in start(demo, "a", "--bound", "read-only").err
    assert "Toy does not ask: it does whatever it is set to" in start(demo, "say a", id="toy").err


def test_what_nobody_can_rule_on_is_taken_back(demo: Barry) -> None:
    done = start(demo, "denied", "--bound", "read-only", id="toy")
    assert "Shell" in done.out.split()
    assert "note: Shell switched off: nobody rules on single calls in this mode" in done.err
    assert start(demo, "denied", id="toy").out.strip() == ""


@pytest.mark.parametrize("words", [(), ("--json",)], ids=str)
def test_a_secret_that_a_tool_prints_is_not_recorded(demo: Barry, words: tuple[str, ...]) -> None:
    secret = "k-1234-not-to-be-seen"
    done = start(
        demo, "run echo got $DEMO_API_KEY", "--env", "DEMO_API_KEY", *words,
        env={"DEMO_API_KEY": secret},
    )  # fmt: skip
    assert done.code == 0
    assert f"got {MASK}" in done.out
    assert secret not in done.out + done.err
    for path in demo.folders.state.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes(), path


def test_a_denied_tool_is_off(demo: Barry) -> None:
    done = start(demo, "run touch made", "--deny-tool", "shell")
    assert done.out == "shell did not run: tool not available: shell\n"
    assert not (demo.work / "made").exists()


def test_barrys_own_files_are_kept_even_without_a_bound(demo: Barry) -> None:
    registry = demo.folders.registry
    before = registry.read_bytes()
    done = start(demo, f"run echo x > {registry}")
    assert "did not run" in done.out
    assert registry.read_bytes() == before


# --- data ---


def write_schema(barry: Barry, schema: object = SCHEMA) -> str:
    (barry.work / "schema.json").write_text(json.dumps(schema))
    return "schema.json"


def test_data_that_fits(demo: Barry) -> None:
    done = start(demo, 'say {"n": 4}', "--schema", write_schema(demo))
    assert (done.code, done.json) == (0, {"n": 4})
    assert demo.row().harness_session_id is None  # an attempt's conversation is not kept


def test_data_that_fits_at_the_second_try(demo: Barry) -> None:
    env = scripted(
        demo,
        ("was not accepted", [{"text": '````json\n{"n": 5}\n````'}]),
        ("count", [{"text": '````json\n{"n": "five"}\n````'}]),
    )
    done = start(demo, "count", "--schema", write_schema(demo), env=env)
    assert (done.code, done.json) == (0, {"n": 5})
    assert len(turns(demo, demo.row().id)) == 2


def test_data_that_never_fits(demo: Barry) -> None:
    done = start(demo, 'say {"n": "four"}', "--schema", write_schema(demo))
    says(done, 1, "no structured answer in 2 attempts", "'four' is not of type 'integer'")
    assert done.out == ""


def test_a_schema_that_the_harness_sees_to(demo: Barry) -> None:
    demo.install(modes=("guest", "hosted"), structured="native")
    done = start(demo, 'answer {"n": 6}', "--schema", write_schema(demo), id="toy")
    assert (done.code, done.json) == (0, {"n": 6})
    says(start(demo, "answer {}", "--schema", write_schema(demo), id="toy"), 1, "'n' is a required")


def test_what_is_no_schema(demo: Barry) -> None:
    says(start(demo, "a", "--schema", write_schema(demo, [1])), 2, "is no JSON Schema")
    says(start(demo, "a", "--schema", write_schema(demo, {"type": 7})), 2, "schema.json", "type")
    assert not demo.folders.database.exists() or demo.sessions.all() == []


# --- the next harness ---


def test_another_takes_over_when_one_is_out(demo: Barry) -> None:
    done = start(demo, f"full {RESET}", "--fallback", "demo", id="toy")
    assert (done.code, done.out) == (0, f"demo heard: full {RESET}\n")
    assert "warning: Toy: " in done.err
    assert "note: the same is asked of Demo\n" in done.err
    by_adapter = {row.adapter: row for row in demo.sessions.all()}
    assert (by_adapter["toy"].exit_status, by_adapter["demo"].exit_status) == (75, 0)
    assert by_adapter["toy"].cwd == by_adapter["demo"].cwd


def test_a_failure_is_no_reason_for_another(demo: Barry) -> None:
    done = start(demo, "fail badly", "--fallback", "demo", id="toy")
    says(done, 1, "badly")
    assert [row.adapter for row in demo.sessions.all()] == ["toy"]


def test_every_one_is_found_fit_first(demo: Barry) -> None:
    demo.install(id="screen", aliases=())
    with demo.leaves_nothing():
        says(start(demo, "say a", "--fallback", "nothing", id="toy"), 127, "nothing")
        says(start(demo, "say a", "--fallback", "screen", id="toy"), 2, "can't be driven")


def test_all_are_out(demo: Barry) -> None:
    env = scripted(demo, ("full", [{"quota": RESET - 60}]))
    done = start(demo, f"full {RESET}", "--fallback", "demo", "--json", id="toy", env=env)
    assert done.code == 75
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert error["details"]["resetAt"] == "2030-03-17T17:45:40Z"


# --- many, and trouble ---


def test_twenty_at_once_on_one_home(demo: Barry) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "barry_cli", "session", "start", "demo", f"number {number}"],
            env=demo.surroundings(),
            cwd=demo.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(20)
    ]
    for number, child in enumerate(children):
        out, err = child.communicate(timeout=100)
        assert (child.returncode, out) == (0, f"demo heard: number {number}\n"), err
    assert {row.exit_status for row in demo.sessions.all()} == {0}
    assert len(demo.sessions.all()) == 20
    record = Record(demo.folders)
    for row in demo.sessions.all():
        assert [turn["state"] for turn in record.turns(row.id)] == ["completed"]


def test_where_nothing_can_be_recorded_nothing_starts(demo: Barry) -> None:
    demo.folders.state.parent.mkdir(parents=True, exist_ok=True)
    demo.folders.state.mkdir(mode=0o700)
    (demo.folders.state / "barry.db").write_bytes(b"no database at all")
    done = start(demo, "run touch made")
    says(done, 125, "no database")
    assert not (demo.work / "made").exists()


def test_a_full_disk(demo: Barry, small_disk: Path) -> None:
    """Nothing starts that can't be recorded; what it cuts off is ended, and known to be open."""
    if not os.path.ismount(small_disk):
        return  # nothing may be mounted here: there is no full disk to be had
    assert start(demo, "hello").code == 0
    filling = small_disk / "filling"

    def fill() -> None:
        with filling.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(1024)):
                pass

    fill()
    says(start(demo, "run touch made"), 125, "can't be used", "free some disk space")
    assert not (demo.work / "made").exists()
    filling.unlink()
    with demo.leaves_no_process():
        child = demo.open("session", "start", "demo", "run sleep 1.5; head -c 9000 /dev/zero")
        child.expect("sleep 1.5")
        fill()
        assert demo.ended(child) == 125
    said = written(child)
    assert "free some disk space" in said
    assert "Traceback" not in said
    filling.unlink()
    session_id = demo.sessions.all()[0].id
    assert [turn["state"] for turn in turns(demo, session_id)] == ["recovery_required"]


def test_a_disk_that_may_only_be_read(demo: Barry, small_disk: Path) -> None:
    if not os.path.ismount(small_disk):
        return
    assert start(demo, "hello").code == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    says(start(demo, "run touch made"), 125, "can't be used")
    assert not (demo.work / "made").exists()
    (row,) = demo.run("session", "list", "--json").json["sessions"]
    assert [turn["state"] for turn in turns(demo, row["id"])] == ["completed"]
    assert demo.run("session", "export", row["id"]).code == 0
