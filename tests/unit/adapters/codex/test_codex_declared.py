"""What the package declares holds together, and its files say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from codex_samples import ROOT

import barry_adapter_codex
from barry_adapter_codex import BUILD, adapter
from barry_adapter_codex.tools import NATIVE_TOOLS
from barry_cli.bags.manifest import read_bag
from barry_cli.registry.check import check_adapter

PACKAGE = ROOT / "adapters" / "codex"


def test_the_adapter_holds_up() -> None:
    bag = read_bag(Path(barry_adapter_codex.__file__).parent)
    checked = check_adapter(adapter, bag_manifest=bag, package=barry_adapter_codex)
    assert checked.problems == []
    assert checked.checked > 100


def test_the_bag_has_a_row_for_every_tool() -> None:
    bag = read_bag(Path(barry_adapter_codex.__file__).parent)
    assert set(bag.tools) == set(NATIVE_TOOLS)


def test_the_entry_point_is_the_adapter() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["barry.adapters"] == {"codex": "barry_adapter_codex:adapter"}


def test_the_version_is_read_from_what_codex_prints() -> None:
    pattern = adapter.requirements.binary.version_pattern
    found = re.search(pattern, f"codex-cli {BUILD}\n")
    assert found is not None
    assert found[1] == BUILD


def test_the_readme_names_the_build_and_what_stays() -> None:
    readme = (PACKAGE / "README.md").read_text()
    assert BUILD in readme
    mode = adapter.modes["guest"]
    assert mode is not None
    assert mode.native is not None
    for tool in mode.native.uncontrolled or {}:
        assert f"`{tool}`" in readme, tool
