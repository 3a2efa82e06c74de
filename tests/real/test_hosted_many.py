"""Twenty driven turns of one harness at once, on one home."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import Lab, package_of
from hosted import HostedLab, Rulings, Turn

MANY = 20
APIS = {
    "claude": "anthropic",
    "codex": "openai-responses",
    "gemini": "gemini",
    "opencode": "openai-chat",
    "pi": "openai-chat",
    "qwen": "openai-chat",
}
MODELS = {"gemini": "google/gemini-2.5-pro", "qwen": "openai/scripted-model"}


@pytest.fixture(params=sorted(APIS))
def hosted(request: pytest.FixtureRequest, lab: Callable[[str], Lab]) -> HostedLab:
    here = lab(request.param)
    package = package_of(request.param).__name__
    checks = importlib.import_module(f"{package}.checks")
    told = subprocess.run(
        [here.program, "--version"], env=here.env, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    here.figures.version = re.findall(r"\d+\.\d+\.\d+", told.stdout + told.stderr)[0]
    here.script({"when": "a question", "then": [{"text": "the answer"}]})
    quiet = {**getattr(checks, "QUIET", {}), **getattr(checks, "NO_NETWORK", {})}
    return HostedLab(
        here,
        importlib.import_module(f"{package}.hosted").agent,
        api=APIS[request.param],
        env=quiet if request.param != "pi" else {"PI_OFFLINE": "1"},
        model=MODELS.get(request.param) or getattr(checks, "MODEL", None),
    )


@pytest.mark.long
async def test_all_finish_and_no_file_is_spoilt(hosted: HostedLab) -> None:
    async def one(number: int) -> Turn:
        async with hosted.open(
            decide=Rulings(), keep=False, idle_seconds=200, deadline_seconds=250
        ) as harness:
            return await hosted.turn(harness, f"a question, number {number}")

    turns = await asyncio.gather(*(one(number) for number in range(MANY)))
    assert [turn.called for turn in turns] == ["done"] * MANY
    assert all("the answer" in turn.text for turn in turns)
    assert await hosted.gone() == []
    for path in settings_in(hosted.lab.home):
        text = path.read_text("utf-8")
        json.loads(text) if path.suffix == ".json" else tomllib.loads(text)


def settings_in(home: Path) -> Iterator[Path]:
    """The harness's own files that a person would call its settings."""
    for path in home.rglob("*"):
        plain = path.is_file() and not path.is_symlink() and "node_modules" not in path.parts
        if plain and path.suffix in (".json", ".toml") and path.stat().st_size:
            yield path
