"""The adapters that travel with Barry are found, and nothing else is taken for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from barry_cli.registry import shipped
from barry_cli.registry.shipped import shipped_ids, shipped_path, shipped_root


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up place for Barry's own package."""
    package = tmp_path / "site/barry_cli"
    package.mkdir(parents=True)
    monkeypatch.setattr(shipped, "_HERE", str(package))
    return package


def put(folder: Path, *ids: str) -> None:
    for name in ids:
        (folder / name).mkdir(parents=True)
        (folder / name / "pyproject.toml").write_text("")


def test_there_may_be_none(here: Path) -> None:
    assert (shipped_root(), shipped_ids(), shipped_path("demo")) == (None, [], None)


def test_a_source_tree_has_them_beside_the_package(here: Path) -> None:
    put(here.parent / "adapters", "demo", "toy")
    (here.parent / "adapters/notes").mkdir()
    assert shipped_root() == str(here.parent / "adapters")
    assert shipped_ids() == ["demo", "toy"]
    assert shipped_path("toy") == str(here.parent / "adapters/toy")
    assert shipped_path("notes") is None
    assert shipped_path("../adapters/toy") is None


def test_a_wheel_has_them_inside_and_they_come_first(here: Path) -> None:
    put(here.parent / "adapters", "demo")
    put(here / "_shipped", "demo", "toy")
    assert shipped_root() == str(here / "_shipped")


def test_a_folder_that_is_only_called_adapters_is_not_theirs(here: Path) -> None:
    put(here.parent / "adapters", "toy")
    assert shipped_root() is None
