"""One turn of a harness that behaves: its events, its answer, its place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.processes import descendants
from barry_cli.contract.events import Done, Init, Result, Text
from barry_cli.headless.harness import CliHarness
from tests.unit.headless.toy_agent import agent, error, kinds, read, session, turn

PLAIN = """
heard = sys.stdin.read()
say(init="c1"); say(model="m-1")
say(text=f"you said {heard}")
say(done=usage(input=3, output=4), turns=2)
"""


async def test_a_turn(tmp_path: Path) -> None:
    harness, found = await turn(agent(tmp_path, PLAIN))
    assert kinds(found) == ["init", "text", "result", "usage", "done"]
    assert found[0] == Init(harness_session_id="c1")
    assert found[1] == Text(text="you said hello", role="assistant")
    assert found[2] == Result(result="you said hello")
    done = found[-1]
    assert isinstance(done, Done)
    assert done.usage is not None
    assert (done.usage.input, done.usage.output, done.turns) == (3, 4, 2)
    assert harness.session_id == "c1"
    assert harness.observed_model == "m-1"
    assert harness.observed_version == "1.0"
    assert not harness.resumed_session
    outcome = harness.last_turn
    assert outcome is not None
    assert (outcome.text, outcome.exit_code, outcome.fault, outcome.stopped) == (
        "you said hello", 0, None, None,
    )  # fmt: skip
    assert descendants(os.getpid()) == []


async def test_its_own_result_is_the_answer(tmp_path: Path) -> None:
    script = 'say(text="thinking"); say(result="42", structured={"n": 42}); say(done={})'
    harness, found = await turn(agent(tmp_path, script))
    assert kinds(found) == ["text", "result", "done"]
    assert harness.last_turn is not None
    assert (harness.last_turn.text, harness.last_turn.structured) == ("42", {"n": 42})


async def test_a_subagent_says_nothing_for_the_turn(tmp_path: Path) -> None:
    script = 'say(text="inner", parent="p"); say(fail="inner", parent="p"); say(text="outer")'
    harness, found = await turn(agent(tmp_path, script))
    assert kinds(found) == ["text", "error", "text", "result", "done"]
    assert harness.last_turn is not None
    assert harness.last_turn.fault is None
    assert harness.last_turn.text == "outer"


async def test_noise_is_raw_and_a_mapper_that_breaks_costs_its_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = """
print("not json"); print("{not json either"); print(); print("[1]"); say(unknown=1)
say(boom=1); say(text="on it goes"); say(done={})
"""
    seen: list[Any] = []
    harness, found = await turn(agent(tmp_path, script), observe=seen.append)
    assert kinds(found) == ["text", "result", "done"]
    raw = [each.line for each in seen if type(each).__name__ == "Raw"]
    assert raw == ["not json", "{not json either", "[1]", '{"unknown": 1}']
    assert harness.last_turn is not None
    assert harness.last_turn.raw.splitlines() == raw
    assert "RuntimeError" in caplog.text
    assert "secret thing" not in caplog.text


async def test_an_observer_that_breaks_costs_nothing(tmp_path: Path) -> None:
    def observe(event: object) -> None:
        raise ValueError("no")

    _, found = await turn(agent(tmp_path, PLAIN), observe=observe)
    assert kinds(found)[-1] == "done"
    assert "error" not in kinds(found)


async def test_lines_are_put_together_across_writes_and_the_last_needs_no_end(
    tmp_path: Path,
) -> None:
    script = r"""
out = sys.stdout.buffer
whole = json.dumps({"text": "a\u2028b \U0001f600"}, ensure_ascii=False).encode()
for piece in (whole[:5], whole[5:17], whole[17:]):
    out.write(piece); out.flush(); time.sleep(0.03)
out.write(b"\r\n"); out.write(b'{"text": "end"}'); out.flush()
"""
    _, found = await turn(agent(tmp_path, script))
    texts = [event.text for event in found if event.type == "text"]
    assert texts == ["a\u2028b \U0001f600", "end"]


async def test_the_environment_is_exact_and_the_folder_is_the_sessions(tmp_path: Path) -> None:
    script = "say(text=json.dumps([sorted(os.environ), os.getcwd()])); say(done={})"
    adapter = agent(tmp_path, script, variables={"TOY": "1"})
    harness, _ = await turn(adapter, cwd=str(tmp_path), env={"GONE": None})
    import json

    assert harness.last_turn is not None
    names, cwd = json.loads(harness.last_turn.text or "")
    assert set(names) <= {"PATH", "HOME", "TOY", "LC_CTYPE"}
    assert cwd == str(tmp_path)


async def test_the_policys_lists_go_together(tmp_path: Path) -> None:
    from barry_cli.headless.capabilities import PermissionPolicy

    harness = CliHarness(agent(tmp_path, "say(text=' '.join(given)); say(done={})"))
    policy = PermissionPolicy(allowed_tools=("Read", "Shell"), denied_tools=("shell",))
    said = harness.apply_permission_policy(policy)
    assert len(said) == 2
    assert all(name in said[0] for name in ("strict", "Read", "shell"))
    assert "denied, not put to anybody" in said[1]
    assert harness.warnings == list(said)
    await harness.start_session(
        session(allowed_native_tools=("Read", "Shell", "Web"), denied_tools=("Web",))
    )
    await read(harness.run_turn("x"))
    assert harness.last_turn is not None
    assert harness.last_turn.text == "--allow Read --deny Web shell"
    await harness.close()


async def test_the_system_prompt_can_change(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, "say(text=' '.join(given)); say(done={})"))
    harness.set_system_prompt("one")
    await harness.start_session(session(system_prompt="zero"))
    for prompt in ("one", "two"):
        harness.set_system_prompt(prompt)
        await read(harness.run_turn("x"))
        assert harness.last_turn is not None
        assert harness.last_turn.text == f"--system {prompt}"
    await harness.close()


async def test_out_of_order(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, PLAIN))
    found = await read(harness.run_turn("x"))
    assert kinds(found) == ["error", "done"]
    assert "not started" in error(found)
    await harness.start_session(session())
    one, two = harness.run_turn("x"), harness.run_turn("y")
    first = await anext(one)
    assert first.type == "init"
    assert "in the midst of a turn" in error(await read(two))
    assert (await read(one))[-1].type == "done"
    await harness.close()
    await harness.close()
    assert "closed" in error(await read(harness.run_turn("x")))


async def test_a_kind_of_harness_may_start_its_processes_in_its_own_way(tmp_path: Path) -> None:
    class Wrapped(CliHarness):
        def map_event(self, line: str) -> Any:
            return [Text(text=line)]

        def build_turn_args(self, input: Any) -> Any:
            from dataclasses import replace

            command = super().build_turn_args(input)
            return replace(command, args=(*command.args, "--wrapped"))

    harness = Wrapped(agent(tmp_path, "say(given=given)"))
    await harness.start_session(session())
    await read(harness.run_turn("x"))
    assert harness.last_turn is not None
    assert harness.last_turn.text == '{"given": ["--wrapped"]}'
    await harness.close()
