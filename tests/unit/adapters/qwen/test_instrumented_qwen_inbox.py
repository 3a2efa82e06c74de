"""Messages into Qwen Code: which hook takes what, and the bell that begins a turn for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from barry_cli.contract.instrument import Notice

PLAIN = "/quit\n\t@all & more \N{SLIGHTLY SMILING FACE}\n"
MESSAGE = {"id": "m1", "content": PLAIN}
START = Notice(kind="start")
IDLE = Notice(kind="stop", document={"notification_type": "idle_prompt"})


class Hooks:
    """What runs inside: a hook that asks, or none."""

    def __init__(self) -> None:
        self.asking: Notice | None = None
        self.given: list[str] = []

    async def notices(self) -> AsyncIterator[Notice]:
        for notice in (START,):
            yield notice

    async def hand(self, text: str, *, fits: Any = None) -> bool:
        if self.asking is None or not fits(self.asking):
            return False
        self.given.append(text)
        return True

    async def ask(self, frame: Any, *, seconds: float = 5) -> None:
        raise AssertionError("it has no plugin")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    from barry_adapter_qwen import inbox

    clock = Clock()
    monkeypatch.setattr(inbox.time, "monotonic", clock.monotonic)
    return clock


def rung(file: Path) -> int:
    from barry_adapter_qwen.inbox import BELL

    lines = file.read_text("utf-8").splitlines()
    assert all(json.loads(line) == {"type": "submit", "text": BELL} for line in lines)
    return len(lines)


def made(tmp_path: Path) -> tuple[Any, Hooks, Path]:
    from barry_adapter_qwen.inbox import Inbox

    file, hooks = tmp_path / "input.jsonl", Hooks()
    file.touch()
    return Inbox(hooks, file), hooks, file


def deliver(inbox: Any) -> bool:
    given: bool = asyncio.run(inbox.deliver(MESSAGE))
    return given


def test_a_hook_that_asks_takes_it_and_nothing_rings(tmp_path: Path, clock: Clock) -> None:
    inbox, hooks, file = made(tmp_path)
    inbox.heard(START)
    hooks.asking = Notice(kind="prompt", prompt="go on")
    assert deliver(inbox)
    assert hooks.given == [PLAIN]
    assert rung(file) == 0


def test_it_does_not_ring_before_the_tui_is_there(tmp_path: Path, clock: Clock) -> None:
    inbox, _, file = made(tmp_path)
    assert not deliver(inbox)
    assert rung(file) == 0
    inbox.heard(START)
    assert not deliver(inbox)
    assert rung(file) == 1


def test_it_rings_again_only_after_a_while_and_ever_more_seldom(
    tmp_path: Path, clock: Clock
) -> None:
    inbox, _, file = made(tmp_path)
    inbox.heard(START)
    rings = []
    for _ in range(600):  # a minute
        deliver(inbox)
        rings.append(rung(file))
        clock.now += 0.1
    assert rings[0] == 1
    assert rings[45] == 1  # two in one look of its own would be two turns
    assert 3 <= rings[-1] <= 5


def test_a_turn_that_runs_hears_no_bell_for_a_while(tmp_path: Path, clock: Clock) -> None:
    inbox, _, file = made(tmp_path)
    for notice in (START, Notice(kind="prompt", prompt="for long")):
        inbox.heard(notice)
    clock.now += 20
    deliver(inbox)
    assert rung(file) == 0
    inbox.heard(Notice(kind="stop"))  # it does not take a prompt yet
    deliver(inbox)
    assert rung(file) == 0
    inbox.heard(IDLE)
    deliver(inbox)
    assert rung(file) == 1
    inbox.heard(Notice(kind="prompt", prompt="for ever"))
    clock.now += 31  # whatever became of that turn
    deliver(inbox)
    assert rung(file) == 2


def test_the_bell_is_nothing_to_a_shell_and_no_command(tmp_path: Path) -> None:
    from barry_adapter_qwen.inbox import BELL

    assert BELL.startswith("#")
    assert "\n" not in BELL
    assert "@" not in BELL


def test_without_a_file_it_waits_for_the_users_next_turn(tmp_path: Path) -> None:
    from barry_adapter_qwen.inbox import Inbox

    hooks = Hooks()
    inbox = Inbox(hooks, None)
    inbox.heard(START)
    assert not deliver(inbox)
    hooks.asking = Notice(kind="prompt", prompt="go on")
    assert deliver(inbox)
    assert inbox.guarantee == "turn-end"


def test_what_a_tool_answered_takes_no_message(tmp_path: Path, clock: Clock) -> None:
    inbox, hooks, _ = made(tmp_path)
    hooks.asking = Notice(kind="prompt")
    assert not deliver(inbox)
    hooks.asking = Notice(kind="prompt", prompt="go on")
    assert deliver(inbox)


def test_each_text_has_the_one_way_in_which_it_stays_whole() -> None:
    from barry_adapter_qwen.inbox import fits

    prompt, stop = Notice(kind="prompt", prompt="go on"), Notice(kind="stop")
    assert fits(prompt, PLAIN, bell=True)
    assert not fits(stop, PLAIN, bell=True)  # a bell brings it where it is kept
    assert fits(stop, PLAIN, bell=False)
    for text in ("a < b", "a > b"):
        assert not fits(prompt, text, bell=True)
        assert fits(stop, text, bell=True)
    assert not any(fits(Notice(kind=kind), PLAIN, bell=False) for kind in ("start", "after-tool"))


def test_its_transcript_shows_what_was_told_beside_a_prompt() -> None:
    from barry_adapter_qwen.inbox import BELL, shows

    def row(kind: str, *texts: str) -> bytes:
        parts = [{"text": text} for text in texts]
        return json.dumps({"type": kind, "message": {"role": "user", "parts": parts}}).encode()

    assert list(shows(row("user", BELL, PLAIN))) == [BELL, PLAIN]
    assert list(shows(row("tool_result", PLAIN))) == []
    for line in (b"", b"{", b"[]", b'"user"', b'{"type": "user", "message": 3}'):
        assert list(shows(line)) == []
