"""A JSON Schema is checked before anything is checked against it."""

from __future__ import annotations

from typing import Any

import pytest

from barry_cli.base.json_schema import NotFollowed, schema_problems, shortened, violations

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"where": {"$ref": "#/$defs/place"}, "b": {"minimum": 1}, "a": {"minimum": 1}},
    "$defs": {"place": {"type": ["string", "null"]}},
}


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        ({"type": "objekt"}, "type: 'objekt'"),
        ({"properties": {"a": {"type": 3}}}, "properties.a.type"),
        ({"pattern": "("}, "pattern"),
        (3, "3 is not of type"),
        ({"$ref": "https://example.org/schema"}, "only references within it are followed"),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "#/$defs/b, which isn't there"),
        ({"allOf": [{"$dynamicRef": "other.json"}]}, "only references within it are followed"),
    ],
)
def test_a_schema_that_is_none_is_named(schema: object, part: str) -> None:
    (problem,) = schema_problems(schema)
    assert part in problem


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        SCHEMA,
        {"properties": {"$ref": {"type": "string"}}},
        {"default": {"$ref": "https://example.org"}, "enum": [{"$ref": "x"}]},
        {"$defs": {"default": {"type": "string"}}, "$ref": "#/$defs/default"},
    ],
)
def test_a_schema_that_is_one_has_no_problems(schema: object) -> None:
    assert schema_problems(schema) == []


def test_deep_nesting_is_no_crash() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}
    assert schema_problems(schema) == ["it is nested too deeply"]


def test_violations_come_in_the_order_of_their_paths() -> None:
    value = {"b": 0, "a": 0, "where": 3}
    assert [list(error.path) for error in violations(SCHEMA, value)] == [["a"], ["b"], ["where"]]
    assert violations(SCHEMA, {"where": None}) == []


def test_a_schema_that_leads_nowhere_is_told() -> None:
    with pytest.raises(NotFollowed):
        violations({"$ref": "#/$defs/none"}, {})


def test_long_texts_are_shortened() -> None:
    assert shortened("a" * 160) == "a" * 160
    assert len(shortened("a" * 161)) == 160
