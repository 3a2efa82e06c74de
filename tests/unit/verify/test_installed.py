"""`barry adapter verify` runs the adapter's own checks, and what held counts at the next launch."""

from __future__ import annotations

import json
from pathlib import Path

from tests.toy import Barry, says, write_adapter, write_harness

HOLDS = """
async def guest(proof):
    plan, terminal = await proof.launch()
    terminal.wait_for("<ready")
    terminal.submit("quit 0")
    proof.require(terminal.ended() == 0, "it ended otherwise")
"""
FAILS = """
async def guest(proof):
    proof.require(False, "the canary was there")
"""


def installed(barry: Barry, folder: Path, check: str) -> Path:
    """A toy of another build than the one that its promises were shown on."""
    write_harness(barry.bin / "toy", version="1.2.4")
    package = write_adapter(folder / "shown", id="shown", aliases=())
    (package / "barry_adapter_shown" / "checks.py").write_text(check)
    added = barry.run("adapter", "add", str(package), "--yes")
    assert added.code == 0, added.err
    return package


def unverified(barry: Barry) -> bool:
    done = barry.run("session", "launch", "shown", "--dry-run", "--json")
    assert done.code == 0, done.err
    told = done.json["plan"]["guaranteesUnverified"]
    assert isinstance(told, bool)
    return told


def test_what_held_here_counts_here(barry: Barry, tmp_path: Path) -> None:
    package = installed(barry, tmp_path, HOLDS)
    assert unverified(barry)
    done = barry.run("adapter", "verify", "shown", "--mode", "guest")
    assert (done.code, done.out) == (0, "shown guest: shown on 1.2.4\n"), done.err
    assert not unverified(barry)
    # Other code has to show it again.
    with (package / "barry_adapter_shown" / "checks.py").open("a") as checks:
        checks.write("# a remark\n")
    assert barry.run("adapter", "add", str(package), "--yes").code == 0
    assert unverified(barry)


def test_what_did_not_hold_does_not(barry: Barry, tmp_path: Path) -> None:
    installed(barry, tmp_path, FAILS)
    done = barry.run("adapter", "verify", "shown", "--mode", "guest")
    assert done.code == 1
    assert done.out == "shown guest: not shown on 1.2.4\n  the canary was there\n"
    assert unverified(barry)
    (check,) = barry.run("adapter", "verify", "shown", "--mode", "guest", "--json").json["checks"]
    assert (check["shown"], check["reason"]) == (False, "the canary was there")


def test_what_cannot_be_run_is_refused(barry: Barry, tmp_path: Path) -> None:
    installed(barry, tmp_path, HOLDS)
    says(barry.run("adapter", "verify", "nobody"), 127, "nobody")
    says(barry.run("adapter", "verify", "shown", "--mode", "sideways"), 2, "sideways")
    says(barry.run("adapter", "verify", "shown", "--mode", "instrumented"), 2, "instrumented")
    (barry.bin / "toy").unlink()
    says(barry.run("adapter", "verify", "shown"), 127, "toy")
    assert json.loads(barry.run("adapter", "verify", "shown", "--json").err)["error"]
