"""Barry's end of a plugin's line: what the plugin is given, and messages by it."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from barry_cli.adapters import (
    EvidentInbox,
    Guarantees,
    HookCall,
    Instrument,
    LineInbox,
    Notice,
    PlanDraft,
    place_plugin,
)
from barry_cli.sessions import SessionConfig

GUARANTEES = Guarantees(
    capture="none",
    delivery="wake",
    gating="hooks",
    identity="none",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)


class Within:
    """An end that answers as it was told to, and remembers what it was asked."""

    def __init__(
        self, *answers: Mapping[str, Any] | None, notices: tuple[Notice, ...] = ()
    ) -> None:
        self.answers = list(answers)
        self.asked: list[Mapping[str, object]] = []
        self._notices = notices

    async def notices(self) -> AsyncIterator[Notice]:
        for notice in self._notices:
            yield notice

    async def hand(self, text: str, **how: Any) -> bool:
        raise AssertionError("there is no hook")

    async def ask(
        self, frame: Mapping[str, object], *, seconds: float = 5
    ) -> Mapping[str, Any] | None:
        self.asked.append(frame)
        return self.answers.pop(0)


def inbox(within: Within) -> LineInbox:
    return LineInbox(within, guarantee="wake", evidence="its transcript")


def deliver(within: Within, **message: str) -> bool:
    return asyncio.run(inbox(within).deliver({"id": "m1", "content": "hello", **message}))


def test_a_message_is_said_to_a_plugin_that_is_ready() -> None:
    within = Within({"ok": True}, {"ok": True})
    assert deliver(within, **{"from": "anna"})
    ready, said = within.asked
    assert ready == {"do": "ready"}
    assert said["do"] == "say"
    assert said["message"] == "m1"
    assert str(said["text"]).endswith("\nhello")
    assert "anna" in str(said["text"])


@pytest.mark.parametrize("answer", [None, {}, {"ok": False}, {"ok": "true"}])
def test_a_plugin_that_is_not_ready_is_told_nothing(answer: Mapping[str, Any] | None) -> None:
    within = Within(answer)
    assert not deliver(within)
    assert within.asked == [{"do": "ready"}]


def test_what_the_plugin_did_not_take_is_held() -> None:
    assert not deliver(Within({"ok": True}, {"ok": False}))


def test_a_plugin_that_never_says_whether_it_took_it_leaves_that_open() -> None:
    with pytest.raises(OSError, match="did not say what became of it"):
        deliver(Within({"ok": True}, None))


def test_what_the_plugin_saw_arrive_is_consumed_once() -> None:
    def own(**document: object) -> Notice:
        return Notice(kind="own", document=document)

    within = Within(
        notices=(
            own(kind="taken", message="m1"),
            Notice(kind="prompt", document={"kind": "prompt", "message": "m2"}),
            own(kind="other", message="m2"),
            own(kind="taken", message=7),
            own(kind="taken", message="m1"),
            own(kind="taken", message="m3"),
        )
    )

    async def seen() -> list[str]:
        return [each async for each in inbox(within).consumed()]

    assert isinstance(inbox(within), EvidentInbox)
    assert asyncio.run(seen()) == ["m1", "m3"]


def test_a_plugin_lies_in_a_private_folder_with_what_opens_its_line(
    home: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "inside.js"
    plugin.write_text('import { line } from "./line.js"\n')
    call = HookCall(command="exit 2", words=("/bin/false",))
    instrument = Instrument(
        ruling=call,
        notice=call,
        deadline_seconds=20,
        fingerprint="print",
        socket="/run/s.sock",
        key="the key",
        inside=Within(),
    )
    with PlanDraft("x", SessionConfig(session_id="s1", cwd="/"), GUARANTEES) as draft:
        placed = place_plugin(draft, instrument, "s1", [plugin], {"more": 1})
        made = draft.finish("x")
    assert made.tmp_dirs == (str(placed.parent),)
    assert placed.name == "inside.js"
    assert placed.read_text() == plugin.read_text()
    assert {each.name for each in placed.parent.iterdir()} == {"inside.js", "line.js", "line.json"}
    assert stat.S_IMODE(placed.parent.stat().st_mode) == 0o700
    line = placed.with_name("line.json")
    assert stat.S_IMODE(line.stat().st_mode) == 0o600
    assert json.loads(line.read_text()) == {
        "more": 1,
        "socket": "/run/s.sock",
        "key": "the key",
        "session": "s1",
        "fingerprint": "print",
    }
    assert "the key" not in repr(made) + repr(instrument)
