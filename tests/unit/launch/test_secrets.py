"""Keys of endpoints: where they may go, and where they never are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.toy import Barry, says, written

KEY = "made-up-0123456789abcdef"
ENV = {"TOY_OTHER_KEY": KEY}
MODEL = ("--model", "othervendor/big")


def everything_kept(barry: Barry) -> bytes:
    """The bytes of every file in Barry's home."""
    home = Path(barry.env["BARRY_HOME"])
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


@pytest.mark.parametrize("spec", [{}, {"tmp_dirs": True}])
def test_a_key_is_in_no_argument_and_no_file_of_barrys(barry: Barry, spec: dict[str, bool]) -> None:
    barry.install(**spec, warnings=(f"mind the key {KEY}",))
    child = barry.launch(*MODEL, env=ENV)
    started = barry.started()
    assert started["env"]["TOY_URL"] == "http://127.0.0.1:9/v1"
    assert started["env"]["TOY_ENDPOINT_PASS"] == KEY  # the harness itself has it
    line = Path(f"/proc/{started['pid']}/cmdline").read_bytes()
    child.sendline("quit")
    assert barry.ended(child) == 0
    assert KEY.encode() not in line + everything_kept(barry)
    assert KEY not in written(child)
    assert "mind the key ********" in written(child)


def test_a_dry_run_shows_none(barry: Barry) -> None:
    barry.install(
        warnings=(f"mind the key {KEY}",), planned="", lowers=True, planning=f"pass # {KEY}"
    )
    for more in ((), ("--json",)):
        done = barry.run("session", "launch", "toy", *MODEL, "--dry-run", *more, env=ENV)
        assert done.code == 0
        assert KEY not in done.out + done.err
        assert "mind the key ********" in done.out


def test_a_plan_with_a_secret_in_its_arguments_is_refused(barry: Barry) -> None:
    barry.install(planning="draft.args.append('--key=' + draft.secrets[0])")
    with barry.leaves_nothing():
        done = barry.refused("session", "launch", "toy", *MODEL, env=ENV)
        says(done, 2, "an argument holds a secret", "fault of the adapter")
    assert KEY not in done.err


def test_what_the_user_types_is_the_users_to_show(barry: Barry) -> None:
    child = barry.launch(*MODEL, "--", KEY, env=ENV)
    assert barry.started()["argv"][-1] == KEY
    child.sendline("quit")
    barry.ended(child)
    shown = barry.run("session", "launch", "toy", *MODEL, "--dry-run", "--", KEY, env=ENV)
    assert KEY not in shown.out


def test_a_crash_log_has_none(barry: Barry) -> None:
    """Whatever the failure says, and wherever in the environment the key was."""
    code = (
        "import sys; from barry_cli.launch import prepare, modes\n"
        f"def fail(*a, **k): raise ZeroDivisionError('with {KEY} and typed-in-value')\n"
        "prepare.choose_mode = fail\n"
        "from barry_cli.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    words = ("session", "launch", "toy", *MODEL, "--option", 'theme="typed-in-value"', "--dry-run")
    done = barry.run(*words, env=ENV, python=("-c", code))
    says(done, 125, "ZeroDivisionError", "the log is", "report it")
    (log,) = barry.folders.crashes.iterdir()
    assert str(log) in done.err
    text = log.read_text()
    assert "ZeroDivisionError: with ******** and" in text
    assert "barry 0" in text
    assert "verb session launch" in text
    assert KEY not in text
    assert log.stat().st_mode & 0o777 == 0o600
    told = barry.run(*words, "--json", env=ENV, python=("-c", code))
    assert told.error["code"] == "internal"
    assert Path(told.error["details"]["log"]).is_file()


def test_a_crash_whose_log_can_not_be_written(barry: Barry) -> None:
    code = "import sys; from barry_cli.cli import app, session\n"
    code += "import barry_cli.groundwork.living as l\nl.all_sessions = None\n"
    code += "sys.exit(app.run(sys.argv[1:]))"
    (Path(barry.env["BARRY_HOME"]) / "state").write_text("a file stands there")
    done = barry.run("session", "list", python=("-c", code))
    says(done, 125, "TypeError", "its log could not be written")


# --- endpoints that can't be ---


def test_a_harness_that_reaches_only_its_own_vendor(barry: Barry) -> None:
    barry.install(endpoint="fixed")
    says(
        barry.refused("session", "launch", "toy", *MODEL, env=ENV),
        2,
        "reaches only toyco",
        "toyco/MODEL",
    )
    own = barry.run("session", "launch", "toy", "--model", "toyco/big", "--dry-run", env=ENV)
    assert own.code == 0


@pytest.mark.parametrize("model", ["keyless/big", "othervendor/big"])
def test_a_login_is_never_sent_elsewhere(barry: Barry, model: str) -> None:
    """No key, or an empty one, and the harness would fall back to the user's own login."""
    barry.install(without_key="subscription-oauth")
    env = {"TOY_OTHER_KEY": ""}
    with barry.leaves_nothing():
        done = barry.refused("session", "launch", "toy", "--model", model, env=env)
        says(done, 2, "comes without a key", "your own login", "made-up")
    # One that sends nothing without a key may go there.
    barry.install(without_key="unauthenticated")
    assert barry.run("session", "launch", "toy", "--model", model, "--dry-run", env=env).code == 0


def test_a_vendor_whose_adapter_is_broken_is_named(barry: Barry) -> None:
    barry.install(id="carrier", aliases=())
    barry.install(vendors=False)
    assert barry.run("session", "launch", "toy", *MODEL, "--dry-run", env=ENV).code == 0
    rows = json.loads(barry.folders.registry.read_text())
    for row in rows["adapters"]:
        if row["id"] == "carrier":
            row["path"] = "/nowhere"
    barry.folders.registry.write_text(json.dumps(rows))
    done = barry.run("session", "launch", "toy", *MODEL, "--dry-run", env=ENV)
    says(done, 2, "where othervendor's models are reached", "its package is gone")
