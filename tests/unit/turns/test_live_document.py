"""What the page on sessions says of live ones is so."""

from __future__ import annotations

from typing import Any

import pytest

from barry_cli.contract.events import SessionEvent
from barry_cli.turns.event_queue import LIMIT
from barry_cli.turns.one_done import GRACE
from tests.unit.documents import SESSIONS
from tests.unit.turns.test_per_turn import PROMISED


@pytest.fixture
def named() -> dict[str, Any]:
    """What the page's Python defines."""
    names: dict[str, Any] = {}
    for block in SESSIONS.blocks(below="Live sessions"):
        if block.language == "python":
            exec(compile(block.text, block.heading, "exec"), names)  # our own page
    return names


async def test_the_session_of_the_page_talks(named: dict[str, Any]) -> None:
    assert await named["talk"](PROMISED) == ("started", ["You said: Hello"])


async def test_the_stream_of_the_page_ends(named: dict[str, Any]) -> None:
    said = str(await named["kinds"]()).replace("'", '"')
    assert f"`await kinds()` is `{said}`" in SESSIONS.text


def test_the_page_lists_every_event() -> None:
    union = SessionEvent.__args__
    kinds = [kind.model_fields["type"].default for kind in union[0].__args__]
    listed = SESSIONS.text.partition("for all harnesses:")[2].partition(".\n")[0]
    assert [word.strip(" `\n") for word in listed.split(",")] == kinds


def test_the_page_gives_the_bounds_that_hold() -> None:
    assert f"bounded ({LIMIT // 2**20} MiB" in SESSIONS.text
    assert f"within {GRACE:g} s" in SESSIONS.text
