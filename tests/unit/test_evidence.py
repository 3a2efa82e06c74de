"""The page of guarantees is what the adapters declare and the last run showed, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from barry_cli.contract.adapter import Adapter
from tests.evidence import PAGE, adapters, kept, page


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return kept()


@pytest.fixture
async def known(monkeypatch: pytest.MonkeyPatch, home: object) -> dict[str, Adapter]:
    monkeypatch.setenv("BARRY_HOME", "set back afterwards")
    return await adapters()


async def test_the_page_is_what_was_shown(
    known: dict[str, Adapter], rows: list[dict[str, Any]]
) -> None:
    assert PAGE.read_text("utf-8") == page(known, rows), "run `python -m tests.evidence`"


async def test_what_was_not_shown_is_said(
    known: dict[str, Adapter], rows: list[dict[str, Any]]
) -> None:
    before = page(known, rows)
    for number, row in enumerate(rows):
        cell = f"| `{row['adapter']}` | {row['mode']} | not shown |"
        assert cell not in before, f"the last run did not show {row['adapter']} {row['mode']}"
        for change in ({"shown": False}, {"build": "0.0.0"}, {"proves": "something else"}):
            bent = [*rows[:number], {**row, **change}, *rows[number + 1 :]]
            assert cell in page(known, bent)
        assert cell in page(known, [*rows[:number], *rows[number + 1 :]])
