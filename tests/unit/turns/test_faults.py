"""A process that executes turns is killed at every moment; the next loses and repeats nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from barry_cli.turns.store.database import connect
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.turn_harness import CANARY, REVIEW, SESSION, add_session, call, descriptor
from tests.turn_worker import WANTED, home

ROOT = Path(__file__).resolve().parents[3]
COMMITS_AT_LEAST = 25
MEMORY = Path("/dev/shm")  # what a killed process wrote stays anywhere; here it is quick


class Server:
    """The server of processes, once for all deaths."""

    def __init__(self, errors: Path) -> None:
        self._errors = errors.open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.turn_worker"], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip

    def run(self, place: Place, **order: Any) -> int:
        self.order(place, **order)
        return self.status()

    def order(self, place: Place, **order: Any) -> None:
        assert self._process.stdin is not None
        line = {"home": str(place.home), "top": str(place.top), **order}
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def status(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()

    def close(self) -> None:
        self._process.communicate(timeout=30)
        self._errors.close()


class Place:
    """A Barry home with one session, and what is observed of it."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = top / "barry"
        top.mkdir()
        add_session(Sessions(home(self.home)))

    def lines(self, what: str) -> list[str]:
        path = self.top / what
        return path.read_text().splitlines() if path.exists() else []

    def acknowledged(self, kind: str) -> list[Any]:
        said = [json.loads(line) for line in self.lines("acknowledged")]
        return [what for each, what in said if each == kind]

    def forget(self) -> None:
        shutil.rmtree(self.top)


@pytest.fixture(scope="module")
def top() -> Iterator[Path]:
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="barry-faults-", dir=where))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def server(top: Path) -> Iterator[Server]:
    made = Server(top / "errors")
    yield made
    made.close()


def at_work(moments: list[str], *, exact: bool = True) -> bool:
    """Whether a harness was at work on a turn when its process died.

    It is from the claim that takes the turn up, after its handle was opened, until a commit says
    how it ended or that it is put down. Not ``exact``: the last moment's commit may have been made.
    """
    opened = taken = False
    for each in moments:
        if each == "at open":
            opened = True
        elif each == "after claim":
            taken = opened
        elif each in ("after pause", "after finish"):
            opened = taken = False
    return taken or (not exact and opened and moments[-1] == "before claim")


def split(moments: list[str], every: int) -> list[list[str]]:
    """The moments of each process that died."""
    return [moments[at : at + every] for at in range(0, len(moments), every)] if every else []


def check(place: Place, died: list[str], *, every: int = 0, exact: bool = True) -> Counter[str]:
    """Everything that must hold after a death and a recovery; the states of the turns."""
    said = f"died at {died[-1] if died else 'the beginning'} ({len(died)})"
    with closing(SqliteTurnStore(home(place.home))) as store:
        turns = store.list_turns(SESSION)
        events = store.events(SESSION)
        assert store.orphans() == [], said
        assert store.runnable() == [], said
    states = Counter(turn.state for turn in turns)
    # All turns ended; one may need a person, if it was at work when its process died.
    assert len(turns) == len(WANTED), said
    for turn in turns[:-1]:
        assert turn.state in ("completed", "recovery_required"), (said, turn)
    assert turns[-1].state in ("cancelled", "recovery_required"), (said, turns[-1])
    assert {turn.id for turn in turns if turn.state == "cancelled"} >= set(
        place.acknowledged("cancelled")
    ), said
    lost = sum(at_work(each, exact=exact) for each in split(died, every or len(died)))
    assert states["recovery_required"] <= lost, (said, states)
    # Nothing ran twice. What may have run is uncertain, and didn't run again.
    with closing(connect(home(place.home).database)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone()[0] == "ok", said
        calls = dict(connection.execute("SELECT id, state FROM call").fetchall())
    effects = Counter(place.lines("effects"))
    for call_id, state in calls.items():
        expected = {"completed": (1,), "uncertain": (0, 1)}.get(state, (0,))
        assert effects[call_id] in expected, (said, call_id, state, effects)
    assert set(effects) <= set(calls), said
    assert "executing" not in calls.values(), said
    assert effects["c2"] == 0, said  # it was denied
    if states["recovery_required"] == 0:
        assert effects == {"c1": 1, "c3": 1, "c4": 1, "c5": 1}, (said, effects)
    # Nothing began twice.
    handles = Counter(place.lines("handles"))
    assert max(handles.values()) == 1, (said, handles)
    # The log has no gap, one end for each turn, and one request for each interrupt.
    assert [each.sequence for each in events] == list(range(1, len(events) + 1)), said
    status = {each.call.id: each.status for turn in turns for each in turn.interrupts}
    kept = {"c5"} if status.get("c4") == "approved" else set[str]()
    for turn in turns:
        own = [each.event for each in events if each.turn_id == turn.id]
        kinds = [each["type"] for each in own]
        assert kinds.count("done") == 1, (said, kinds)
        assert kinds[-1] == "done", (said, kinds)
        last = {"completed": "usage", "recovery_required": "error"}
        assert kinds[-2] == last.get(turn.state, "permission_request"), (said, kinds)
        asked = Counter(each["id"] for each in own if each["type"] == "permission_request")
        assert asked == Counter({each.call.id for each in turn.interrupts} - kept), (said, asked)
    # What somebody was told is recorded is there.
    log = [json.dumps(dict(each.event), sort_keys=True) for each in events]
    for event in place.acknowledged("event"):
        assert json.dumps(event, sort_keys=True) in log, (said, event)
    assert {turn.id for turn in turns} >= set(place.acknowledged("turn")), said
    status = {each.id: each.status for turn in turns for each in turn.interrupts}
    for interrupt, allowed in place.acknowledged("decision"):
        assert status[interrupt] == ("approved" if allowed else "denied"), (said, status)
    assert CANARY not in "".join(log) + "".join(each.model_dump_json() for each in turns)
    return states


def test_a_death_at_every_moment(top: Path, server: Server) -> None:
    whole = Place(top / "whole")
    assert server.run(whole) == 0, server.errors()
    moments = whole.lines("moments")
    assert check(whole, []) == {"completed": 2, "cancelled": 1}
    commits = [each for each in moments if each.startswith("before ")
               and each not in ("before effect", "before close")]  # fmt: skip
    assert len(commits) >= COMMITS_AT_LEAST
    began = time.monotonic()
    ends: Counter[str] = Counter()
    for number, name in enumerate(moments, 1):
        place = Place(top / f"moment-{number}")
        assert server.run(place, kill=number) == -signal.SIGKILL, server.errors()
        died = place.lines("moments")
        assert (len(died), died[-1]) == (number, name)
        assert server.run(place) == 0, (name, server.errors())
        ends += check(place, died)
        place.forget()
    print(f"\n{len(commits)} commits, {len(moments)} moments to die at "
          f"({time.monotonic() - began:.1f} s): {dict(ends)}")  # fmt: skip
    # Only a turn that was at work needs a person: those that were put down all went on.
    assert ends["completed"] > ends["recovery_required"] > 0


def test_deaths_during_the_recovery_too(top: Path, server: Server) -> None:
    """Whoever recovers may die as well, and again."""
    ends: Counter[str] = Counter()
    for number in range(2, 34, 4):
        place = Place(top / f"again-{number}")
        died: list[str] = []
        for _ in range(6):
            if server.run(place, kill=number) == 0:
                break
            seen = place.lines("moments")
            assert len(seen) == len(died) + number
            died = seen
        assert server.run(place) == 0, server.errors()
        ends += check(place, died, every=number)
        place.forget()
    assert ends["completed"] > 0


def test_decisions_that_race(top: Path, server: Server) -> None:
    """Several processes decide at once: one decision counts, and one process goes on with it."""
    verdicts = Counter[bool]()
    for number in range(8):
        place = Place(top / f"race-{number}")
        with closing(SqliteTurnStore(home(place.home))) as store:
            turn = store.admit(
                session_id=SESSION, request_id="q", run_id="r", actor="ada", content="race",
                policy=REVIEW,
            )  # fmt: skip
            assert store.claim(SESSION, turn.id, "me")
            kept = {"at": 0, "content": "race", "turns": 0, "why": CANARY}
            store.pause(SESSION, turn.id, "me", descriptor(kept), [call("c6"), call("c7")])
            store.released(SESSION, turn.id, "me")
        assert server.run(place, racers=4) == 0, server.errors()
        with closing(SqliteTurnStore(home(place.home))) as store:
            turn = store.snapshot(SESSION, turn.id)
            kinds = [each.event["type"] for each in store.events(SESSION)]
        assert turn.state == "completed", turn
        (won, *others) = place.acknowledged("decision")
        verdicts[won[1]] += 1
        assert all(each[1] == won[1] for each in others)  # who says the same is not refused
        status = "approved" if won[1] else "denied"
        assert [each.status for each in turn.interrupts] == [status] * 2
        assert place.lines("effects") == (["c6", "c7"] if won[1] else [])
        handles = place.lines("handles")
        assert handles.count("restore race 0") == 1
        assert sum("came too late: interrupt-closed" in each for each in handles) >= 2
        assert kinds.count("done") == 1
        place.forget()
    print(f"\nallowed {verdicts[True]}, denied {verdicts[False]}")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_five_hundred_deaths_at_any_time(top: Path, server: Server) -> None:
    """Not only where we look: killed by the clock, anywhere."""
    chance = random.Random(20)
    whole = Place(top / "timed")
    began = time.monotonic()
    assert server.run(whole) == 0
    takes = time.monotonic() - began
    ends: Counter[str] = Counter()
    for number in range(500):
        place = Place(top / f"any-{number}")
        server.order(place, after=chance.uniform(0, takes))
        server.status()
        died = place.lines("moments")
        assert server.run(place) == 0, server.errors()
        ends += check(place, died, exact=False)
        place.forget()
    print(f"\n500 deaths: {dict(ends)}")
