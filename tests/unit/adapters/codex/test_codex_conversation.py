"""The id of a launch's conversation: found when it is certain, and never guessed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from codex_samples import Record, id_of

from barry_adapter_codex.conversation import OPENED, discover

Find = Callable[[], Awaitable[str | None]]
Open = Callable[..., None]


def look(find: Find) -> str | None:
    async def once() -> str | None:
        return await find()

    return asyncio.run(once())


@pytest.fixture
def opened(home: Path) -> Open:
    """A TUI opens a conversation, so many seconds from now."""

    def touch(conversation: str, later: float = 0.5) -> None:
        folder = home / ".codex" / OPENED
        folder.mkdir(parents=True, exist_ok=True)
        at = time.time() + later
        (folder / conversation).touch()
        os.utime(folder / conversation, (at, at))

    return touch


def finder(home: Path, kind: str = "new") -> Find:
    return discover(str(home), {"HOME": str(home)}, kind)  # type: ignore[arg-type]


def test_not_before_the_first_turn(home: Path, opened: Open, record: Record) -> None:
    find = finder(home)
    assert look(find) is None
    ours = id_of(time.time() + 0.5)
    opened(ours)
    assert look(find) is None
    record(ours)
    assert look(find) == ours


def test_what_was_there_before_is_not_ours(home: Path, opened: Open, record: Record) -> None:
    earlier = id_of(time.time() - 5)
    record(earlier)
    opened(earlier, later=-5)
    assert look(finder(home)) is None


def test_never_between_two(home: Path, opened: Open, record: Record) -> None:
    find = finder(home)
    for conversation in (id_of(time.time() + 0.2), id_of(time.time() + 0.4)):
        opened(conversation)
        record(conversation)
    assert look(find) is None


def test_not_while_another_may_be_ours(home: Path, opened: Open, record: Record) -> None:
    find = finder(home)
    ours, theirs = id_of(time.time() + 0.2), id_of(time.time() + 0.4)
    opened(ours)
    opened(theirs)
    record(theirs)
    assert look(find) is None, "ours has had no turn yet"
    record(ours)
    assert look(find) is None
    record(theirs, cwd="/elsewhere")
    assert look(find) == ours


def test_one_found_stays_found(home: Path, opened: Open, record: Record) -> None:
    find = finder(home)
    ours, next_one = id_of(time.time() + 0.2), id_of(time.time() + 0.4)
    opened(ours)
    record(ours)
    assert look(find) == ours
    opened(next_one)
    record(next_one)
    assert look(find) == ours


def test_one_opened_much_later_is_another_sessions(
    home: Path, opened: Open, record: Record
) -> None:
    find = finder(home)
    late = id_of(time.time() + 300)
    opened(late, later=300)
    record(late)
    assert look(find) is None


def test_resuming_opens_an_older_one(home: Path, opened: Open, record: Record) -> None:
    older = id_of(time.time() - 5000)
    record(older)
    last, picked = finder(home, "last"), finder(home, "picked")
    opened(older)
    assert look(last) == older
    assert look(picked) == older


def test_picking_takes_its_time_and_is_never_a_new_one(
    home: Path, opened: Open, record: Record
) -> None:
    older, theirs = id_of(time.time() - 5000), id_of(time.time() + 1)
    record(older)
    find = finder(home, "picked")
    opened(theirs)
    record(theirs)
    assert look(find) is None
    opened(older, later=300)
    assert look(find) == older


def test_a_subagents_record_is_not_the_conversation(
    home: Path, opened: Open, record: Record
) -> None:
    find = finder(home)
    child = id_of(time.time() + 0.5)
    opened(child)
    record(child, source={"subagent": "review"})
    assert look(find) is None
