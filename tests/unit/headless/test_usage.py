"""Tokens: of the turn, never of another, never made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.contract.models import TokenUsage
from barry_cli.contract.plan import Command
from barry_cli.headless.agent_events import Usage
from barry_cli.headless.conversations import Place
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.usage import NOTHING_KNOWN, NOTHING_YET, Meter, since
from tests.unit.headless.test_conversations import store
from tests.unit.headless.toy_agent import agent, kinds, read, session, turn

COUNTS = st.integers(0, 10**6)
USAGES = st.builds(
    Usage, input=COUNTS, output=COUNTS, cached=COUNTS, cache_write=COUNTS,
    reasoning=COUNTS | st.none(), complete=st.booleans(),
)  # fmt: skip
FOUR = ("input", "output", "cached", "cache_write")


def spent(harness: CliHarness) -> TokenUsage:
    assert harness.last_turn is not None
    assert harness.last_turn.usage is not None
    return harness.last_turn.usage


@given(before=USAGES, more=USAGES)
def test_what_was_added_is_the_difference(before: Usage, more: Usage) -> None:
    now = Usage(
        **{name: getattr(before, name) + getattr(more, name) for name in FOUR},
        complete=more.complete,
    )
    added = since(now, before)
    assert [getattr(added, name) for name in FOUR] == [getattr(more, name) for name in FOUR]
    assert added.complete == (before.complete and more.complete)


def test_a_count_without_its_beginning_is_no_count() -> None:
    assert since(Usage(input=9, output=9), None) == NOTHING_KNOWN
    assert not NOTHING_KNOWN.complete


def test_a_counter_that_went_back_is_a_lower_bound() -> None:
    added = since(Usage(input=5, output=1), Usage(input=9, output=1))
    assert (added.input, added.complete) == (5, False)


def test_a_message_is_counted_once() -> None:
    meter = Meter(NOTHING_YET)
    meter.message("a", Usage(input=1, output=1))
    meter.message("a", Usage(input=3, output=1))
    meter.message("b", Usage(input=5, output=1))
    assert meter.result() == TokenUsage(input=8, output=2)
    meter.turn(Usage(input=1, output=0))  # the turn's own total wins
    assert meter.result() == TokenUsage(input=1, output=0)
    assert Meter(None).result() is None


async def test_messages_are_passed_on_when_they_change(tmp_path: Path) -> None:
    script = """
for _ in range(2): say(usage=usage(input=3), id="a")
say(usage=usage(input=4), id="a"); say(usage=usage(input=2, cached=7), id="b")
"""
    harness, found = await turn(agent(tmp_path, script, usage="events"))
    assert kinds(found) == ["usage", "usage", "usage", "done"]
    assert spent(harness) == TokenUsage(input=6, output=0, cached=7) == found[-1].usage


@pytest.mark.parametrize("kind", ["events", None])
async def test_a_promise_of_counts_that_is_not_kept(tmp_path: Path, kind: Any) -> None:
    harness, found = await turn(agent(tmp_path, "say(text='x')", usage=kind))
    assert found[-1].usage == (NOTHING_KNOWN if kind else None)
    assert harness.warnings == []


async def test_a_harness_that_tells_nothing(tmp_path: Path) -> None:
    harness, found = await turn(agent(tmp_path, "say(text='x')", usage="unavailable"))
    assert found[-1].usage == NOTHING_KNOWN
    assert harness.warnings == ["toy does not say how many tokens it takes"]


CUMULATIVE = """
base = int(os.environ["BASE"])
say(init=asked or "c1"); say(usage=usage(input=base + 1, cumulative=True), id="x")
say(done=usage(input=base + 100, cumulative=True))
"""


async def test_cumulative_counts_become_the_turns(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, CUMULATIVE.replace('int(os.environ["BASE"])',
        "int(open('base').read())"), resumable=True, usage="events"))  # fmt: skip
    await harness.start_session(session(cwd=str(tmp_path)))
    for base, expected in ((0, 100), (100, 100), (250, 150)):
        (tmp_path / "base").write_text(str(base))
        found = await read(harness.run_turn("x"))
        assert kinds(found) == ["init", "usage", "done"]  # one, and it is the turn's
        assert spent(harness) == TokenUsage(input=expected, output=0) == found[-1].usage
    await harness.close()


async def test_where_a_resumed_count_began_is_told_or_unknown(tmp_path: Path) -> None:
    adapter = agent(tmp_path, CUMULATIVE, resumable=True, usage="events")
    asked: dict[str, Any] = {"resume_session_id": "c1", "env": {"BASE": "300"}}
    harness, _ = await turn(adapter, **asked)
    assert spent(harness) == NOTHING_KNOWN
    harness, _ = await turn(adapter, usage_before=Usage(input=300, output=0), **asked)
    assert spent(harness).input == 100


def counting(file: Path) -> dict[str, Any]:
    return {
        "usage": "session",
        "usage_command": lambda name: Command(command="cat", args=(str(file),)),
        "usage_result": lambda text: Usage(input=int(text), output=0),
    }


async def test_counts_that_must_be_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "count"
    script = f"open({str(file)!r}, 'w').write(str(asked and 70 or 50)); say(init=asked or 'c1')"
    adapter = agent(tmp_path, script, resumable=True, **counting(file))
    harness = CliHarness(adapter)
    await harness.start_session(session())
    await read(harness.run_turn("x"))
    assert spent(harness).input == 50
    await read(harness.run_turn("x"))
    assert spent(harness).input == 20
    assert any("once a turn is over" in sentence for sentence in harness.warnings)
    await harness.close()
    file.write_text("60")  # what it had before it is resumed
    harness, _ = await turn(adapter, resume_session_id="c1")
    assert spent(harness).input == 10


async def test_counts_that_cannot_be_had(tmp_path: Path) -> None:
    features = counting(tmp_path / "gone")
    harness, found = await turn(agent(tmp_path, "say(init='c1')", **features))
    assert kinds(found) == ["init", "usage", "done"]
    assert spent(harness) == NOTHING_KNOWN
    (tmp_path / "gone").write_text("no number")
    harness, _ = await turn(agent(tmp_path, "say(init='c1')", **features))
    assert spent(harness) == NOTHING_KNOWN


async def test_a_transcript_has_the_last_word(tmp_path: Path) -> None:
    kept = store(tmp_path / "kept")
    native = kept.where("c1", Place(cwd="/"))
    native.parent.mkdir(parents=True)

    def read_counts(text: str) -> Usage | None:
        if not text.strip().isdecimal():
            return None
        return Usage(input=int(text), output=0, cumulative=True)

    script = f"open({str(native)!r}, 'w').write('90'); say(init='c1'); say(done=usage(input=5))"
    adapter = agent(
        tmp_path, script, resumable=True, storage=kept, usage="events",
        transcript_usage=read_counts,
    )  # fmt: skip
    native.write_text("30")
    harness, _ = await turn(adapter, resume_session_id="c1")
    assert spent(harness).input == 60
    native.write_text("30")
    unread = agent(
        tmp_path, script.replace("'90'", "'ninety'"), resumable=True, storage=kept,
        usage="events", transcript_usage=read_counts,
    )  # fmt: skip
    harness, _ = await turn(unread, resume_session_id="c1")
    assert spent(harness).input == 5
