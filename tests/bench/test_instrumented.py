"""What a session that Barry stays beside costs: a message, memory, each call of a tool."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pexpect
import pytest

from tests.bench.measure import command, race, show
from tests.bench.place import Place, install, run
from tests.toy import ROOT

pytestmark = pytest.mark.timeout(900)

BASE = "python -c pass"
MOST_SEND = 14.0
"""How many times a bare start a message may take, until it is safely held."""

AIM_MEMORY_MB = 40
AIM_CALL_MS = 15
CALLS, SESSIONS = 10, 4


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return install(tmp_path_factory.mktemp("instrumented"))


@pytest.fixture(scope="module")
def running(place: Place) -> Iterator[str]:
    """The id of a session of the demo, and its launcher beside it."""
    run(place.barry, "adapter", "add", "demo", cwd=place.top, env=place.env)
    child = pexpect.spawn(
        place.barry,
        ["session", "launch", "demo", "--mode", "instrumented", "--bound", "no-push"],
        env={**place.env, "TERM": "xterm-256color"}, cwd=str(place.top), timeout=60,
        encoding="utf-8", dimensions=(40, 200),
    )  # fmt: skip
    child.expect("you>")
    listed = run(place.barry, "session", "list", "--json", cwd=place.top, env=place.env)
    (session,) = json.loads(listed)["sessions"]
    yield session["id"]
    child.close(force=True)


def test_a_message(place: Place, running: str) -> None:
    send = (place.barry, "session", "send", running, "hello")
    figures = race(
        {
            BASE: command((place.python, "-c", "pass"), place.env),
            "session send": command(send, place.env),
        }
    )
    show("a message, until it is held", figures, BASE)
    assert figures["session send"].least / figures[BASE].least <= MOST_SEND


def test_memory_of_the_launcher(place: Place, running: str) -> None:
    listed = run(place.barry, "session", "show", running, "--json", cwd=place.top, env=place.env)
    harness = json.loads(listed)["session"]["pid"]
    launcher = int(Path(f"/proc/{harness}/stat").read_text().rpartition(")")[2].split()[1])
    status = Path(f"/proc/{launcher}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    megabytes = int(found.group(1)) / 1024
    print(f"\nmemory of a launcher beside its session: {megabytes:.1f} MB (aim {AIM_MEMORY_MB})")


def test_time_added_to_a_tool_call() -> None:
    """In Claude Code: least time from an answer with a call to the request with its result."""
    sys.path.insert(0, str(ROOT / "tests" / "real"))
    from harness import Lab

    took: dict[str, list[float]] = {"guest": [], "instrumented": []}
    cache = ROOT / ".harnesses" / "tmp"
    cache.mkdir(parents=True, exist_ok=True)
    top = Path(tempfile.mkdtemp(prefix="bench-", dir=cache))
    try:
        for number in range(SESSIONS):
            for mode in took:
                lab = Lab("claude", top / f"{mode}-{number}")
                try:
                    took[mode] += _calls(lab, mode)
                finally:
                    lab.close()
    finally:
        shutil.rmtree(top, ignore_errors=True)
    least = {mode: min(seen) for mode, seen in took.items()}
    middle = {mode: statistics.median(seen) for mode, seen in took.items()}
    print("\na call of Claude Code's shell, in its terminal UI")
    for mode in took:
        print(f"  {mode:<12}  {least[mode]:8.1f} {middle[mode]:8.1f} ms")
    added = least["instrumented"] - least["guest"]
    print(f"  added         {added:8.1f} ms (aim {AIM_CALL_MS})")


def _calls(lab: object, mode: str) -> list[float]:
    """How long each call of a session took, in milliseconds."""
    from harness import Lab

    assert isinstance(lab, Lab)
    call = {"tool": "Bash", "input": {"command": "ls", "description": "nothing"}}
    lab.script({"when": "begin", "then": [*[call] * CALLS, {"text": "it is over"}]})
    lab.add()
    env = {
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
        "ANTHROPIC_BASE_URL": lab.server.url("anthropic"),
        "ANTHROPIC_API_KEY": lab.key,
    }
    # In this mode nobody is asked about such a command.
    words = ("--mode", mode, "--option", 'permissionMode="manual"')
    job = lab.launch(*words, env=env)
    job.terminal.wait_for("\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}")
    job.terminal.submit("begin")
    job.terminal.wait_for("it is over")
    times = [
        datetime.fromisoformat(each.time)
        for each in lab.server.model_requests()
        if each.tool_results or "begin" in each.text
    ]
    for _ in range(2):
        job.terminal.type("\x04")
        job.terminal.pump(0.4)
    job.status()
    between = [
        (after - before).total_seconds() * 1000 for before, after in itertools.pairwise(times)
    ]
    assert len(between) >= CALLS
    return between[-CALLS:]
