"""Golden streams: what is kept of a recording, and how it is played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from barry_cli.agents import Raw
from barry_cli.contract.events import Done, Partial, PermissionRequested, Text
from barry_cli.contract.session import Allowed
from tests.streams import Stream, kinds_of, read_stream, replay, scrub

ASKED = PermissionRequested(id="r", tool="Shell", input={})


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    stream = Stream("1.0", ("toy", "--json"), ("text", "done"), ('{"a": 1}', '{"b": 2}'))
    stream.write(tmp_path / "new" / "case.jsonl")
    assert read_stream(tmp_path / "new" / "case.jsonl") == stream


def test_kinds_do_not_depend_on_how_a_run_was_paced() -> None:
    quick = [Text(text="ab"), Done()]
    slow = [Raw("?"), Partial(text="a"), Text(text="a"), Raw("?"), Text(text="b"), Done(), Raw("?")]
    assert kinds_of(quick) == kinds_of(slow) == ("text", "done")
    assert kinds_of([*quick, *quick]) != kinds_of(quick)


def test_places_keys_and_times_are_taken_out() -> None:
    places = {"/top": "/t", "/top/work": "/w", "a-key": "KEY"}
    line = '{"cwd": "/top/work/x", "dir": "-top-work", "up": "/top/y", "key": "a-key"}'
    assert scrub(line, places) == '{"cwd": "/w/x", "dir": "-w", "up": "/t/y", "key": "KEY"}'
    line = "at 2031-02-03T04:05:06.789Z from 127.0.0.1:45678"
    assert scrub(line, {}) == "at 2026-01-01T00:00:00.000Z from 127.0.0.1:8080"


class Dialogue:
    """Takes the lines that ask, and leaves the others."""

    def start(self) -> str:
        return "hello"

    def read(self, line: str) -> Any:
        if "ask" not in line:
            return None
        return type("Step", (), {"events": (ASKED,), "replies": ("wait",)})

    def answer(self, id: str, decision: object) -> str:
        return f"{id}: {type(decision).__name__}"


def test_lines_are_played_through_the_dialogue_first() -> None:
    def events(line: str) -> list[Any]:
        return [Raw(line)]

    lines = ("no JSON", '{"ask": 1}', '{"other": 1}')
    found, written = replay(lines, events, Dialogue(), lambda request: Allowed())
    assert found == [ASKED, Raw('{"other": 1}')]
    assert written == ["hello", "wait", "r: Allowed"]
    found, written = replay(lines, events)
    assert found == [Raw('{"ask": 1}'), Raw('{"other": 1}')]
    assert written == []
