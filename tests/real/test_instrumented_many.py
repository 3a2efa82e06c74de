"""Many instrumented sessions of one harness at once, and many messages to one: every harness."""

from __future__ import annotations

import json
import random
import re
import shutil
import time
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import test_instrumented_claude
import test_instrumented_codex
import test_instrumented_gemini
import test_instrumented_opencode
import test_instrumented_pi
import test_instrumented_qwen
from harness import Lab, alike
from instrumented import KINDS, Seat, say
from plugged import Plugged, bound

claude, codex = test_instrumented_claude.claude, test_instrumented_codex.codex
gemini, qwen = test_instrumented_gemini.gemini, test_instrumented_qwen.qwen
opencode, pi = test_instrumented_opencode.opencode, test_instrumented_pi.pi

NO_TOUCH = {"bash": {"denyPrograms": ["touch"]}}
TURN, WORD, NUMBER = (re.compile(rf"{name} (\d+)\.") for name in ("turn", "word", "number"))
LONG = [pytest.param(name, marks=pytest.mark.long) for name in KINDS if name != "demo"]


@pytest.fixture
def demo(lab: Callable[[str], Lab]) -> Lab:
    made = lab("demo")
    made.env["BARRY_DEMO_SCRIPT"] = str(made.top / "script.json")
    made.add()
    return made


@pytest.fixture
def seat(request: pytest.FixtureRequest) -> Seat:
    lab = request.getfixturevalue(request.param)
    if request.param == "claude":
        test_instrumented_claude.users_settings(lab, permissions={"allow": ["Bash"]})
    return Seat(lab, KINDS[request.param])


# --- many sessions ---


@pytest.mark.timeout(900)  # two cores take minutes to start twenty of the largest
@pytest.mark.parametrize("seat", ["demo", *LONG], indirect=True)
def test_many_sessions_on_one_home_and_in_one_folder(seat: Seat) -> None:
    """Each is begun, ruled on, written to and left for itself, beside all the others."""
    many = 6 if seat.is_demo else 20
    lab, shell = seat.lab, seat.kind.shell
    rules: list[Mapping[str, object]] = []
    for n in range(many):
        calls = shell(f"touch denied-{n}"), shell(f"mkdir allowed-{n}")
        rules += [
            seat.rule(f"turn {n}.", *calls, {"text": f"answer-{n}."}),
            seat.rule(f"again {n}.", {"text": f"once-more-{n}."}),
            seat.rule(f"word {n}.", {"text": f"heard-{n}."}, framed=True),
        ]
    seat.play(*rules, seat.rule("bare turn", shell("true"), {"text": "bare-answer"}))
    fresh = _files(lab.home)
    bare_home = lab.top / "bare"
    shutil.copytree(lab.home, bare_home, symlinks=True)
    _alone(seat, bare_home)

    held = bound(lab, NO_TOUCH)
    sessions = [seat.begin(bound=held) for _ in range(many)]
    # A person before each terminal: unread, it would come to a stop.
    with ThreadPoolExecutor(many) as people:
        list(people.map(partial(_first_turn, shows=seat.kind.shows), sessions, range(many)))
        _all_are_listed(sessions, live=True)
        list(people.map(partial(_message, wakes=seat.kind.wakes), sessions, range(many)))
        list(people.map(lambda each: each.leave(), sessions))
        listed = _all_are_listed(sessions, live=False)
        told = list(people.map(lambda each: each.beside("events", each.id).stdout, sessions))

    assert [each["exitStatus"] for each in listed] == [0] * many
    assert {path.name for path in lab.work.iterdir()} == {f"allowed-{n}" for n in range(many)}
    for n, (session, events) in enumerate(zip(sessions, told, strict=True)):
        assert session.states() == ["consumed"]
        assert set(TURN.findall(events)) == {str(n)}
        assert set(WORD.findall(events)) <= {str(n)}
        assert "Refused by the policy" in events
    asked = [each for each in seat.conversations() if "turn" in each]
    mixed = [(set(TURN.findall(each)), set(WORD.findall(each))) for each in asked]
    assert all(len(turns) <= 1 and words <= turns for turns, words in mixed), mixed
    assert set().union(*(words for _, words in mixed)) == {str(n) for n in range(many)}
    _nothing_is_left(lab, sessions)
    barry = lab.top / "barry"
    _settings_are_those_of(fresh, _files(bare_home), _files(lab.home), barry=barry)


def _alone(seat: Seat, home: Path) -> None:
    """The harness by itself, with as much to do."""
    bare = seat.kind.session.alone(seat.lab, *seat.kind.bare, env={"HOME": str(home)})
    bare.job.terminal.wait_for(seat.kind.shows)
    bare.job.terminal.pump(1)
    say(bare.job, "bare turn", "bare-answer")
    bare.leave()


def _first_turn(session: Plugged, n: int, *, shows: str) -> None:
    session.job.terminal.wait_for(shows, seconds=300)  # they all start at once
    session.ready()
    session.job.terminal.pump(1)
    say(session.job, f"turn {n}.", f"answer-{n}.")


def _message(session: Plugged, n: int, *, wakes: bool) -> None:
    if wakes:
        assert session.send(f"word {n}.", seconds=200) == "consumed"
    else:
        assert session.send(f"word {n}.", wait="written", seconds=1) == "held"
        say(session.job, f"again {n}.", f"once-more-{n}.")
        session.until(lambda: session.states() == ["consumed"])
    session.until(lambda: session.row.activity == "idle")


def _all_are_listed(sessions: list[Plugged], *, live: bool) -> list[dict[str, Any]]:
    """What the list says of each, in their order: none is lost, none is another."""
    rows = json.loads(sessions[0].beside("list").stdout)["sessions"]
    listed = {row["id"]: row for row in rows}
    assert len(rows) == len(listed) == len(sessions)
    assert len({row["harnessSessionId"] for row in rows} - {None}) == len(sessions)
    assert {row["state"] for row in rows} == {"running" if live else "ended"}
    return [listed[session.id] for session in sessions]


def _nothing_is_left(lab: Lab, sessions: list[Plugged]) -> None:
    folders = sessions[0].folders
    assert [path.name for path in folders.launches.iterdir()] == []
    for session in sessions:
        assert session.job.left_running() == []
        socket = session.row.socket
        assert socket is not None
        assert list(Path(socket).parent.glob(f"{Path(socket).stem}*")) == []


def _files(home: Path) -> dict[str, bytes]:
    """The harness's own files that a person would call its settings, by their plain names."""
    found = {}
    for path in home.rglob("*"):
        plain = path.is_file() and not path.is_symlink() and "node_modules" not in path.parts
        if plain and path.suffix in (".json", ".jsonc", ".toml"):
            found[str(path.relative_to(home))] = path.read_bytes()
    return found


def _settings_are_those_of(
    fresh: Mapping[str, bytes], bare: Mapping[str, bytes], ours: Mapping[str, bytes], *, barry: Path
) -> None:
    """Valid, under the names that a bare run gives them, without a word of Barry's, and the same
    where a bare run changes nothing."""
    assert {alike(name) for name in ours} <= {alike(name) for name in bare}
    for name, content in ours.items():
        text = content.decode()
        tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
        assert str(barry) not in text, name
        if fresh.get(name) == bare.get(name) is not None:
            assert content == bare[name], name


# --- many messages ---


@pytest.mark.timeout(600)  # one takes no more than one in two seconds for long
@pytest.mark.parametrize("seat", ["demo", *LONG], indirect=True)
def test_many_messages_at_random_moments_arrive_in_order_and_once(seat: Seat) -> None:
    """From before the TUI is there: while it is idle, answers, or runs a command."""
    many = 30 if seat.is_demo else 200
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    rules = []
    for n in range(many):  # a harness may take what is always the same for a loop
        counted: dict[str, object] = {"text": f"counted-{n}"}
        counted |= {} if seat.is_demo else {"chunks": 3, "delay": 0.05}
        call = [seat.kind.shell(f"python3 -c 'import time; time.sleep(0.5)' {n}")]
        rules += [
            seat.rule(f"number {n}.", *(call if n % 10 == 0 else []), counted, framed=True),
            seat.rule(f"go on {n}.", *call, {"text": f"went-on-{n}"}),
        ]
    seat.play(*rules)
    session = seat.begin()
    began = time.monotonic()
    for n in range(many):
        session.post(f"number {n}.")
        if chance.random() < 0.4:
            session.job.terminal.pump(chance.random())
        if n % 40 == 20:
            _go_on(session, n, seat.kind.shows)
    if not seat.kind.wakes:
        session.job.terminal.pump(3)
        _go_on(session, many - 1, seat.kind.shows)
    session.until(lambda: set(session.states()) == {"consumed"}, seconds=400)
    print(f"{many} messages in {time.monotonic() - began:.0f} s")
    expected = [str(n) for n in range(many)]
    session.until(lambda: NUMBER.findall(seat.conversations()[-1]) == expected, seconds=20)
    session.leave()


def _go_on(session: Plugged, n: int, shows: str) -> None:
    """A prompt of the person's own, who presses Enter again where the TUI was too busy for it."""
    session.ready()
    say(session.job, f"go on {n}.")
    for _ in range(20):
        session.job.terminal.pump(0.5)
        if shows in session.job.terminal.screen():
            break
        session.job.terminal.type("\r")
