"""Before a launch says that its hooks rule, they are tried: what fails lowers it, or refuses."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import GuaranteeNotMet, Refused
from barry_cli.contract.guarantees import lowered
from barry_cli.contract.plan import LaunchPlan
from barry_cli.groundwork.request import LaunchRequest
from barry_cli.hook.install import Installed
from barry_cli.launch import instruments
from barry_cli.launch import prepare as prepare_module
from barry_cli.launch.prepare import Prepared, prepare
from barry_cli.launch.start import kept
from barry_cli.policy.ruling.rule import rule
from barry_cli.registry.adapters import Adapters
from tests.toy import Barry
from tests.unit.launch.demo_session import keep_bundles

Break = Callable[[Installed], None]


def missing(installed: Installed) -> None:
    installed.entry.unlink()


def garbage(installed: Installed) -> None:
    installed.entry.unlink()
    installed.entry.write_bytes(b"nothing")


def lenient(installed: Installed) -> None:
    """One that lets everything pass."""
    installed.entry.unlink()
    installed.entry.write_text("raise SystemExit(0)")


@pytest.fixture
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook is not what was installed, by the time that it is tried."""
    install, damage = instruments.install, request.param

    def damaged(*given: object, **more: object) -> Installed:
        made: Installed = install(*given, **more)  # type: ignore[arg-type]  # passed on
        damage(made)
        return made

    monkeypatch.setattr(instruments, "install", damaged)


def prepared(barry: Barry, **asked: object) -> Prepared:
    barry.install_shipped("demo")
    keep_bundles(barry)
    request = LaunchRequest(
        adapter="demo",
        mode="instrumented",
        cwd=str(barry.work),
        **asked,  # type: ignore[arg-type]  # fields of a request
    )
    return asyncio.run(prepare(request, barry.folders, Adapters(barry.folders), os.environ))


def test_sound_hooks_keep_the_promise(barry: Barry) -> None:
    made = prepared(barry, require={"gating": "hooks"})
    try:
        assert made.plan.guarantees.gating == "hooks"
        assert made.plan.lowered == {}
        assert not kept(made, barry.folders).restricted
    finally:
        made.discard()
    assert barry.litter() == []


@pytest.mark.parametrize("broken", [missing, garbage, lenient], indirect=True)
def test_unsound_hooks_lower_it_with_the_reason(barry: Barry, broken: None) -> None:
    made = prepared(barry)
    try:
        assert made.plan.guarantees.gating == "static"
        assert "hook" in made.plan.lowered["gating"]
        assert any("gating is only static in this launch: the hook" in each
                   for each in made.warnings)  # fmt: skip
    finally:
        made.discard()


@pytest.mark.parametrize("broken", [missing, lenient], indirect=True)
def test_under_a_requirement_they_refuse_it(barry: Barry, broken: None) -> None:
    with pytest.raises(GuaranteeNotMet, match="gating static, and hooks is required: the hook"):
        prepared(barry, require={"gating": "hooks"})
    assert barry.litter() == []


@pytest.mark.parametrize("denied", [(), ("read",)])
def test_what_is_denied_by_name_is_refused_by_the_hook(
    barry: Barry, denied: tuple[str, ...]
) -> None:
    made = prepared(barry, denied_tools=denied)
    try:
        assert made.instruments is not None
        verdict = rule(made.instruments.policy, "read", {"path": "x"}, str(barry.work))
        assert verdict.allowed is (denied == ())
        # One of the same name that a server brings is another tool.
        assert rule(made.instruments.policy, "mcp__own__read", {}, str(barry.work)).allowed
    finally:
        made.discard()


def test_what_no_trait_grants_is_refused_by_the_hook(barry: Barry) -> None:
    """Also where the harness itself can't switch it off."""
    barry.install_shipped("demo")
    registry = json.loads(barry.folders.registry.read_text())
    (row,) = (each for each in registry["adapters"] if each["id"] == "demo")
    trait = {"name": "looking", "access": "read", "namespaces": []}
    row["bag"]["manifest"]["traits"] = {"looking": {**trait, "nativeTools": {"demo": ["read"]}}}
    barry.folders.registry.write_text(json.dumps(registry))
    keep_bundles(barry)
    asked = LaunchRequest(
        adapter="demo", mode="instrumented", cwd=str(barry.work), traits=("looking",)
    )
    made = asyncio.run(prepare(asked, barry.folders, Adapters(barry.folders), barry.env))
    try:
        assert made.instruments is not None
        policy, cwd = made.instruments.policy, str(barry.work)
        assert rule(policy, "read", {"path": "x"}, cwd).allowed
        assert not rule(policy, "shell", {"command": "true"}, cwd).allowed
        # It depends on rulings as under a bound: without them the session is ended.
        assert kept(made, barry.folders).restricted
    finally:
        made.discard()


def test_a_plan_that_promises_less_holds_no_bound(
    barry: Barry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    planned = prepare_module.make_plan

    async def less(*given: Any) -> LaunchPlan:
        plan = await planned(*given)
        guarantees = lowered(plan.guarantees, gating="static")
        return replace(plan, guarantees=guarantees, lowered={"gating": "it is out of sorts"})

    monkeypatch.setattr(prepare_module, "make_plan", less)
    made = prepared(barry)
    made.discard()
    assert made.plan.guarantees.gating == "static"
    bound = tmp_path / "own.toml"
    bound.write_text("[bash]\ndenyPrograms = ['touch']\n")
    with pytest.raises(Refused, match="the bound can't be held: it is out of sorts"):
        prepared(barry, bounds=(str(bound),))
    assert barry.litter() == []


@pytest.mark.parametrize("broken", [missing, lenient], indirect=True)
def test_under_a_bound_they_refuse_it(barry: Barry, broken: None, tmp_path: Path) -> None:
    bound = tmp_path / "own.toml"
    bound.write_text("[bash]\ndenyPrograms = ['touch']\n")
    with pytest.raises(Refused, match="the bound can't be held: the hook"):
        prepared(barry, bounds=(str(bound),))
    assert barry.litter() == []
