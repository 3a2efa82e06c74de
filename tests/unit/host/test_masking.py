"""What a session was given as a secret is in no record of it."""

from __future__ import annotations

import pytest

from barry_cli.base.secrets import MASK
from barry_cli.contract.events import SessionEvent, Text, ToolResult, ToolUse
from barry_cli.host.masking import Mask

KEY = 'sk-"quoted"-and-long'


@pytest.mark.parametrize(
    "event",
    [
        Text(text=f"the key is {KEY}."),
        ToolResult(id="1", result={"stdout": [f"{KEY}\n"], KEY: 1}),
        ToolUse(id="1", tool="shell", input={"command": f"echo '{KEY}'"}),
    ],
)
def test_a_value_is_masked_wherever_it_stands(event: SessionEvent) -> None:
    masked = Mask([KEY]).event(event)
    assert type(masked) is type(event)
    assert KEY not in str(masked.model_dump())
    assert MASK in str(masked.model_dump())


def test_what_holds_none_is_left_as_it_is() -> None:
    event = Text(text="nothing of it")
    assert Mask([KEY]).event(event) is event
    assert Mask([]).event(event) is event
    # Such values stand in ordinary words, too.
    assert Mask(["true", "1"]).text("true is 1") == "true is 1"
