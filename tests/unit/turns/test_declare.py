"""What a session declares: promised, and shown or not."""

from __future__ import annotations

import sys

import pytest

from barry_cli.contract.adapter import Evidence, Mode
from barry_cli.contract.data import snapshot
from barry_cli.turns.declare import declare_session
from tests.unit.turns.test_per_turn import PROMISED

MODE = Mode(
    guarantees=PROMISED,
    verified_on="1.2.3",
    evidence=Evidence(check="checks:hosted", proves="what it says"),
    platforms=("linux",),
)


@pytest.mark.parametrize(
    ("observed", "platform", "unverified"),
    [
        ("1.2.3", "linux", False),
        (None, "linux", False),
        ("1.2.4", "linux", True),
        ("1.2.3", "darwin", True),
        (None, "darwin", True),
        ("", "linux", True),
    ],
)
def test_what_was_not_shown_is_unverified(
    observed: str | None, platform: str, unverified: bool
) -> None:
    declared = declare_session(MODE, observed, platform=platform)
    assert declared.guarantees_unverified is unverified
    assert declared.guarantees == PROMISED
    assert declared.harness_version == observed


def test_a_mode_without_platforms_was_shown_wherever_it_runs() -> None:
    mode = MODE.model_copy(update={"platforms": None})
    assert not declare_session(mode, "1.2.3", platform="darwin").guarantees_unverified


def test_the_platform_is_this_one() -> None:
    here = MODE.model_copy(update={"platforms": (sys.platform,)})
    elsewhere = MODE.model_copy(update={"platforms": ("elsewhere",)})
    assert not declare_session(here).guarantees_unverified
    assert declare_session(elsewhere).guarantees_unverified


def test_it_is_camel_case_outside() -> None:
    declared = snapshot(declare_session(MODE, "1.2.3", platform="linux"))
    assert sorted(declared) == ["guarantees", "guaranteesUnverified", "harnessVersion"]
