"""Every adapter that travels with Barry keeps to the published suite."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from barry_cli.testing import AdapterSuite, conformance_checks

ROOT = Path(__file__).resolve().parents[3]
IDS = sorted(path.parent.name for path in ROOT.glob("adapters/*/pyproject.toml"))
CHECKS = [
    name.removeprefix("test_")
    for name in vars(AdapterSuite)
    if name.startswith("test_") and name != "test_package_passes_every_check"
]


@functools.cache
def checks(name: str) -> dict[str, Callable[[], None]]:
    return conformance_checks(ROOT / "adapters" / name)


def test_there_are_some() -> None:
    assert IDS


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("check", CHECKS)
def test_conformance(name: str, check: str) -> None:
    checks(name)[check]()
