"""What the demo adapter promises is shown, and is not shown once a guard is gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from barry_cli.contract.plan import Command, LaunchPlan
from barry_cli.verify.proof import Bend, prove, without

Started = TypeVar("Started", LaunchPlan, Command)


def bent(name: str) -> Bend:
    def bend(plan: Started, /) -> Started:
        return replace(plan, args=(*plan.args, "--bend", name))

    return bend


async def test_guest_mode_is_shown(tmp_path: Path) -> None:
    from barry_adapter_demo import adapter

    proven = await prove(adapter, "barry_adapter_demo", "guest", keep_in=tmp_path)
    assert proven.reason == ""
    assert proven.shown


@pytest.mark.parametrize(
    ("bend", "missed"),
    [
        (without("--deny"), "allow shell"),
        (bent("ignore-deny"), "had its effect"),
        (bent("no-transcript"), "was not kept"),
        (bent("wrong-id"), "was not kept"),
    ],
    ids=["no denial", "ignore-deny", "no-transcript", "wrong-id"],
)
async def test_the_check_fails_without_the_guard(tmp_path: Path, bend: Bend, missed: str) -> None:
    from barry_adapter_demo import adapter

    proven = await prove(adapter, "barry_adapter_demo", "guest", bend=bend, keep_in=tmp_path)
    assert not proven.shown
    assert missed in proven.reason


async def test_instrumented_mode_is_shown(tmp_path: Path) -> None:
    from barry_adapter_demo import adapter

    proven = await prove(adapter, "barry_adapter_demo", "instrumented", keep_in=tmp_path)
    assert proven.reason == ""
    assert proven.shown


@pytest.mark.parametrize(
    ("bend", "missed"),
    [
        (without("--hooks"), "denied calls had their effect"),
        (bent("no-hooks"), "denied calls had their effect"),
        (bent("no-mail"), "a message to an idle TUI is written"),
        (bent("no-transcript"), "the conversation was not kept"),
    ],
    ids=["not wired", "no-hooks", "no-mail", "no-transcript"],
)
async def test_the_instrumented_check_fails_without_the_guard(
    tmp_path: Path, bend: Bend, missed: str
) -> None:
    from barry_adapter_demo import adapter

    proven = await prove(adapter, "barry_adapter_demo", "instrumented", bend=bend, keep_in=tmp_path)
    assert not proven.shown
    assert missed in proven.reason


async def test_hosted_mode_is_shown(tmp_path: Path) -> None:
    from barry_adapter_demo import adapter

    proven = await prove(adapter, "barry_adapter_demo", "hosted", keep_in=tmp_path)
    assert proven.reason == ""
    assert proven.shown


@pytest.mark.parametrize(
    ("bend", "missed"),
    [
        (bent("no-ask"), "denied calls had their effect: ['made', 'written']"),
        (bent("wrong-id"), "was to go on"),
        (without("--fork"), "the copy does not know"),
    ],
    ids=["no-ask", "wrong-id", "no copy"],
)
async def test_the_hosted_check_fails_without_the_guard(
    tmp_path: Path, bend: Bend, missed: str
) -> None:
    from barry_adapter_demo import adapter

    proven = await prove(adapter, "barry_adapter_demo", "hosted", bend=bend, keep_in=tmp_path)
    assert not proven.shown
    assert missed in proven.reason
