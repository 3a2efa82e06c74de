"""Which guarded tools a session has."""

from __future__ import annotations

from typing import Any

import pytest

from barry_cli.guard.inputs import INPUTS
from barry_cli.guard.table import NAMESPACE, TOOLS, offered
from barry_cli.policy.schema import NATIVE_CATEGORIES, AgentTrait, NativeCategory, parse_bound
from barry_cli.policy.tools import CORE_NAMESPACES

ALL = ("shell", "read_file", "write_file", "edit_file", "fetch")


def test_every_tool_has_what_it_needs() -> None:
    assert tuple(TOOLS) == tuple(INPUTS) == ALL
    assert NAMESPACE in CORE_NAMESPACES
    for name, tool in TOOLS.items():
        # What is ruled on is a field of the call that is never left out.
        assert INPUTS[name].model_fields[tool.field].is_required()
        assert tool.category in NATIVE_CATEGORIES


@pytest.mark.parametrize(
    ("document", "categories", "tools"),
    [
        ({}, (), ()),
        ({}, NATIVE_CATEGORIES, ALL),
        ({"network": {"actions": ["git:push"]}}, ("shell", "network"), ("shell", "fetch")),
        ({}, ("file-reads",), ("read_file",)),
        ({}, ("file-writes",), ("write_file", "edit_file")),
        # What the bound denies whatever the call is, is not offered.
        ({"deniedAccess": ["files"]}, NATIVE_CATEGORIES, ("shell", "read_file", "fetch")),
        ({"network": {"actions": ["all"]}}, ("shell", "network"), ("shell",)),
        ({"network": {"actions": ["git:fetch"]}}, ("shell", "network"), ("shell", "fetch")),
        ({"deniedTools": ["barry:shell"]}, ("shell", "network"), ("fetch",)),
        ({"deniedTools": ["Shell"]}, ("shell", "network"), ("fetch",)),
        ({"deniedTools": ["barry"]}, NATIVE_CATEGORIES, ()),
        ({"deniedAccess": ["barry"]}, NATIVE_CATEGORIES, ("read_file", "fetch")),
        ({"deniedTools": ["linear:shell"]}, ("shell",), ("shell",)),
    ],
)
def test_what_takes_the_place(
    document: dict[str, Any], categories: tuple[NativeCategory, ...], tools: tuple[str, ...]
) -> None:
    assert offered(parse_bound(document) if document else None, categories) == tools


def trait(**given: Any) -> AgentTrait:
    return AgentTrait.model_validate({"name": "t", "access": "read", "namespaces": (), **given})


@pytest.mark.parametrize(
    ("traits", "tools"),
    [
        ((trait(),), ()),
        ((trait(namespaces=("barry",)),), ("read_file", "fetch")),
        ((trait(namespaces=("barry",), access="readwrite"),), ALL),
        ((trait(tools=("barry:fetch",)), trait(tools=("barry:shell",))), ("fetch",)),
        (
            (trait(tools=("barry:fetch",)), trait(tools=("barry:shell",), access="readwrite")),
            ("shell", "fetch"),
        ),
        ((trait(namespaces=("linear",), access="readwrite", includes=("other",)),), ()),
    ],
)
def test_with_traits_they_alone_grant(
    traits: tuple[AgentTrait, ...], tools: tuple[str, ...]
) -> None:
    assert offered(None, NATIVE_CATEGORIES, traits) == tools
    assert offered(None, (), traits) == tools
