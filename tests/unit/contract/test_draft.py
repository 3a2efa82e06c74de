"""The two rules of a draft: what was not looked at is said, and a promise only goes down."""

from __future__ import annotations

import errno
import os
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.paths import folders
from barry_cli.base.problems import StoreProblem
from barry_cli.contract.adapter import NativeControl
from barry_cli.contract.draft import _CALLED, PlanDraft, made, sweep
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.models import Endpoint
from barry_cli.contract.session import EgressPolicy, Resume, SessionConfig, StdioMcpServer

PROMISE = Guarantees(
    capture="post-hoc", delivery="on-resume", gating="static", identity="none", interrupt=False,
    keeps_vendor_ui=True, steer=False,
)  # fmt: skip
TOOLS = ("Bash", "Read", "Think")
NATIVE = NativeControl(grantable=TOOLS, uncontrolled={"Think": "it is built in"})


async def decide(request: object) -> Any:
    return request


# A value for every field that asks for something.
ASKED: dict[str, Any] = {
    "mcp_servers": {"one": StdioMcpServer(command="x")},
    "allowed_native_tools": ("Bash",),
    "denied_tools": ("Bash",),
    "decide": decide,
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "endpoint": Endpoint(url="http://127.0.0.1:9", api="x"),
    "ephemeral": True,
    "max_turns": 0,
    "model": "v/m",
    "options": {"a": 1},
    "plugin_dirs": ("/",),
    "project_roots": ("/",),
    "resume": Resume(last=True),
    "small_model": "v/s",
    "strict_mcp_config": False,
    "instrument": object(),
    "system_prompt": "be brief",
    "telemetry_endpoint": "http://127.0.0.1:9",
    "telemetry_headers": {"a": "b"},
}
EVERYWHERE = {"session_id", "cwd", "env", "executor", "extra_args"}


def draft(**config: Any) -> PlanDraft:
    return PlanDraft("Toy", SessionConfig(session_id="s", cwd="/", **config), PROMISE)


def test_every_field_is_honoured_by_all_or_has_a_name_to_warn_by() -> None:
    names = {field.name for field in fields(SessionConfig)}
    assert names == EVERYWHERE | set(_CALLED)
    assert set(ASKED) == set(_CALLED)


@given(
    asked=st.sets(st.sampled_from(sorted(ASKED))), looked_at=st.sets(st.sampled_from(sorted(ASKED)))
)
def test_every_unread_field_becomes_one_warning(asked: set[str], looked_at: set[str]) -> None:
    drafted = draft(**{name: ASKED[name] for name in asked})
    for name in looked_at:
        getattr(drafted.config, name)
    warnings = drafted.finish("toy").warnings
    left = asked - looked_at
    if "denied_tools" in asked:  # then what isn't allowed is denied: one warning is enough
        left -= {"allowed_native_tools"}
    assert sorted(warnings) == sorted(
        f"Toy can't be given {_CALLED[name]} in this mode: that is left out" for name in left
    )


@pytest.mark.parametrize("empty", [None, (), [], {}])
def test_what_asks_for_nothing_needs_no_warning(empty: object) -> None:
    names = ("allowed_native_tools", "denied_tools", "options", "plugin_dirs", "project_roots")
    assert draft(**dict.fromkeys(names, empty), ephemeral=False).finish("toy").warnings == ()


def test_a_warning_is_said_once() -> None:
    drafted = draft()
    for text in ("a", "b", "a"):
        drafted.warn(text)
    assert drafted.finish("toy").warnings == ("a", "b")


def test_servers_that_do_not_come_are_named() -> None:
    two = {"one": StdioMcpServer(command="x"), "two": StdioMcpServer(command="y")}
    drafted = draft(mcp_servers=two)
    drafted.without_servers([name for name in drafted.config.mcp_servers if name == "one"], "why")
    plan = drafted.finish("toy")
    assert (plan.servers_left_out, plan.warnings) == (("one",), ("why",))
    # Who doesn't look at them brings none.
    assert draft(mcp_servers=two).finish("toy").servers_left_out == ("one", "two")
    looked = draft(mcp_servers=two)
    assert looked.config.mcp_servers
    assert looked.finish("toy").servers_left_out == ()


def test_the_users_words_come_last() -> None:
    drafted = draft(extra_args=["--mine", "x"])
    drafted.args += ["--ours"]
    assert drafted.finish("toy").args == ("--ours", "--mine", "x")


def test_a_promise_goes_down_with_its_reason() -> None:
    drafted = draft()
    drafted.lower("it is old", gating="none", delivery="none")
    drafted.lower("it is broken", capture="none")
    with pytest.raises(ValueError, match="steer"):
        drafted.lower("no", steer=True)
    with pytest.raises(ValueError, match="gating"):
        drafted.lower("no", gating="per-call")
    drafted.lower("it is not so bad", gating="static")  # it is: that stays
    plan = drafted.finish("toy")
    assert plan.guarantees.gating == "none"
    assert plan.lowered == {
        "gating": "it is old",
        "delivery": "it is old",
        "capture": "it is broken",
    }


def test_what_is_denied() -> None:
    drafted = draft(
        allowed_native_tools=TOOLS, denied_tools=("bash", "THINK", "mcp__x__y", "Unknown")
    )
    assert drafted.denied(TOOLS, NATIVE) == ["Bash", "mcp__x__y"]
    assert drafted.finish("toy").warnings == (
        "Toy keeps its tool Think: it is built in",
        "Toy has no tool named Unknown: nothing was denied by that name",
    )


def test_a_tool_that_nobody_denied_is_kept_in_silence() -> None:
    drafted = draft(allowed_native_tools=("Bash",))
    assert drafted.denied(TOOLS, NATIVE) == ["Read"]
    assert drafted.finish("toy").warnings == ()


def test_an_empty_variable_is_unset() -> None:
    drafted = draft(env={"A": "", "B": "b", "C": None})
    assert [drafted.inherited(name) for name in "ABCD"] == [None, "b", None, None]


# --- its folders ---


def test_folders_are_private_and_named_in_the_plan() -> None:
    with draft() as drafted:
        one = drafted.file("a", "text \N{SNOWMAN}")
        folder = drafted.folder()
        two = drafted.file("b", "", folder=folder)
        plan = drafted.finish("toy")
    assert plan.tmp_dirs == (str(one.parent), str(folder))
    assert two.parent == folder
    assert one.read_text(encoding="utf-8") == "text \N{SNOWMAN}"
    for path in (one, two):
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {one.parent, folder} <= set(made)
    with pytest.raises(FileExistsError):
        drafted.file("b", "", folder=folder)


def test_a_disk_that_is_full_is_no_fault_of_the_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **more: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with PlanDraft("Toy", SessionConfig(session_id="s", cwd="/"), PROMISE) as drafted:
        drafted.file("once", "x", folder=(folder := drafted.folder()))
        with pytest.raises(FileExistsError):
            drafted.file("once", "x", folder=folder)
        monkeypatch.setattr(os, "fdopen", full)
        with pytest.raises(StoreProblem, match="No space left"):
            drafted.file("twice", "x", folder=folder)
        monkeypatch.setattr(tempfile, "mkdtemp", full)
        with pytest.raises(StoreProblem, match="No space left"):
            drafted.folder()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_they_go_when_planning_fails(error: type[BaseException]) -> None:
    kept: list[Path] = []

    def plan() -> None:
        with draft() as drafted:
            kept.append(drafted.file("a", ""))
            raise error

    with pytest.raises(error):
        plan()
    assert not kept[0].parent.exists()


def test_they_are_made_nowhere_that_others_reach() -> None:
    folders().launches.mkdir(parents=True, mode=0o755)
    folders().launches.chmod(0o755)
    with pytest.raises(StoreProblem, match="not yours alone"):
        draft().folder()


def test_only_what_the_dead_left_is_swept(tmp_path: Path) -> None:
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitpid(dead, 0)
    names = (f"{dead}-a", f"{os.getpid()}-b", "1-c", "notes", "x-1")
    for name in names:
        (tmp_path / name).mkdir()
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names[1:])
