"""Rows of commands with the ruling that is right, most of them made by running the command."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from barry_cli.policy.classify import classify_bash_command, is_program_denied

ROWS = [
    json.loads(line)
    for line in Path(__file__)
    .parents[3]
    .joinpath("data/bounds/programs.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
FAMILIES = sorted({row["family"] for row in ROWS})


def wrong(rows: list[dict[str, str]]) -> list[str]:
    found = []
    for row in rows:
        answer = is_program_denied(row["command"], [row["rule"]])
        if ("denied" if answer else "allowed") != row["expected"]:
            kind = "missed" if row["expected"] == "denied" else "false alarm"
            found.append(f"{kind}: {row['rule']} in {row['command']!r} ({row['why']})")
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_rulings(family: str) -> None:
    rows = [row for row in ROWS if row["family"] == family]
    problems = wrong(rows)
    assert not problems, "\n".join(problems)


def test_enough_rows() -> None:
    assert len(ROWS) >= 1_500
    assert len({(row["command"], row["rule"]) for row in ROWS}) == len(ROWS)
    counts = Counter((row["tier"], row["expected"]) for row in ROWS)
    for tier in ("core", "convention"):
        assert counts[tier, "denied"] > 100
        assert counts[tier, "allowed"] > 100
    assert counts["closed", "denied"] > 100


def test_no_row_is_denied_by_a_rule_of_another_program() -> None:
    """Save where something can't be known, a rule touches the program that it names."""
    alarms = [
        row["command"]
        for row in ROWS
        if is_program_denied(row["command"], ["no-such-program"])
        and not classify_bash_command(row["command"]).unparseable
    ]
    assert not alarms


def test_what_was_run_is_plain() -> None:
    """The rows of the core need no failing closed: everything in them can be told."""
    unsure = [
        row["command"]
        for row in ROWS
        if row["tier"] == "core" and classify_bash_command(row["command"]).unparseable
    ]
    assert not unsure
