"""The models that a harness can be asked for, and the other program that an adapter may name."""

from __future__ import annotations

import os

import pytest

from barry_cli.base.problems import Refused
from barry_cli.groundwork import models
from barry_cli.registry.adapters import Adapters
from tests.toy import Barry, says

LIST = ("adapter", "models", "toy")


def test_what_the_harness_says(barry: Barry) -> None:
    barry.install(models="['toyco/b', 'toyco/\\x1b[2Ja', env['TOY_X']]")
    done = barry.run(*LIST, env={"TOY_X": "seen", "OTHER_TOKEN": "x"})
    assert done.out == "toyco/b\ntoyco/\N{REPLACEMENT CHARACTER}[2Ja\nseen\n"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"listing": "raise ValueError('no account')"}, "no account"),
        ({"listing": "raise KeyError"}, "KeyError"),
        ({"listing": "raise SystemExit(4)"}, "4"),
        ({"models": "[1]"}, "something else than names"),
        ({"models": "None"}, "not iterable"),
        ({"listing": "raise ValueError('with ' + env['TOY_KEY'])"}, "with ********"),
        ({"models": "env['OTHER_TOKEN']"}, "OTHER_TOKEN"),
    ],
)
def test_a_harness_that_fails_to_say(barry: Barry, spec: dict[str, str], said: str) -> None:
    barry.install(**{"models": "[]", **spec})
    env = {"TOY_KEY": "made-up-key", "OTHER_TOKEN": "made-up-token"}
    done = barry.run(*LIST, env=env)
    says(done, 2, "could not list its models", said, "barry adapter doctor toy")
    assert "made-up" not in done.err


async def test_one_that_never_answers(barry: Barry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "LIST_SECONDS", 0.1)
    adapter = await Adapters().load("toy")

    async def never(env: object) -> list[str]:
        import asyncio

        await asyncio.sleep(60)
        return []

    with pytest.raises(Refused, match=r"no answer in 0\.1 s"):
        await models._told_by_the_harness(adapter, never, os.environ)


def test_what_its_vendor_lists(barry: Barry) -> None:
    barry.install(vendor="othervendor")
    assert barry.run(*LIST, "--json").json == {"schema": 1, "models": ["othervendor/big"]}


def test_nobody_can_say(barry: Barry) -> None:
    says(barry.run(*LIST), 2, "no installed adapter lists toyco's", "--model toyco/MODEL")


@pytest.mark.parametrize(
    ("other", "code", "said"),
    [
        ("'/opt/toy'", 0, "other program   /opt/toy"),
        ("1 / 0", 2, "failed to name its program: division by zero"),
        ("__import__('sys').exit(3)", 2, "failed to name its program"),
    ],
)
def test_the_other_program(barry: Barry, other: str, code: int, said: str) -> None:
    barry.install(other=other)
    done = barry.run("adapter", "show", "toy")
    assert done.code == code
    assert said in done.out + done.err
