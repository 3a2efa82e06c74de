"""What is a bound and probably not what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barry_cli.policy.bound_file import read_bound_file
from barry_cli.policy.hints import hints
from barry_cli.policy.named import SHIPPED
from barry_cli.policy.schema import parse_bound

ROWS = [{"id": "acme", "aliases": ["old"], "nativeTools": ["Shell", "Read"]}]

CASES: list[tuple[dict[str, Any], str]] = [
    ({"bash": {"denyPrograms": ["git push"]}}, "'git:push'"),
    ({"bash": {"denyPrograms": [":push"]}}, "names no program"),
    ({"bash": {"denyPrograms": ["gpg:--export"]}}, "options are passed over"),
    ({"bash": {"deny": ["-"]}}, "every command line with this letter"),
    ({"network": {"actions": ["read"]}}, "ssh connections are left"),
    ({"network": {"domains": ["*.a.b"]}}, "'a.b' itself is left"),
    ({"network": {"domains": ["https://a.b"]}}, "no host"),
    ({"network": {"enforce": "sandbox", "allowDomains": ["a.b/c"]}}, "no host"),
    ({"nativeTools": {"acm": ["Shell"]}}, "did you mean acme?"),
    ({"nativeTools": {"acme": ["Shel"]}}, "did you mean Shell?"),
]

RIGHT: list[dict[str, Any]] = [
    {"bash": {"denyPrograms": ["git:push", "git"], "deny": ["rm"]}},
    {"network": {"actions": ["read", "ssh:read"]}},
    {"network": {"actions": ["all"], "domains": ["*.a.b", "a.b"]}},
    {"nativeTools": {"acme": ["shell"], "old": ["READ"]}},
    {},
]


@pytest.mark.parametrize(("document", "part"), CASES)
def test_a_hint(document: dict[str, Any], part: str) -> None:
    (said,) = hints(parse_bound(document), ROWS)
    assert part in said


@pytest.mark.parametrize("document", RIGHT)
def test_nothing_to_say(document: dict[str, Any]) -> None:
    assert hints(parse_bound(document), ROWS) == []


def test_what_barry_ships_needs_none() -> None:
    for path in Path(SHIPPED).glob("*.toml"):
        assert hints(read_bound_file(str(path))) == [], path.name
