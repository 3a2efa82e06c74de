"""The preflight finds every way in which a hook that is relied on would not hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from barry_cli.bags.manifest import HookFormat
from barry_cli.base.paths import folders
from barry_cli.contract.instrument import HookCall
from barry_cli.hook.install import PROGRAM, Installed, install
from barry_cli.hook.preflight import preflight
from barry_cli.policy.bundle import Bundle, bundle
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.schema import parse_bound
from tests.unit.hook.conftest import FORMAT

BY_CODE = {**FORMAT, "answers": {"deny": {"exit": 2, "stderr": "no: {reason}"}}}


class Row:
    def __init__(self, kind: str, field: str | None) -> None:
        self.kind = kind
        self.field = field


@pytest.fixture(scope="module")
def code() -> Bundle:
    return bundle(PROGRAM)


@pytest.fixture
def place(code: Bundle, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("barry_cli.hook.install.kept_bundle", {PROGRAM: code}.__getitem__)
    return folders().launches / "this"


def made(cwd: Path, bound: object | None = None, **tools: Row) -> Policy:
    return compile_policy(
        None if bound is None else parse_bound(bound),
        root=str(cwd),
        harness="invented",
        tools=tools or {"zap": Row("shell", "line"), "scribble": Row("write", "where")},
        floor=floor_patterns(folders()),
    )


def ready(
    place: Path, cwd: Path, form: dict[str, object] = FORMAT, bound: object | None = None
) -> tuple[Installed, Policy, list[HookFormat]]:
    policy = made(cwd, bound)
    shapes = [HookFormat.model_validate(form)]
    return install(place, policy, shapes), policy, shapes


@pytest.mark.parametrize("form", [FORMAT, BY_CODE])
@pytest.mark.parametrize(
    "bound", [None, {"bash": {"denyPrograms": ["true"]}}, {"deniedTools": ["zap", "scribble"]}]
)
def test_a_hook_that_rules_is_relied_on(
    place: Path, tmp_path: Path, form: dict[str, object], bound: object
) -> None:
    assert preflight(*ready(place, tmp_path, form, bound), str(tmp_path)) is None


def with_command(installed: Installed, command: str) -> Installed:
    return replace(installed, ruling=HookCall(command=command, words=()))


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 0", "allowed a call that the bound denies"),
        ("exit 2", "can't rule"),
        ("exit 1", "failed: exit code 1"),
        ("/nowhere/python hook || exit 2", "/nowhere/python"),
        ("echo garbage", "allowed a call that the bound denies"),
        ("sleep 60", "didn't answer within 1 seconds"),
        ("kill -9 $$", "failed"),
        (
            f"printf '%s' '{json.dumps({'verdict': {'no': 'x', 'again': ['x!']}})}'",
            "denied a call that the bound allows",
        ),
    ],
)
def test_a_hook_that_does_not_is_not(place: Path, tmp_path: Path, command: str, why: str) -> None:
    installed, policy, shapes = ready(place, tmp_path)
    told = preflight(with_command(installed, command), policy, shapes, str(tmp_path), seconds=1)
    assert told is not None
    assert why in told


@pytest.mark.parametrize("form", [FORMAT, BY_CODE])
@pytest.mark.parametrize("gone", ["entry", "policy"])
def test_what_is_missing_is_named(
    place: Path, tmp_path: Path, form: dict[str, object], gone: str
) -> None:
    installed, policy, shapes = ready(place, tmp_path, form)
    path = getattr(installed, gone)
    path.unlink()
    told = preflight(installed, policy, shapes, str(tmp_path))
    assert told is not None
    assert path.name in told


def test_another_policy_than_the_launch_s_is_noticed(place: Path, tmp_path: Path) -> None:
    installed, _, shapes = ready(place, tmp_path)
    other = made(tmp_path, {"bash": {"denyPrograms": ["true"]}})
    # The hook's own policy denies nothing of the kind.
    other.tools = {"zap": ("shell", ("line",))}
    assert preflight(installed, other, shapes, str(tmp_path)) is None
    other.tools = {"zap": ("other", ())}
    assert preflight(installed, other, shapes, str(tmp_path)) is not None
