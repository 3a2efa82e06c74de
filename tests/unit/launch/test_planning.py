"""An adapter's plan is held to its mode's promise, and to what can be started at all."""

from __future__ import annotations

import pytest

from tests.toy import Barry, says

REFUSED = {
    "'a plan'": "it is a str, not a LaunchPlan",
    "replace(plan, guarantees=more)": "it promises more than its mode in steer",
    "replace(plan, guarantees=less)": "it lowers gating without a reason",
    "replace(plan, guarantees=woken, lowered={'delivery': ''})": "more than its mode in delivery",
    "replace(plan, args=('a\\0b',))": "holds a NUL",
    "replace(plan, args=('a\\ud800b',))": "not UTF-8",
    "replace(plan, harness_session_id='\\ud800')": "not UTF-8",
    "replace(plan, command='a\\0b')": "holds a NUL",
    "replace(plan, env={'TOY_A': 'a\\0b'})": "holds a NUL",
    "replace(plan, env={'TOY\\0A': 'a'})": "holds a NUL",
    "replace(plan, env={'': 'a'})": "the name of a variable is empty or holds '='",
    "replace(plan, env={'A=B': 'a'})": "the name of a variable is empty or holds '='",
    "replace(plan, cwd='/nowhere')": "/nowhere, which is no folder",
}

PRELUDE = """
from dataclasses import replace
more = GUARANTEES.model_copy(update={"steer": True})
less = GUARANTEES.model_copy(update={"gating": "none"})
woken = GUARANTEES.model_copy(update={"delivery": "wake"})
"""


@pytest.mark.parametrize("plan", REFUSED)
def test_a_plan_that_can_not_be(barry: Barry, plan: str) -> None:
    barry.install(tmp_dirs=True, planned=f"{PRELUDE}plan = {plan}")
    with barry.leaves_nothing():
        done = barry.refused("session", "launch", "toy")
        says(done, 2, "the plan of adapter toy is refused", REFUSED[plan], "fault of the adapter")


def test_a_promise_taken_back_with_a_reason_passes(barry: Barry) -> None:
    planned = f"{PRELUDE}plan = replace(plan, guarantees=less, lowered={{'gating': 'worn'}})"
    barry.install(planned=planned)
    plan = barry.run("session", "launch", "toy", "--dry-run", "--json").json["plan"]
    assert plan["lowered"] == {"gating": "worn"}


def test_a_folder_of_the_plans_own(barry: Barry) -> None:
    barry.install(planned=f"{PRELUDE}plan = replace(plan, cwd='/')")
    child = barry.launch()
    started = barry.started()
    assert (started["cwd"], started["env"]["PWD"]) == ("/", "/")
    child.sendline("quit")
    barry.ended(child)


def test_what_goes_off_together_is_said(barry: Barry) -> None:
    barry.install()

    def notes(tool: str) -> str:
        done = barry.run("session", "launch", "toy", "--deny-tool", tool, "--dry-run", "--json")
        return " ".join(done.json["plan"]["notes"])

    assert "Edit can only be switched off together" in notes("Write")
    assert "together" not in notes("Shell")


@pytest.mark.parametrize(
    ("planning", "why"),
    [
        ("draft.args.append(f'--key={config.instrument.key}')", "an argument holds a secret"),
        ("draft.env['TOY_KEY'] = config.instrument.key", "a variable holds the session's key"),
    ],
)
def test_the_key_of_a_session_stays_out_of_what_others_read(
    barry: Barry, planning: str, why: str
) -> None:
    barry.install(modes=("guest", "instrumented"), planning=planning)
    with barry.leaves_nothing():
        launch = ("session", "launch", "toy", "--mode", "instrumented", "--dry-run")
        says(barry.run(*launch), 2, why)
