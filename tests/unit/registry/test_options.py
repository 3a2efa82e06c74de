"""Options are checked against the adapter's schema, and nothing is fetched for that."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from barry_cli.registry.options import validate_options

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "effort": {"enum": ["low", "high"]},
        "turns": {"type": "integer", "minimum": 1},
        "where": {"$ref": "#/$defs/place"},
        "inner": {"type": "object", "properties": {"on": {}}, "additionalProperties": False},
    },
    "patternProperties": {"^x-": {}},
    "$defs": {"place": {"type": ["string", "null"]}},
    "additionalProperties": False,
    "required": ["turns"],
}


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ({"turns": 1, "effort": "low", "where": None, "x-y": 1}, []),
        ({}, ["'turns' is missing"]),
        ({"turns": "1"}, ["turns must be of type integer"]),
        ({"turns": 0}, ["turns: 0 is less than the minimum of 1"]),
        ({"turns": 1, "effort": "mid"}, ["effort must be one of low, high"]),
        ({"turns": 1, "where": 3}, ["where must be of type string or null"]),
        ({"turns": 1, "efort": "low"}, ["efort is not an option; did you mean effort?"]),
        ({"turns": 1, "inner": {"of": 1}}, ["inner.of is not an option; the options: on"]),
        (
            {"turns": 1, "zzz": 1},
            ["zzz is not an option; the options: effort, turns, where, inner"],
        ),
        ({"effort": 1}, ["'turns' is missing", "effort must be one of low, high"]),
        ("low", ["the options must be of type object"]),
        (None, ["the options must be of type object"]),
    ],
)
def test_what_does_not_fit_is_said_plainly(value: object, problems: list[str]) -> None:
    assert validate_options(SCHEMA, value) == problems


def test_schemas_that_are_true_or_false() -> None:
    assert validate_options(True, {"a": 1}) == []
    assert len(validate_options(False, {})) == 1


def test_a_reference_elsewhere_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    (problem,) = validate_options({"$ref": "http://127.0.0.1:9/schema"}, {})
    assert "can't be followed" in problem
