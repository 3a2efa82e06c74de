from __future__ import annotations

import subprocess
import sys

import pytest

from barry_cli.base.problems import HarnessVersionMismatch
from barry_cli.contract.requirements import Pin
from barry_cli.registry.builds import judge, require_family

PIN = Pin(version="2.1.0", enforced_by="nothing")


@pytest.mark.parametrize(
    ("observed", "verified_on", "family", "judgement"),
    [
        ("2.1.0", "2.1.0", None, "verified"),
        ("v2.1", "2.1.0", None, "verified"),
        ("2.1.1", "2.1.0", None, "unverified"),
        ("2.9.0", "2.1.0", None, "unverified"),
        ("2.1.0-nightly.20260101", "2.1.0", None, "unverified"),
        ("2.1.0-nightly.20260101", "2.1.0-nightly.20260101", None, "verified"),
        ("2.1.0+build.7", "2.1.0", None, "unverified"),
        ("2.1.0rc1", "2.1.0", None, "unverified"),
        ("3.0.0", "2.1.0", None, "mismatch"),
        ("1.9.9", "2.1.0", None, "mismatch"),
        ("0.61.5", "0.61.0", None, "unverified"),
        ("0.62.0", "0.61.0", None, "mismatch"),
        ("1.61.0", "0.61.0", None, "mismatch"),
        ("2.1.5", "2.1.0", ">=2.1,<2.2", "unverified"),
        ("2.2.0", "2.1.0", ">=2.1,<2.2", "mismatch"),
        ("3.0.0", "2.1.0", ">=2.1", "unverified"),
        ("2.1.1rc1", "2.1.0", ">=2.1", "unverified"),
        ("2.1.5", "2.1.0", "about two", "mismatch"),
        (None, "2.1.0", None, "unknown"),
        ("unreleased", "2.1.0", None, "mismatch"),
        ("2.1.0", "unreleased", None, "mismatch"),
        ("2x1", "2.1.0", None, "mismatch"),
        ("", "2.1.0", None, "mismatch"),
    ],
)
def test_judge(observed: str | None, verified_on: str, family: str | None, judgement: str) -> None:
    pin = Pin(version=verified_on, enforced_by="nothing", family=family)
    assert judge(observed, verified_on, pin) == judgement


def test_a_mismatch_names_both_and_the_way_on() -> None:
    with pytest.raises(HarnessVersionMismatch) as caught:
        require_family("tool", "/bin/tool", "3.0.0", "2.1.0", PIN)
    problem = caught.value
    assert "3.0.0" in str(problem)
    assert "2.1.0" in str(problem)
    assert "--allow-unverified-build" in problem.hint
    assert (problem.adapter_id, problem.binary) == ("tool", "/bin/tool")
    assert (problem.observed, problem.verified_on) == ("3.0.0", "2.1.0")
    assert problem.exit_code == 126


def test_a_mismatch_may_be_allowed_and_is_then_unverified() -> None:
    asked = ("tool", "/bin/tool", "3.0.0", "2.1.0", PIN)
    assert require_family(*asked, allow_unverified=True) == "unverified"


@pytest.mark.parametrize(
    ("observed", "judgement"), [("2.1.0", "verified"), ("2.2.0", "unverified"), (None, "unknown")]
)
def test_the_rest_passes(observed: str | None, judgement: str) -> None:
    assert require_family("tool", "/bin/tool", observed, "2.1.0", PIN) == judgement


def test_equal_builds_cost_no_import() -> None:
    code = (
        "import sys; from barry_cli.registry.builds import judge;"
        "from barry_cli.contract.requirements import Pin;"
        "pin = Pin(version='1', enforced_by='x');"
        "judge('1.0', '1.0', pin); print('packaging' in sys.modules);"
        "judge('1.1', '1.0', pin); print('packaging' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert said.stdout.split() == ["False", "True"]
