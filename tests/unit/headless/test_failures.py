"""A harness that misbehaves in every way: one ``error``, one ``done``, and nothing left running."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import Refused
from barry_cli.base.processes import descendants
from barry_cli.contract.abort import Abort
from barry_cli.contract.plan import Command
from barry_cli.headless.faults import AgentFault, unavailable_fault
from barry_cli.headless.harness import CliHarness
from tests.unit.headless.toy_agent import LIVE, agent, error, kinds, read, session, turn

HANG = "say(init='c1'); time.sleep(60)"
CHILD = """
child = subprocess.Popen([sys.executable, "-c", '''
import os, signal, time
os.setsid()
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
print("up", flush=True)
time.sleep(60)
'''], stdout=subprocess.PIPE)
child.stdout.readline()
say(init="c1")
"""


@pytest.fixture(autouse=True)
def nothing_left() -> Any:
    before = set(descendants(os.getpid()))
    yield
    deadline = time.monotonic() + 5
    while left := set(descendants(os.getpid())) - before:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


async def failed(adapter: Any, **more: Any) -> AgentFault:
    """The fault of a turn that must have one; its stream is checked."""
    harness, found = await turn(adapter, **more)
    assert kinds(found).count("done") == 1
    assert kinds(found)[-1] == "done"
    assert harness.last_turn is not None
    fault = harness.last_turn.fault
    assert fault is not None
    assert error(found) == str(fault)
    assert "\n" not in str(fault).split("it said:", maxsplit=1)[0]
    return fault


async def test_a_status(tmp_path: Path) -> None:
    fault = await failed(agent(tmp_path, "print('no luck', file=sys.stderr); sys.exit(7)"))
    assert fault.code == "process"
    assert str(fault) == "toy ended with exit code 7; it said: no luck"
    assert (fault.details["exitCode"], fault.details["stderr"]) == (7, "no luck")
    assert fault.exit_code == 1


async def test_a_crash(tmp_path: Path) -> None:
    fault = await failed(agent(tmp_path, "say(text='x'); os.kill(os.getpid(), 11)"))
    assert "by signal 11" in str(fault)
    assert fault.details["exitCode"] == -11


async def test_its_own_failure_counts_though_it_exits_with_0(tmp_path: Path) -> None:
    fault = await failed(agent(tmp_path, "say(fail='bad key'); say(done={})"))
    assert str(fault) == "toy failed: bad key"


async def test_without_its_final_event(tmp_path: Path) -> None:
    script = "say(text='x')"
    adapter = agent(tmp_path, script, requires_finished_event=True)
    assert "ended with exit code 0 before its turn was over" in str(await failed(adapter))
    _, found = await turn(agent(tmp_path, script))  # where none is required
    assert kinds(found) == ["text", "result", "done"]


async def test_nothing_but_garbage(tmp_path: Path) -> None:
    script = "sys.stdout.buffer.write(bytes(range(256)) * 200); sys.stdout.flush()"
    fault = await failed(agent(tmp_path, script, requires_finished_event=True))
    assert fault.code == "process"


async def test_stderr_is_redacted_bounded_and_cannot_block_it(tmp_path: Path) -> None:
    script = """
for _ in range(3000): print("x" * 200, file=sys.stderr)
print("key=" + os.environ["TOY_KEY"], file=sys.stderr); sys.exit(1)
"""
    fault = await failed(agent(tmp_path, script), env={"TOY_KEY": "sk-very-secret"})
    said = str(fault.details["stderr"])
    assert len(said) == 2000
    assert said.endswith("key=********")
    assert "very-secret" not in str(fault)


async def test_what_it_says_in_colours_is_read_without_them(tmp_path: Path) -> None:
    """Neither what it means nor a secret hides behind them."""
    script = r"""
print("\x1b]0;title\x07\x1b[2m12:00\x1b[0m \x1b[31m4\x1b[1m29\x1b[0m limit", file=sys.stderr)
key = os.environ["TOY_KEY"]
print("key=" + key[:5] + "\x1b[1;32m" + key[5:] + "\x1b[0m", file=sys.stderr); sys.exit(1)
"""
    adapter = agent(tmp_path, script, quota=lambda text: "429" in text)
    fault = await failed(adapter, env={"TOY_KEY": "sk-very-secret"})
    assert fault.details["stderr"] == "12:00 429 limit\nkey=********"
    assert fault.code == "quota"


async def test_a_secret_in_its_failure_is_masked(tmp_path: Path) -> None:
    script = "say(fail='refused ' + os.environ['TOY_KEY'])"
    _, found = await turn(agent(tmp_path, script), env={"TOY_KEY": "sk-very-secret"})
    assert error(found) == "toy failed: refused ********"


@pytest.mark.parametrize("ended", ["", "\\n"])
async def test_an_endless_line(tmp_path: Path, ended: str) -> None:
    script = f"""
sys.stdout.write('{{"text": "' + "x" * 70_000 + '"}}{ended}'); sys.stdout.flush(); time.sleep(60)
"""
    fault = await failed(agent(tmp_path, script), line_limit=50_000)
    assert fault.details["stopped"] == "oversized-event"
    assert "more than 50000 bytes" in str(fault)


async def test_a_line_of_just_the_limit_is_taken(tmp_path: Path) -> None:
    script = "line = json.dumps({'text': 'x' * 5000}); print(line.ljust(6000))"
    _, found = await turn(agent(tmp_path, script), line_limit=6000)
    assert kinds(found) == ["text", "result", "done"]
    fault = await failed(agent(tmp_path, script), line_limit=5999)
    assert fault.details["stopped"] == "oversized-event"


async def test_silence(tmp_path: Path) -> None:
    fault = await failed(agent(tmp_path, HANG), idle_seconds=0.4)
    assert fault.details["stopped"] == "idle-timeout"
    assert fault.exit_code == 124
    assert "said nothing for too long" in str(fault)


async def test_talk_without_end(tmp_path: Path) -> None:
    script = "while True: say(partial='x'); time.sleep(0.02)"
    fault = await failed(agent(tmp_path, script), idle_seconds=5, deadline_seconds=0.5)
    assert fault.details["stopped"] == "deadline"
    assert fault.exit_code == 124


async def test_it_waits_for_input_that_never_comes(tmp_path: Path) -> None:
    """Its stdin has an end, whatever it is told."""
    script = "sys.stdin.read(); say(text='went on')"
    _, found = await turn(agent(tmp_path, script))
    assert kinds(found) == ["text", "result", "done"]
    silent = agent(tmp_path, script, request=lambda given: Command(
        command="python3", args=("-I", "-S", str(tmp_path / "agent.py"))
    ))  # fmt: skip
    _, found = await turn(silent)
    assert kinds(found) == ["text", "result", "done"]


async def test_a_prompt_that_it_does_not_read(tmp_path: Path) -> None:
    _, found = await turn(agent(tmp_path, "say(text='x')"), text="y" * 3_000_000)
    assert kinds(found) == ["text", "result", "done"]


async def test_it_lingers_after_its_turn(tmp_path: Path) -> None:
    script = (
        CHILD + "signal.signal(15, signal.SIG_IGN); say(text='x'); say(done={}); time.sleep(60)"
    )
    harness, found = await turn(agent(tmp_path, script), grace_seconds=0.3)
    assert kinds(found) == ["init", "text", "result", "done"]
    assert harness.last_turn is not None
    assert harness.last_turn.exit_code is None


async def test_a_child_that_ignores_everything_goes_with_it(tmp_path: Path) -> None:
    _, found = await turn(agent(tmp_path, CHILD + "say(done={})"))
    assert kinds(found) == ["init", "done"]


@pytest.mark.parametrize("what", ["program", "folder"])
async def test_it_cannot_be_started(tmp_path: Path, what: str) -> None:
    adapter = agent(tmp_path, "")
    more: dict[str, Any] = {"cwd": str(tmp_path / "gone")}
    if what == "program":
        adapter = agent(tmp_path, "", request=lambda given: Command(command="no-such-agent"))
        more = {}
    fault = await failed(adapter, **more)
    assert fault.code == "process"
    assert ("no-such-agent" if what == "program" else "gone") in str(fault)
    assert "can't be started" in str(fault)


async def test_a_reader_that_leaves_ends_it(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, CHILD + "time.sleep(60)"))
    await harness.start_session(session())
    stream = harness.run_turn("x")
    assert (await anext(stream)).type == "init"
    assert len(descendants(os.getpid())) >= 3
    await stream.aclose()
    assert descendants(os.getpid()) == []
    await harness.close()


async def test_a_reader_that_is_cancelled_ends_it(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, CHILD + "time.sleep(60)"))
    await harness.start_session(session())
    reading = asyncio.ensure_future(read(harness.run_turn("x")))
    while len(descendants(os.getpid())) < 3:
        await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await harness.close()


async def test_closing_in_the_midst_of_a_turn(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, CHILD + "time.sleep(60)"))
    await harness.start_session(session())
    stream = harness.run_turn("x")
    await anext(stream)
    await asyncio.gather(harness.close(), harness.close())
    rest = await read(stream)
    assert kinds(rest)[-1] == "done"
    assert kinds(rest).count("done") == 1


@pytest.mark.parametrize("way", ["method", "signal"])
@pytest.mark.parametrize("stubborn", [False, True])
async def test_an_interrupt_is_said_and_is_no_fault(
    tmp_path: Path, way: str, stubborn: bool
) -> None:
    script = CHILD + "say(text='half')\n"
    script += "signal.signal(2, signal.SIG_IGN)\n" if stubborn else ""
    harness = CliHarness(agent(tmp_path, script + "time.sleep(60)"))
    await harness.start_session(session(grace_seconds=0.3))
    signal = Abort()
    found: list[Any] = []

    async def reading() -> None:
        nonlocal found
        async for event in harness.run_turn("x", signal=signal):
            found += [event]

    task = asyncio.ensure_future(reading())
    while "text" not in kinds(found):
        await asyncio.sleep(0.01)
    if way == "signal":
        signal.set()
    else:
        await harness.interrupt()
    await task
    assert kinds(found) == ["init", "text", "error", "done"]
    assert error(found) == "interrupted"
    assert harness.last_turn is not None
    assert (harness.last_turn.stopped, harness.last_turn.text) == ("aborted", "half")
    assert harness.last_turn.fault is None
    await harness.interrupt()
    await harness.close()


QUOTA = {
    "quota": lambda text: "limit reached" in text or "429" in text,
    "unavailable": lambda text: "refused" in text or "502" in text,
}


@pytest.mark.parametrize(
    ("script", "code", "out"),
    [
        ("say(fail='usage limit reached')", "quota", None),
        ("say(fail='oops'); print('429 limit', file=sys.stderr); sys.exit(1)", "quota", None),
        (
            "say(fail='oops'); print('502 bad gateway', file=sys.stderr)",
            "process",
            "502 bad gateway",
        ),
        ("say(fail='connection refused')", "process", "connection refused"),
        ("say(fail='connection refused, limit reached')", "quota", None),
        ("print('429, retrying', file=sys.stderr); sys.exit(1)", "process", None),
        ("print('Reconnecting: refused', file=sys.stderr); sys.exit(1)", "process", None),
        ("say(fail='plain')", "process", None),
    ],
)
async def test_why_it_failed(tmp_path: Path, script: str, code: str, out: str | None) -> None:
    fault = await failed(agent(tmp_path, script, **QUOTA))
    assert fault.code == code
    assert unavailable_fault(fault) == out
    assert fault.exit_code == (75 if code == "quota" or out else 1)


async def test_only_a_failed_turn_is_out_of_quota(tmp_path: Path) -> None:
    script = "print('429 limit reached', file=sys.stderr); say(quota='soon'); say(text='fine')"
    harness, found = await turn(agent(tmp_path, script, **QUOTA))
    assert kinds(found) == ["text", "result", "done"]
    assert harness.last_turn is not None
    assert harness.last_turn.fault is None


@pytest.mark.parametrize(
    ("reset", "told"),
    [(1_800_000_000, "2027-01-15T08:00:00Z"), ("soon", None), (5, None), (True, None)],
)
async def test_when_a_limit_ends_is_said_only_where_it_is_known(
    tmp_path: Path, reset: object, told: str | None
) -> None:
    fault = await failed(agent(tmp_path, f"say(quota='used up', reset={reset!r}); sys.exit(1)"))
    assert fault.code == "quota"
    assert fault.details.get("resetAt") == told
    assert (told in fault.hint) if told else "limit ends" not in fault.hint


@pytest.mark.parametrize(
    ("cause", "code", "out"),
    [
        ("'quota'", "quota", None),
        ("'unavailable'", "process", "no route"),
        ("None", "process", None),
    ],
)
async def test_a_turn_that_only_tries_again(
    tmp_path: Path, cause: str, code: str, out: str | None
) -> None:
    script = f"while True: say(again='no route', cause={cause}); time.sleep(0.05)"
    fault = await failed(agent(tmp_path, script, **QUOTA), deadline_seconds=0.5)
    assert (fault.code, unavailable_fault(fault)) == (code, out)
    assert fault.exit_code == (124 if cause == "None" else 75)


async def test_an_adapter_that_breaks(tmp_path: Path, caplog: Any) -> None:
    asked = 0

    def request(given: Any) -> Command:
        nonlocal asked
        asked += 1
        if asked < 2:
            return Command(command="true")
        if asked < 3:
            raise Refused("it has no such model", hint="choose another")
        raise KeyError("a secret thing")

    adapter = agent(tmp_path, "", request=request)
    fault = await failed(adapter)  # the second time, in the midst of a turn
    assert (fault.code, str(fault), fault.hint) == (
        "configuration", "it has no such model", "choose another",
    )  # fmt: skip
    with pytest.raises(AgentFault, match="KeyError") as caught:
        await turn(adapter)
    assert "secret thing" not in str(caught.value) + caplog.text
    assert caught.value.__cause__ is None


async def test_new_tries_without_end(tmp_path: Path) -> None:
    script = "while True: say(again='no route', cause='unavailable'); print('.'); time.sleep(0.05)"
    fault = await failed(agent(tmp_path, script), retry_seconds=0.5, idle_seconds=5)
    assert fault.details["stopped"] == "stuck"
    assert (unavailable_fault(fault), fault.exit_code) == ("no route", 75)
    plain = script.replace(", cause='unavailable'", "")
    fault = await failed(agent(tmp_path, plain), retry_seconds=0.3)
    assert fault.exit_code == 124


async def test_a_trouble_that_passed_is_not_the_cause(tmp_path: Path) -> None:
    script = "say(again='no route', cause='unavailable'); say(text='there'); time.sleep(60)"
    fault = await failed(agent(tmp_path, script), deadline_seconds=0.5)
    assert (fault.details["stopped"], unavailable_fault(fault)) == ("deadline", None)


async def test_new_tries_that_come_to_something(tmp_path: Path) -> None:
    script = """
for n in range(8): say(again='no route'); time.sleep(0.05); say(partial='x'); time.sleep(0.05)
say(text='there'); say(done={})
"""
    _, found = await turn(agent(tmp_path, script), retry_seconds=0.4)
    assert kinds(found)[-3:] == ["text", "result", "done"]


async def test_a_matcher_that_breaks_matches_nothing(tmp_path: Path) -> None:
    def broken(text: str) -> bool:
        raise ValueError(text)

    fault = await failed(agent(tmp_path, "sys.exit(3)", quota=broken, unavailable=broken))
    assert fault.code == "process"


async def test_a_live_harness_that_just_goes(tmp_path: Path) -> None:
    fault = await failed(agent(tmp_path, "hear()", live=LIVE))
    assert "before its turn was over" in str(fault)


async def test_a_live_harness_that_dislikes_the_end_has_failed_nobody(tmp_path: Path) -> None:
    script = "hear(); say(took=1); say(text='x'); say(done={}); hear(); sys.exit(9)"
    harness, found = await turn(agent(tmp_path, script, live=LIVE))
    assert kinds(found) == ["text", "result", "done"]
    assert harness.last_turn is not None
    assert harness.last_turn.exit_code == 9
