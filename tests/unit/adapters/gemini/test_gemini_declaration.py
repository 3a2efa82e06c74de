"""What the package declares about Gemini CLI."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from barry_cli.bags.manifest import read_bag
from barry_cli.registry.check import check_adapter

PACKAGE = Path(__file__).resolve().parents[4] / "adapters" / "gemini" / "barry_adapter_gemini"


def declared() -> Any:
    from barry_adapter_gemini import adapter

    return adapter


def test_the_declarations_hold_up() -> None:
    checked = check_adapter(declared())
    assert checked.problems == []
    assert checked.checked > 0


def test_the_tool_table_has_every_native_tool_and_no_other() -> None:
    bag = read_bag(PACKAGE)
    assert set(bag.tools) == set(declared().native_tools)
    assert {name for names in bag.categories.values() for name in names} <= set(bag.tools)


@pytest.mark.parametrize(
    ("printed", "version"),
    [("0.61.0\n", "0.61.0"), ("a warning\n0.61.0\n", "0.61.0"), ("node v20.1.2\n", None)],
)
def test_the_version_is_found_in_what_it_prints(printed: str, version: str | None) -> None:
    found = re.search(declared().requirements.binary.version_pattern, printed)
    assert (found and found.group(1)) == version


def test_options_take_what_they_say_and_nothing_else() -> None:
    options = declared().options
    jsonschema.validate({"approvalMode": "plan", "extensions": ["one"]}, options)
    for wrong in ({"approvalMode": "auto"}, {"extensions": ["a,b"]}, {"other": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, options)


def test_a_settled_home_logs_in_by_key_and_never_updates(tmp_path: Path) -> None:
    from barry_adapter_gemini.checks import settle

    settle(tmp_path, tmp_path, "key")
    found = json.loads((tmp_path / ".gemini" / "settings.json").read_text("utf-8"))
    assert found["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert found["general"]["enableAutoUpdate"] is False
