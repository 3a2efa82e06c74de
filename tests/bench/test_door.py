"""What a ruling costs: in a harness's hook, and typed by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.measure import command, race, show
from tests.bench.place import Place, install, run

pytestmark = pytest.mark.timeout(900)

ROUNDS = 81
BASE = "python -c pass"
# The aims: a hook takes no longer than Python's own start, whatever ordinary line it rules on; a
# check takes 1.3 times that. Above them a twentieth for what a busy machine adds. A line of five
# programs is still on the way there.
MOST = {
    "hook, a line of five": 1.15,
    "hook, a pipeline": 1.05,
    "hook, a command": 1.05,
    "hook, a file": 1.0,
    "bound check": 1.35,
}

BOUND = """
[bash]
denyPrograms = ["git:push", "gh:pr:merge", "docker", "sudo"]
[files]
deny = [".env", "secrets/**", "~/.ssh/**", "*.pem"]
"""
PIPE = "cd web && npm run build 2>&1 | tail -n 20"
LINE = "cd src && git status --short | head -n 20 && python -m pytest -q tests 2>&1 | tail -n 5"

# What a launch does, by the installed Barry.
LAUNCHED = """
import sys, tomllib
from pathlib import Path
from barry_cli.bags.manifest import read_bag
from barry_cli.base.paths import folders
from barry_cli.hook.install import install
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.schema import parse_bound
from barry_cli.registry.shipped import shipped_path
(packages,) = Path(shipped_path("claude")).glob("barry_adapter_*")
bag = read_bag(packages)
policy = compile_policy(
    parse_bound(tomllib.loads(sys.argv[1])), root=".", harness="claude", tools=bag.tools,
    floor=floor_patterns(folders()),
)
print(install(Path("session").absolute(), policy, bag.formats.values()).command)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return install(tmp_path_factory.mktemp("door"))


def event(place: Place, tool: str, given: dict[str, str], name: str = "") -> int:
    """A file with an event, open for reading."""
    path = place.top / f"{name or tool}.json"
    said = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given,
            "cwd": str(place.top), "session_id": "s", "tool_use_id": "t"}  # fmt: skip
    path.write_text(json.dumps(said), encoding="utf-8")
    return os.open(path, os.O_RDONLY)


def from_its_start(said: int, call: Callable[[], float]) -> Callable[[], float]:
    def run() -> float:
        os.lseek(said, 0, os.SEEK_SET)
        return call()

    return run


def test_ruling(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    env = place.home("ruling")
    monkeypatch.chdir(place.top)
    Path(".barry").mkdir()
    Path(".barry", "bound.toml").write_text(BOUND, encoding="utf-8")
    hook = run(place.python, "-c", LAUNCHED, BOUND, cwd=place.top, env=env).strip()
    check = [place.barry, "bound", "check", "--command", LINE]
    for _ in range(2):
        assert run(*check, cwd=place.top, env=env) == "allowed\n"
    line = event(place, "Bash", {"command": LINE})
    pipe = event(place, "Bash", {"command": PIPE}, "pipe")
    short = event(place, "Bash", {"command": "git status --short"}, "short")
    file = event(place, "Read", {"file_path": str(place.top / "README.md")})
    shell = ["/bin/sh", "-c", hook]
    figures = race(
        {
            BASE: command([place.python, "-c", "pass"], env),
            "hook, a line of five": from_its_start(line, command(shell, env, stdin=line)),
            "hook, a pipeline": from_its_start(pipe, command(shell, env, stdin=pipe)),
            "hook, a command": from_its_start(short, command(shell, env, stdin=short)),
            "hook, a file": from_its_start(file, command(shell, env, stdin=file)),
            "bound check": command(check, env),
            "barry --version": command([place.barry, "--version"], env),
        },
        rounds=ROUNDS,
    )
    show(f"one ruling, least and median of {ROUNDS}", figures, BASE)
    for each in (line, pipe, short, file):
        os.close(each)
    base = figures[BASE].least
    over = {
        name: round(figures[name].least / base, 2)
        for name, limit in MOST.items()
        if figures[name].least > limit * base
    }
    assert not over, over
