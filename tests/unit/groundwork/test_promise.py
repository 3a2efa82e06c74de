"""What a start promises, and what is refused because it doesn't."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from barry_cli.base.problems import GuaranteeNotMet, UsageProblem
from barry_cli.contract.guarantees import Guarantees
from barry_cli.groundwork.promise import (
    hidden_values,
    lowered_as_text,
    meant,
    refuse_less,
    together,
)
from barry_cli.groundwork.request import LaunchRequest

HAVE = Guarantees(
    capture="total",
    delivery="wake",
    gating="static",
    identity="inherent",
    interrupt=True,
    keeps_vendor_ui=False,
    steer=False,
)


def asked(allow: bool = False, **require: str) -> LaunchRequest:
    return LaunchRequest(adapter="toy", require=require, allow_unverified_build=allow)


@pytest.mark.parametrize("level", ["none", "static"])
def test_enough_is_enough(level: str) -> None:
    refuse_less(asked(gating=level), HAVE, {}, unverified=False)


def test_less_is_refused_with_its_reason() -> None:
    with pytest.raises(GuaranteeNotMet, match="gating static, and per-call is required: worn out"):
        refuse_less(asked(gating="per-call"), HAVE, {"gating": "worn out"}, unverified=False)


def test_what_was_not_shown_counts_as_none() -> None:
    with pytest.raises(GuaranteeNotMet, match="none was shown to hold"):
        refuse_less(asked(gating="static"), HAVE, {}, unverified=True)
    refuse_less(asked(gating="static", allow=True), HAVE, {}, unverified=True)
    refuse_less(asked(), HAVE, {}, unverified=True)


@pytest.mark.parametrize("require", [{"gating": "firm"}, {"warmth": "high"}])
def test_what_is_no_guarantee(require: dict[str, str]) -> None:
    with pytest.raises(UsageProblem, match="--require"):
        refuse_less(asked(**require), HAVE, {}, unverified=False)


def test_what_is_lower_is_said() -> None:
    assert lowered_as_text(HAVE, {"gating": "it is worn out"}) == [
        "gating is only static in this launch: it is worn out"
    ]


def test_an_id_that_was_completed_is_said() -> None:
    adapter: Any = SimpleNamespace(id="toy", aliases=("oldtoy",))
    assert meant("toy", adapter) is None
    assert meant("oldtoy", adapter) is None
    assert meant("t", adapter) == "t was taken for toy"


@pytest.mark.parametrize(
    ("off", "denied", "said"),
    [
        (("Write", "Edit"), ("Write",), "Edit can only be switched off together"),
        (("Write", "Edit"), ("Write", "Edit"), None),
        (("Write", "Edit"), (), None),
        (("Read",), ("Read",), None),
    ],
)
def test_what_goes_off_with_it(
    off: tuple[str, ...], denied: tuple[str, ...], said: str | None
) -> None:
    config: Any = SimpleNamespace(denied_tools=off)
    mode: Any = SimpleNamespace(native=SimpleNamespace(inseparable=(("Write", "Edit"),)))
    told = together(config, denied, mode)
    assert told is None if said is None else said in (told or "")


def test_which_values_no_text_may_show() -> None:
    env = {"MY_TOKEN": "one", "PLAIN": "two", "API_KEY": "three"}
    assert sorted(hidden_values(env, ["four"])) == ["four", "one", "three"]
