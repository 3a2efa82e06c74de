"""Minimal values for schemas."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.verify.models.sample import fits, sample

WORDS = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, "ok"),
        (WORDS, "ok"),
        ({"type": "STRING"}, "ok"),
        ({"type": "string", "minLength": 4}, "ok.."),
        ({"type": ["null", "string"]}, "ok"),
        ({"type": ["null"]}, None),
        ({"type": "null"}, None),
        ({"type": "boolean"}, False),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "minimum": 0}, 0),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "number", "minimum": 0.5}, 1),
        ({"enum": ["x", "y"]}, "x"),
        ({"const": 7}, 7),
        ({"type": "string", "default": "d"}, "d"),
        ({"type": "array", "items": WORDS}, []),
        ({"type": "array", "items": WORDS, "minItems": 2}, ["ok", "ok"]),
        ({"anyOf": [WORDS, {"type": "null"}]}, "ok"),
        ({"properties": {"a": WORDS}, "required": ["a"]}, {"a": "ok"}),
        (
            {"type": "object", "properties": {"a": WORDS, "b": WORDS}, "required": ["a"]},
            {"a": "ok"},
        ),
        ({"type": "OBJECT", "properties": {"a": WORDS}}, {"a": "ok"}),
        ({"type": "object", "properties": {"a": WORDS}, "required": []}, {}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, 1),
        ({"$ref": "#/$defs/none"}, "ok"),
        (
            {"allOf": [{"properties": {"a": WORDS}}, {"properties": {"b": WORDS}}]},
            {"a": "ok", "b": "ok"},
        ),
        ({"allOf": [WORDS]}, "ok"),
    ],
)
def test_values(schema, value):
    assert sample(schema) == value
    if value is not None:
        assert fits(sample(schema), schema)


def test_a_schema_of_itself_ends():
    loop = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    json.dumps(sample(loop))


def test_what_does_not_fit():
    record = {"type": "object", "properties": {"a": WORDS}, "required": ["a"]}
    assert not fits({}, record)
    assert not fits("text", record)
    assert not fits({}, {"type": "array"})
    assert not fits({}, WORDS)
    assert fits("x", WORDS)
    assert fits({"anything": 1}, {})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "required",
                    "items",
                    "enum",
                    "anyOf",
                    "allOf",
                    "$ref",
                    "minItems",
                    "minLength",
                    "minimum",
                    "maximum",
                    "const",
                    "a",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "allOf", "items"]), anything))
def test_any_schema_has_some_value(schema):
    json.dumps(sample(schema))
    fits({}, schema)
