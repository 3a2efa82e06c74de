"""One value has one text; what a reader would get back differently is refused, with its path."""

from __future__ import annotations

import json
import math
import struct
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.canonical import DEPTH, NotCanonical, canonical_hash, canonical_json, read_json
from barry_cli.base.problems import Refused

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False).filter(
        lambda number: abs(number) <= 2**53 or abs(number) >= 1e21
    )
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_what_is_written_reads_back_and_is_written_the_same(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text
    assert canonical_json(read_json(text)) == text


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 9)))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical_json(turned) == canonical_json(value)
    assert canonical_hash(turned) == canonical_hash(value)


# From RFC 8785, appendix B: the bits of a double, and its text.
@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555556", "333333333.3333334"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(number) == text


def test_the_example_of_the_standard() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert canonical_json(value) == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_sorted_by_their_utf16_units() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    expected = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_json(dict.fromkeys(keys, 0)))) == expected


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def around() -> dict[str, Any]:
    value: dict[str, Any] = {"a": [1]}
    value["a"].append(value)
    return value


@pytest.mark.parametrize(
    ("value", "path", "problem"),
    [
        (math.nan, "$", "is nan"),
        ({"a": [0, math.inf]}, "$.a[1]", "is inf"),
        ([-math.inf], "$[0]", "is -inf"),
        ({"n": 2**53 + 1}, "$.n", "beyond 2^53"),
        ([-(2**53) - 1], "$[0]", "beyond 2^53"),
        (1e20, "$", "beyond 2^53"),
        ({"t": "a\ud800"}, "$.t", "surrogate"),
        ({"\udc00": 1}, "$", "surrogate"),
        ({"a": {1: 2}}, "$.a", "a key that is a int"),
        ({None: 2}, "$", "a key that is a NoneType"),
        ({"x y": {2}}, '$["x y"]', "is a set"),
        ([b"x"], "$[0]", "is a bytes"),
        (object(), "$", "is a object"),
        (around(), "$.a[1]", "contains itself"),
        (nested(DEPTH + 1), "$" + "[0]" * DEPTH, "deeper than"),
    ],
)
def test_what_would_change_is_refused_with_its_path(value: object, path: str, problem: str) -> None:
    with pytest.raises(NotCanonical) as caught:
        canonical_json(value)
    assert caught.value.path == path
    assert problem in str(caught.value)
    assert isinstance(caught.value, Refused)


@pytest.mark.parametrize("value", [2**53, -(2**53), 1e21, -1e300, 2.0**53])
def test_the_largest_numbers_that_hold(value: float) -> None:
    assert json.loads(canonical_json(value)) == value


def test_the_same_value_twice_is_no_cycle() -> None:
    shared = {"b": 1}
    assert canonical_json([shared, shared, nested(DEPTH - 1)])[:17] == '[{"b":1},{"b":1},'


def test_tuples_and_other_tables_are_arrays_and_objects() -> None:
    assert canonical_json((1, MappingProxyType({"a": (2,)}))) == '[1,{"a":[2]}]'


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [
        ('{"a": 1, "a": 2}', "$", 'the key "a" twice'),
        ('{"x": [0, {"b": 1, "c": 2, "b": 1}]}', "$.x[1]", 'the key "b" twice'),
        ('{"a": NaN}', "$.a", "is nan"),
        ("[1e999]", "$[0]", "is inf"),
        ("[9007199254740993]", "$[0]", "beyond 2^53"),
        (f"[{'9' * 5000}]", "$", "isn't JSON"),
        ('"\\ud800"', "$", "surrogate"),
        ("{", "$", "isn't JSON"),
        ("[" * 100_000, "$", "isn't JSON"),
        (b"\xff", "$", "isn't JSON"),
    ],
)
def test_a_text_with_two_meanings_is_not_read(text: str | bytes, path: str, problem: str) -> None:
    with pytest.raises(NotCanonical) as caught:
        read_json(text)
    assert caught.value.path == path
    assert problem in str(caught.value)


def test_a_text_with_one_meaning_is_read() -> None:
    assert read_json('{"a": [1, 2.5, null], "b": {"a": "x"}}') == {
        "a": [1, 2.5, None],
        "b": {"a": "x"},
    }
