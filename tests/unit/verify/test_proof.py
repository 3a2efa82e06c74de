"""Checks are run on real launches, and whatever they raise is an answer."""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.processes import descendants, subreaper
from barry_cli.contract.plan import LaunchPlan
from barry_cli.verify.proof import KEY, Proven, prove, without
from tests.toy import eventually, write_adapter, write_harness

_numbers = itertools.count()

Prove = Callable[..., Awaitable[Proven]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prove:
    """Proves a toy whose check is the given code."""
    harness = write_harness(tmp_path / "bin" / "toy")

    async def run(check: str, *, bend: Any = None, **spec: Any) -> Proven:
        name = f"proven{next(_numbers)}"
        package = write_adapter(tmp_path / name, id=name, **spec)
        body = "".join(f"    {line}\n" for line in check.splitlines())
        (package / f"barry_adapter_{name}" / "checks.py").write_text(
            f"async def guest(proof):\n{body}"
        )
        monkeypatch.syspath_prepend(str(package))
        adapter = importlib.import_module(f"barry_adapter_{name}").adapter
        return await prove(
            adapter,
            f"barry_adapter_{name}",
            "guest",
            program=str(harness),
            base_env={"PATH": "/usr/bin:/bin", "SECRET_KEY": "made-up"},
            bend=bend,
            keep_in=tmp_path,
        )

    return run


async def test_what_is_shown(run: Prove) -> None:
    proven = await run(
        "plan, terminal = await proof.launch(denied_tools=('Shell',))\n"
        "terminal.wait_for('<ready')\n"
        "proof.require('--deny=Shell' in plan.args, 'no denial')\n"
        "proof.require(plan.cwd is None, lambda: 'never called')\n"
        "terminal.submit('quit 3')\n"
        "proof.require(terminal.ended() == 3, 'another status')\n"
    )
    assert (proven.shown, proven.reason, proven.model_requests) == (True, "", 0)
    assert proven.proves == "that it starts"


async def test_what_a_killed_check_left_behind_goes(run: Prove, tmp_path: Path) -> None:
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    left, living = tmp_path / f"{ended.pid}-left", tmp_path / f"{os.getpid()}-living"
    for folder in (left, living):
        (folder / "home").mkdir(parents=True)
    assert (await run("pass")).shown
    assert not left.exists()
    assert living.exists()
    assert [each for each in tmp_path.glob(f"{os.getpid()}-*") if each != living] == []


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ("proof.require(False, 'the moon is down')", "the moon is down"),
        ("proof.require(False, lambda: 'the moon ' + 'is up')", "the moon is up"),
        ("raise proof.__class__", "the check itself failed: TypeError"),
        ("from barry_cli.adapters import NotShown; raise NotShown", "did not say what it missed"),
        ("assert 1 == 2, 'odd'", "the check itself failed: AssertionError: odd"),
        ("proof.model.url('nope')", "no API named nope; there are"),
        ("proof.model.wait_for_text('hi', seconds=0.1)", "no request to the model carried 'hi'"),
        ("await proof.launch(nothing=1)", "the check itself failed: TypeError"),
        (
            "(await proof.launch())[1].wait_for('<never>', seconds=0.3)",
            "'<never>' was not on the screen",
        ),
    ],
)
async def test_what_is_not_shown_has_its_reason(run: Prove, check: str, reason: str) -> None:
    proven = await run(check)
    assert not proven.shown
    assert reason in proven.reason


async def test_a_launch_that_is_refused_is_a_reason(run: Prove) -> None:
    proven = await run("await proof.launch()", planning="raise ValueError('boom')")
    assert "failed while planning: ValueError: boom (this is a fault of the" in proven.reason


@pytest.mark.parametrize("check", ["pass", "raise KeyError", "proof.require(False, 'x')"])
async def test_nothing_is_left(run: Prove, tmp_path: Path, check: str) -> None:
    before = set(descendants(os.getpid()))
    with subreaper():
        await run(
            f"_, t = await proof.launch(); t.wait_for('<ready'); await proof.launch()\n{check}",
            tmp_dirs=True,
        )
        assert eventually(lambda: set(descendants(os.getpid())) <= before)
    assert not list(tmp_path.glob("proof-*"))
    assert not list(folders().launches.iterdir())


async def test_it_is_a_fresh_home_with_a_made_up_key(run: Prove) -> None:
    proven = await run(
        "import os\n"
        "proof.require(os.listdir(proof.home) == os.listdir(proof.cwd) == [], 'not fresh')\n"
        f"proof.require(proof.key == {KEY!r}, 'another key')\n"
        "names = {'PATH', 'HOME', 'TERM', 'SHELL', 'LANG'}\n"
        "proof.require(set(proof.env) == names, str(proof.env))\n"
        "proof.require(proof.env['HOME'] == str(proof.home), 'another home')\n"
        "proof.require(proof.model.offered_tools() == [], 'tools')\n"
        "proof.model.script([{'when': 'a', 'then': [{'text': 'b'}]}])\n"
    )
    assert proven.shown, proven.reason


async def test_a_bend_shows_that_the_guard_is_what_holds(run: Prove) -> None:
    check = (
        "plan, terminal = await proof.launch(denied_tools=('Shell',), env={**proof.env,"
        " 'TOY_NOTE': str(proof.cwd / 'note')})\n"
        "terminal.wait_for('<ready')\n"
        "proof.require('--deny=Shell' in (proof.cwd / 'note').read_text(), 'nothing was denied')\n"
    )
    assert (await run(check)).shown
    proven = await run(check, bend=without("--deny"))
    assert proven.reason == "nothing was denied"


async def test_a_mode_that_there_is_not(run: Prove) -> None:
    with pytest.raises(ValueError, match="has no mode"):
        await run("pass", modes=("hosted",))


@pytest.mark.parametrize(
    ("flags", "left"),
    [
        ((), ("--a", "1", "-b=2", "--c", "x", "y")),
        (("--a",), ("-b=2", "--c", "x", "y")),
        (("-b",), ("--a", "1", "--c", "x", "y")),
        (("--c",), ("--a", "1", "-b=2")),
        (("--a", "--c"), ("-b=2",)),
    ],
)
def test_without(flags: tuple[str, ...], left: tuple[str, ...]) -> None:
    from tests.unit.contract.test_draft import PROMISE

    plan = LaunchPlan(command="x", args=("--a", "1", "-b=2", "--c", "x", "y"), guarantees=PROMISE)
    assert without(*flags)(plan) == replace(plan, args=left)
