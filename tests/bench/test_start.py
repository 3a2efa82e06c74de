"""What Barry adds to a turn that it drives: until the harness runs, in memory, and per line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from barry_cli.base.processes import descendants
from tests.bench.measure import Figure, command, race, show
from tests.bench.place import Place, home_with, install
from tests.streams import read_stream, streams_of
from tests.toy import ROOT, Toys, write_harness

pytestmark = pytest.mark.timeout(900)

BASE = "python -c pass"
MOST = 30
"""From the command to the harness's own first instruction, in bare starts of Python."""
LEAST = 0.4
"""Of the lines that ``json.loads`` alone gets through in a time, those that become events."""

# Says when it is there, and ends its turn.
STARTED = (
    '#!/bin/sh\ncase "$1" in --version) echo "toy 1.2.3"; exit;; esac\n'
    'echo >"$TOY_THERE"\necho \'{"id": "toy-1"}\'\necho \'{"done": true}\'\n'
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return install(tmp_path_factory.mktemp("start"))


def until_there(place: Place, env: dict[str, str]) -> Callable[[], float]:
    """The command, up to where the harness itself runs; it is waited for afterwards."""
    there = place.top / "there"
    os.mkfifo(there)
    words = [place.barry, "session", "start", "toy", "hello"]

    def run() -> float:
        began = time.perf_counter()
        child = subprocess.Popen(
            words,
            cwd=place.top,
            env={**env, "TOY_THERE": str(there)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        with there.open() as signal:  # opened once the harness opens it, too
            took = (time.perf_counter() - began) * 1000
            signal.read()
        _, said = child.communicate(timeout=60)
        assert child.returncode == 0, said
        return took

    return run


def test_until_the_harness_runs(place: Place, toys: Toys) -> None:
    env = home_with(place, "driven", [toys.record(modes=("guest", "hosted"))])
    write_harness(place.top / "bin" / "toy", STARTED)
    figures = race(
        {
            BASE: command([place.python, "-c", "pass"], env),
            "start, until the harness runs": until_there(place, env),
        }
    )
    show("a driven turn", figures, BASE)
    ratio = figures["start, until the harness runs"].least / figures[BASE].least
    assert ratio <= MOST


def memory(pid: int) -> int:
    """What a process alone takes up, its share of what it shares included, in KiB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise AssertionError(f"no memory of {pid}")


def test_memory_of_a_running_turn(place: Place, toys: Toys) -> None:
    env = home_with(place, "held", [toys.shipped("demo")])
    child = subprocess.Popen(
        [place.barry, "session", "start", "demo", "run sleep 30", "--json"],
        cwd=place.top,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    assert any('"tool_use"' in line for line in child.stdout)
    time.sleep(0.5)
    pids = [each.pid for each in descendants(child.pid)]
    named = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids}
    harness = {pid for pid, argv in named.items() if b"main.py" in argv or b"sleep" in argv}
    own = memory(child.pid) + sum(memory(pid) for pid in named if pid not in harness)
    its = sum(memory(pid) for pid in harness)
    child.terminate()
    child.communicate(timeout=30)
    print(f"\na running turn: Barry {own / 1024:.1f} MiB, the harness {its / 1024:.1f} MiB")
    assert own > 0
    assert its > 0


def test_lines_become_events() -> None:
    sys.path.insert(0, str(ROOT / "adapters" / "claude"))
    from barry_adapter_claude.events import events

    lines = [line for path in streams_of("claude").values() for line in read_stream(path).lines]
    lines = [line for line in lines if line.startswith("{")] * 5

    def through(read: Callable[[str], object]) -> Callable[[], float]:
        def run() -> float:
            began = time.perf_counter()
            for line in lines:
                read(line)
            return (time.perf_counter() - began) * 1000

        return run

    figures: dict[str, Figure] = race(
        {"json.loads": through(json.loads), "events": through(events)}
    )
    show(f"{len(lines)} lines of a harness", figures, "json.loads")
    assert figures["json.loads"].least / figures["events"].least >= LEAST
