"""Nothing that stands in a call breaks its ruling: whatever it is, there is a verdict on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.bags.manifest import ToolRow
from barry_cli.policy import commands
from barry_cli.policy.classify import classify_bash_command
from barry_cli.policy.compile import compile_policy
from barry_cli.policy.ruling.rule import rule
from barry_cli.policy.schema import parse_bound
from tests.unit.policy.ruling.rows import rows

KINDS = ("shell", "read", "write", "patch", "url")
TOOLS = {kind: ToolRow.model_validate({"kind": kind, "field": "given"}) for kind in KINDS}
BOUNDS: list[dict[str, Any]] = [
    {
        "bash": {"denyPrograms": ["git:push", "gh:pr:create"]},
        "files": {"deny": [".env", "~/.ssh", "a/[b", "*.pem"]},
        "network": {"actions": ["git:push"], "domains": ["*.y.test"]},
    },
    {
        "files": {"allowOnly": ["src/**"]},
        "network": {"enforce": "sandbox", "allowDomains": ["x.test"]},
    },
]
POLICIES = [
    compile_policy(parse_bound(bound), root="/work/proj", home="/home/dev", tools=TOOLS)
    for bound in BOUNDS
]

ROWS: list[str] = [
    row["command"] for name in ("programs", "files", "network", "domains") for row in rows(name)
    if "command" in row
]  # fmt: skip
ODD = [
    *("\ud800", "\0", "İ", "²", "\u2028", "'", '"', "`", "$(", "${", "((", "<<E\n", "\n", "\\"),
    *(
        "{a,b}",
        "{1..9}",
        "%zz",
        "https://[",
        "https://x:²/",
        "file://",
        "~",
        "[!",
        "$'\\U7fffffff'",
    ),
    *(
        "--",
        "*** Begin Patch\n*** Add File: ",
        'diff --git \r"',
        "--- ",
        "<(",
        "@",
        "[::1%",
        "{fd}>",
    ),
]
PIECE = st.sampled_from(ODD) | st.text(max_size=3)


@st.composite
def changed(draw: st.DrawFn) -> str:
    """A row with something put in, left out, repeated, or joined to another row."""
    text: str = draw(st.sampled_from(ROWS))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        middle = draw(PIECE | st.just("") | st.sampled_from(ROWS) | st.just(text[start:end] * 9))
        text = text[:start] + middle + text[end:]
    return text


@pytest.mark.parametrize("kind", KINDS)
@given(text=changed())
@settings(max_examples=150, deadline=None)
def test_every_call_is_ruled_on(kind: str, text: str) -> None:
    for policy in POLICIES:
        verdict = rule(policy, kind, {"given": text}, "/work/proj")
        # A fault of ours is refused too, but no text may lead to one.
        assert "the ruling failed" not in verdict.human
        assert 0 <= verdict.span[0] <= verdict.span[1] <= len(verdict.text)


FUNCTIONS: list[Callable[[str], object]] = [
    classify_bash_command,
    commands.classify_file_write,
    commands.find_file_reads,
    commands.extract_domains_from_command,
    lambda text: commands.is_network_action_denied(text, ["git:push"]),
    lambda text: commands.is_domain_denied(text, ["*.y.test", text]),
    lambda text: commands.is_file_denied(text, [".env", text]),
    lambda text: commands.is_file_allowed(text, ["src/**", text]),
]


@given(changed())
@settings(max_examples=150, deadline=None)
def test_every_function_answers(text: str) -> None:
    for function in FUNCTIONS:
        function(text)
