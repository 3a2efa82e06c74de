"""What is on record of a session that a person drives."""

from __future__ import annotations

import os
import threading
import time

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.problems import AdapterNotInstalled
from barry_cli.base.processes import identify
from barry_cli.groundwork.captured import captured_of
from barry_cli.groundwork.exporting import exported
from barry_cli.groundwork.following import follow_events
from barry_cli.registry.adapters import Adapters
from barry_cli.turns.store.log import SessionLog
from barry_cli.turns.store.sessions import Sessions
from tests.unit.turns.store.places import dead_owner, new_session

SAID = {"type": "text", "text": "hi", "role": "user"}
DONE = {"type": "done"}


def captured(session_id: str) -> dict[str, object] | None:
    return captured_of(folders(), Sessions(folders()).get(session_id))


def counted(name: str, **counts: int) -> dict[str, object]:
    return {"type": "usage", "id": name, "usage": {"input": 1, "output": 2, **counts}}


def test_turns_and_tokens_are_counted() -> None:
    session_id = new_session(mode="instrumented")
    with SessionLog(folders()) as log:
        log.append(session_id, [SAID, counted("a"), counted("b", cached=5), DONE])
        whole = {"input": 10, "output": 20, "complete": False}
        log.append(session_id, [SAID, counted("c"), {**DONE, "usage": whole}, SAID, counted("d")])
    assert captured(session_id) == {
        "events": 9,
        "turns": 2,
        "usage": {"input": 13, "output": 26, "cached": 5, "cacheWrite": 0, "complete": False},
        "missing": None,
    }


def test_a_driven_session_has_turns_instead() -> None:
    assert captured(new_session(mode="hosted")) is None


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"mode": "guest"}, "in guest mode Barry records nothing"),
        ({"mode": "instrumented"}, "nothing was told of this session yet"),
        ({"mode": "instrumented", "ended_at": "2026-01-01T00:00:00.000Z"}, "neither hooks nor"),
    ],
)
def test_nothing_says_why(values: dict[str, str], why: str) -> None:
    found = captured(new_session(**values))
    assert found is not None
    assert (found["events"], found["usage"]) == (0, None)
    assert str(found["missing"]).startswith(why)


def test_what_the_watcher_still_records_is_followed() -> None:
    """The harness is gone before the last look at its transcript is over."""
    own = identify(os.getpid())
    assert own is not None
    pid, _, _, started = dead_owner().split(" ", 3)
    session_id = new_session(
        mode="instrumented",
        pid=int(pid),
        pid_started=started,
        supervisor_pid=own.pid,
        supervisor_started=own.start_time,
    )

    def close() -> None:
        time.sleep(0.5)
        with SessionLog(folders()) as log:
            log.append(session_id, [SAID, DONE])
        Sessions(folders()).change(session_id, state="ended", exit_status=0)

    beside = threading.Thread(target=close)
    beside.start()
    found = [each.event for each in follow_events(folders(), session_id, follow=True)]
    beside.join()
    assert found == [SAID, DONE]


async def test_what_barry_saw_is_exported_where_the_harness_has_nothing() -> None:
    session_id = new_session(mode="instrumented", adapter="gone", harness_session_id="c")
    with pytest.raises(AdapterNotInstalled):
        await exported(folders(), Adapters(folders()), session_id, {})
    with SessionLog(folders()) as log:
        log.append(session_id, [SAID, DONE])
    found = await exported(folders(), Adapters(folders()), session_id, {})
    assert found == [SAID, DONE]
