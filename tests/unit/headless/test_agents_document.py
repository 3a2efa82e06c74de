"""What the page on agents says is so."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from barry_cli.headless.agent_adapter import UsageKind
from barry_cli.headless.faults import FaultCode
from barry_cli.headless.live import LiveDialogue
from barry_cli.headless.session import LINE_LIMIT
from tests.unit.documents import AGENTS
from tests.unit.headless.toy_agent import config


@pytest.fixture
def named(tmp_path: Path) -> dict[str, Any]:
    """What the page's Python defines."""
    program = tmp_path / "parrot.py"
    names: dict[str, Any] = {"PARROT": str(program)}
    for block in AGENTS.blocks():
        if block.file == program.name:
            program.write_text(block.text)
        elif block.language == "python":
            exec(compile(block.text, block.heading, "exec"), names)  # our own page
    return names


async def test_the_parrot_of_the_page(named: dict[str, Any]) -> None:
    kinds, text, model = await named["ask"](config(), "Hello")
    assert kinds == ["init", "text", "result", "usage", "done"]
    assert (text, model) == ("Hello!", "small-beak")


def test_its_tables_are_whole() -> None:
    tables = AGENTS.tables()
    codes = {row["code"].strip("`") for row in tables["Failures"]}
    assert codes == set(get_args(FaultCode))
    methods = {row["method"].partition("(")[0].strip("`") for row in tables["A dialogue"]}
    assert methods == {name for name in vars(LiveDialogue) if name.islower() and name[0] != "_"}
    for kind in get_args(UsageKind):
        assert f"`{kind}`" in AGENTS.text
    assert f"({LINE_LIMIT // 2**20} MiB" in AGENTS.text
