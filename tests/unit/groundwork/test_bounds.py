"""How a launch holds what applies to it: what goes, what takes its place, what is promised less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from barry_cli.bags.manifest import BagManifest
from barry_cli.base.paths import folders
from barry_cli.contract.adapter import CALL_KINDS, Adapter, CallKind, NativeControl
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.levels import GatingLevel, ModeId
from barry_cli.contract.plan import LaunchPlan
from barry_cli.groundwork.bounds import NOTHING_HELD, Held, hold
from barry_cli.groundwork.guarding import guarded_servers
from barry_cli.policy.lookup import Effective
from barry_cli.policy.schema import AgentTrait, parse_bound
from barry_cli.registry.adapters import Adapters
from tests.unit.guard.guarded import spoken_to

TOOLS = ("Shell", "Read", "Write", "Fetch", "Task")
MANIFEST = BagManifest.model_validate({
    "name": "acme",
    "tools": {
        "Shell": {"kind": "shell", "field": "command"}, "Read": {"kind": "read", "field": "path"},
        "Write": {"kind": "write", "field": "path"}, "Fetch": {"kind": "url", "field": "url"},
        "Task": {"kind": "agent"},
    },
    "categories": {
        "shell": ["Shell"], "file-reads": ["Read"], "file-writes": ["Write"], "network": ["Fetch"],
    },
    "settings": [".acme/**"],
})  # fmt: skip
PUSH = {"bash": {"denyPrograms": ["git:push"]}, "network": {"actions": ["git:push"]}}


def harness(
    *, transports: tuple[str, ...] = ("stdio",), denial: str = "native", keeps: tuple[str, ...] = ()
) -> tuple[Adapter, Adapters]:
    native = NativeControl(
        grantable=tuple(tool for tool in TOOLS if tool not in keeps),
        uncontrolled=dict.fromkeys(keeps, "it is built in"),
    )
    mode = SimpleNamespace(native=native)
    record = SimpleNamespace(
        id="acme",
        native_tools=TOOLS,
        aliases=(),
        bag=SimpleNamespace(manifest=MANIFEST),
        default_mode="guest",
        label="Acme",
        modes={"guest": mode, "instrumented": mode, "hosted": mode},
    )
    adapter = SimpleNamespace(
        id="acme",
        label="Acme",
        capabilities=SimpleNamespace(mcp_transports=transports, tool_denial=denial),
    )
    registry = SimpleNamespace(record=lambda adapter_id: record)
    return cast(Adapter, adapter), cast(Adapters, registry)


def effective(document: dict[str, Any], *traits: AgentTrait) -> Effective:
    return Effective(sources=(), bound=parse_bound(document) if document else None, traits=traits)


def held(
    document: dict[str, Any],
    *traits: AgentTrait,
    mode: ModeId = "guest",
    gating: GatingLevel = "static",
    ruled: Sequence[CallKind] | None = None,
    relax: bool = False,
    refused: tuple[str, ...] = (),
    **bent: Any,
) -> Held:
    adapter, registry = harness(**bent)
    found = effective(document, *traits)
    return hold(
        found, adapter, mode, registry, relax=relax, gating=gating, ruled=ruled, refused=refused
    )


def said(found: Held) -> str:
    return "\n".join(found.notes)


def test_guarded_tools_take_the_place_of_what_goes() -> None:
    found = held(PUSH)
    assert found.off == ("Shell", "Fetch")
    assert found.guarded == ("shell", "fetch")
    assert "Barry's own shell, fetch (MCP server barry)" in said(found)
    assert "--relax" in said(found)
    assert "--relax" not in said(held(PUSH, relax=True))
    assert held({"files": {"deny": [".env"]}}).guarded == (
        "shell", "read_file", "write_file", "edit_file",
    )  # fmt: skip


def test_where_nothing_goes_nothing_comes() -> None:
    assert held({}).guarded == ()
    assert held({"nativeTools": {"acme": ["Shell"]}}).guarded == ()
    # Who switches a tool off by name doesn't want another in its place.
    assert held(PUSH, refused=("shell",)).guarded == ("fetch",)
    assert held(PUSH, mode="hosted", gating="per-call").guarded == ()
    assert held(PUSH, mode="instrumented", gating="hooks", ruled=CALL_KINDS).guarded == ()
    assert hold(None, *harness_of("guest"), relax=False) == NOTHING_HELD


def harness_of(mode: ModeId) -> tuple[Adapter, ModeId, Adapters]:
    adapter, registry = harness()
    return adapter, mode, registry


def test_a_harness_that_starts_no_servers_is_left_without() -> None:
    for transports in ((), ("http",)):
        found = held(PUSH, transports=transports)
        assert found.off == ("Shell", "Fetch")
        assert found.guarded == ()
        assert "nothing takes the place" in said(found)


def test_what_a_plan_leaves_out_is_not_promised() -> None:
    found = held(PUSH)
    assert found.come_to(PLAN) is found
    assert found.come_to(replace(PLAN, servers_left_out=("other",))) is found
    left = found.come_to(replace(PLAN, servers_left_out=("barry",)))
    assert (left.guarded, left.off) == ((), found.off)
    assert "ruled on" not in said(left).replace("nobody rules on", "")
    assert "can't be brought here" in said(left)


def test_beside_the_guarded_server_none_of_its_name_stands() -> None:
    """A folder's own settings may name a server "barry", so that Barry's is left out."""
    assert held(PUSH).servers_out
    assert not held(PUSH, relax=True).servers_out
    assert not held(PUSH, transports=()).servers_out


def test_a_rule_that_names_guarded_tools_holds() -> None:
    for rule in ("barry:shell", "barry", "Barry:Fetch"):
        found = held({**PUSH, "deniedTools": [rule]})
        assert not found.warnings
    for rule in ("barry:nope", "barry:*", "mcp__barry__shell", "other:shell"):
        assert rule in "".join(held({**PUSH, "deniedTools": [rule]}).warnings)


def test_traits_grant_guarded_tools_or_none_come() -> None:
    reading = AgentTrait(
        name="reading", access="read", namespaces=(), native_tools={"acme": ("Read",)}
    )
    assert held(PUSH, reading).guarded == ()
    guarded = AgentTrait(name="guarded", access="readwrite", namespaces=("barry",))
    found = held(PUSH, guarded)
    assert set(found.off) == set(TOOLS)
    assert found.guarded == ("shell", "read_file", "write_file", "edit_file", "fetch")


def test_kinds_that_are_not_ruled_on_go_and_are_named() -> None:
    found = held(PUSH, mode="instrumented", gating="hooks", ruled=("write", "read", "fetch"))
    assert found.off == ("Shell", "Task")
    assert "nobody was shown to rule on such calls" in said(found)
    assert found.guarded == ("shell",)
    assert found.servers_out
    assert "left out: nobody was shown to rule on their calls" in said(found)
    assert found.at_most is None
    ruled = held(PUSH, mode="instrumented", gating="hooks", ruled=CALL_KINDS)
    assert (ruled.off, ruled.servers_out, ruled.at_most) == ((), False, None)


WITHOUT_SHELL: tuple[CallKind, ...] = ("write", "read", "fetch", "mcp", "subagent")


@pytest.mark.parametrize(
    ("more", "level", "part"),
    [
        ({"ruled": WITHOUT_SHELL, "denial": "none"}, "none", "can't switch off Shell"),
        ({"ruled": WITHOUT_SHELL, "keeps": ("Shell",)}, "static", "Acme keeps Shell"),
        ({"ruled": WITHOUT_SHELL}, None, ""),
        ({"ruled": ("shell", "fetch", "subagent"), "relax": True}, "static", "--relax"),
        ({"ruled": ("shell", "fetch", "subagent")}, None, ""),
        ({"ruled": CALL_KINDS, "denial": "none", "keeps": ("Shell",), "relax": True}, None, ""),
    ],
)
def test_what_stays_lowers_the_gating(
    more: dict[str, Any], level: GatingLevel | None, part: str
) -> None:
    found = held(PUSH, mode="instrumented", gating="hooks", **more)
    assert found.at_most == level
    assert part in found.because
    plan = found.lower(PLAN)
    assert plan.guarantees.gating == (level or "hooks")
    assert plan.lowered == ({"gating": found.because} if level else {})
    # A plan that promises as little already keeps its own reason.
    least = replace(
        PLAN,
        guarantees=PLAN.guarantees.model_copy(update={"gating": "none"}),
        lowered={"gating": "its own"},
    )
    assert found.lower(least) is least


PLAN = LaunchPlan(
    command="acme",
    guarantees=Guarantees(
        capture="none", delivery="none", gating="hooks", identity="none", interrupt=False,
        keeps_vendor_ui=True, steer=False,
    ),
)  # fmt: skip


async def test_the_server_of_a_launch_rules_by_its_bound(tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    for folder in (work, other):
        folder.mkdir()
    adapter, registry = harness()
    found = effective({**PUSH, "files": {"deny": [".env"]}})
    kept = hold(found, adapter, "guest", registry, relax=False)
    arranged = guarded_servers(
        kept,
        found,
        registry,
        adapter.id,
        cwd=str(work),
        roots=[str(other)],
        names=["PATH"],
        folders=folders(),
    )
    assert list(arranged) == ["barry"]
    env = {"BARRY_SESSION": "s1", "OTHER": "x"}
    async with spoken_to(arranged["barry"], cwd=work, errors=tmp_path / "errors", env=env) as tools:
        seen = await tools("shell", command='echo "$BARRY_SESSION-$OTHER"')
        assert seen == "s1-\n[exit code 0]"
        assert "git:push" in await tools.refused("shell", command="git push")
        assert "files.deny" in await tools.refused("read_file", path=".env")
        # The floor: neither the harness's settings nor Barry's own files are written.
        for path in (".acme/settings.json", ".barry/bound.toml"):
            await tools.refused("write_file", path=path, content="{}")
            await tools.refused("shell", command=f"echo x > {path}")
        await tools("write_file", path=str(other / "made"), content="x")
    assert (other / "made").exists()
    assert list(work.iterdir()) == []
    nothing = replace(kept, guarded=())
    assert not guarded_servers(
        nothing, found, registry, "acme", cwd=str(work), roots=[], names=[], folders=folders()
    )
