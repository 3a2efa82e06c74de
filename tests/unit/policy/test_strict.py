"""Bounds are strict and frozen at every level, for Python's callers as for files."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from barry_cli.contract.data import snapshot
from barry_cli.policy.json_schema import bound_json_schema
from barry_cli.policy.schema import BoundSchema, bound_problems, parse_bound
from barry_cli.policy.scope import ExecutionScope, execution_scope_schema
from barry_cli.policy.strict import FrozenDict
from tests.unit.policy.bound_samples import BOUNDS


@pytest.mark.parametrize(
    ("document", "place", "meant"),
    [
        ({"denyTools": []}, "denyTools", "deniedTools"),
        ({"bash": {"denyProgram": []}}, "bash.denyProgram", "denyPrograms"),
        ({"bash": {"deny_program": []}}, "bash.deny_program", "deny_programs"),
        ({"network": {"allowDomain": []}}, "network.allowDomain", "allowDomains"),
    ],
)
def test_python_is_told_the_nearest_key_too(document: object, place: str, meant: str) -> None:
    with pytest.raises(ValidationError) as caught:
        BoundSchema.model_validate(document)
    (error,) = caught.value.errors()
    assert ".".join(map(str, error["loc"])) == place
    assert error["type"] == "extra_forbidden"
    assert error["msg"].endswith(f"did you mean {meant}?")


def test_every_problem_keeps_its_kind_and_place() -> None:
    with pytest.raises(ValidationError) as caught:
        BoundSchema.model_validate({"bash": {"deny": [""], "x": 1}, "network": {"actions": ["a"]}})
    assert {(error["type"], error["loc"]) for error in caught.value.errors()} == {
        ("string_too_short", ("bash", "deny", 0)),
        ("extra_forbidden", ("bash", "x")),
        ("literal_error", ("network", "actions", 0)),
    }


def test_tables_are_frozen_and_can_be_copied() -> None:
    bound = parse_bound({"nativeTools": {"toy": ["Zap"]}, "bash": {"deny": ["x"]}})
    table: Any = bound.native_tools
    for change in (
        lambda: table.__setitem__("toy", ()),
        lambda: table.__delitem__("toy"),
        lambda: table.update(toy=()),
        lambda: table.setdefault("bee", ()),
        table.clear,
        table.popitem,
        lambda: table.pop("toy"),
        lambda: table.__ior__({"bee": ()}),
    ):
        with pytest.raises(TypeError, match="frozen"):
            change()
    with pytest.raises(ValidationError):
        bound.bash.deny = ()  # type: ignore[misc, union-attr]  # the refusal is what is tested
    assert table == {"toy": ("Zap",)}
    for other in (copy.deepcopy(bound), pickle.loads(pickle.dumps(bound)), copy.copy(bound)):
        assert other == bound
        assert isinstance(other.native_tools, FrozenDict)
    assert len({bound, copy.deepcopy(bound)}) == 1


def test_a_scope_is_strict_too() -> None:
    assert execution_scope_schema is ExecutionScope
    whole = {"bound": None, "fingerprint": "f", "tools": {"git:push": "write"}, "traits": ["x"]}
    scope = execution_scope_schema.model_validate(whole)
    with pytest.raises(TypeError, match="frozen"):
        scope.tools["git:pull"] = "read"
    for wrong in (
        {**whole, "tool": {}},
        {**whole, "tools": {"git:push": "readwrite"}},
        {**whole, "bound": {"bash": {"denied": []}}},
        {key: value for key, value in whole.items() if key != "bound"},
    ):
        with pytest.raises(ValidationError):
            execution_scope_schema.model_validate(wrong)


VALIDATOR = Draft202012Validator(bound_json_schema())


def test_the_json_schema_is_one_and_says_what_keys_mean() -> None:
    schema = bound_json_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["additionalProperties"] is False
    assert "required" not in schema
    assert set(schema["properties"]) == {
        *("bash", "deniedAccess", "deniedTools", "description", "files", "name"),
        *("nativeTools", "network", "nodes"),
    }
    assert schema["$defs"]["BashBound"]["properties"]["denyPrograms"]["description"]
    assert "null" not in str(schema)


@given(BOUNDS)
def test_every_bound_fits_the_json_schema(bound: Any) -> None:
    VALIDATOR.validate(snapshot(bound))


WORDS = ["bash", "deny", "denyPrograms", "network", "allowDomains", "enforce", "files", "x"]


@given(
    st.recursive(
        st.none() | st.integers(0, 1) | st.sampled_from(["", "a", "sandbox", "guard", "dns"]),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
        ),
        max_leaves=6,
    )
)
def test_the_json_schema_refuses_what_reading_refuses(document: object) -> None:
    assert VALIDATOR.is_valid(document) == (bound_problems(document) == [])
