"""The events of a session, each once and in order, up to the session's end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.problems import SessionNotFound
from barry_cli.base.processes import identify
from barry_cli.contract.events import Text
from barry_cli.groundwork.following import NOT_BEGUN, follow_events, settle, settle_turns
from barry_cli.groundwork.turns import turns_of
from barry_cli.turns.store.owners import owner_of
from barry_cli.turns.store.record import Record
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import admit, begin, dead_owner, new_session

PAGE = 500


def test_all_that_is_there_and_no_more() -> None:
    session_id = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, _ = begin(store, session_id)
        store.append_many(session_id, turn_id, [Text(text=f"{n}") for n in range(PAGE + 7)])
        found = list(follow_events(folders(), session_id))
        assert [each.sequence for each in found] == list(range(1, PAGE + 8))
        rest = list(follow_events(folders(), session_id[:6], after=PAGE))
        assert [each.sequence for each in rest] == list(range(PAGE + 1, PAGE + 8))


def test_it_is_followed_to_its_end() -> None:
    own = identify(os.getpid())
    assert own is not None
    session_id = new_session(supervisor_pid=own.pid, supervisor_started=own.start_time)

    def work() -> None:
        with SqliteTurnStore(folders()) as store:
            turn_id, _ = begin(store, session_id)
            for number in range(5):
                store.append(session_id, turn_id, Text(text=f"{number}"))
                time.sleep(0.05)
        Sessions(folders()).change(session_id, state="ended", exit_status=0)

    beside = threading.Thread(target=work)
    beside.start()
    found = [each.event.get("text") for each in follow_events(folders(), session_id, follow=True)]
    beside.join()
    assert found == ["0", "1", "2", "3", "4"]


def test_whom_nobody_drives_any_more_is_not_waited_for() -> None:
    session_id = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, _ = begin(store, session_id, dead_owner())
    found = list(follow_events(folders(), session_id, follow=True))
    assert [each.event["type"] for each in found] == ["error", "done"]
    assert Record(folders()).turns(session_id)[0]["state"] == "recovery_required"
    (turn,) = turns_of(folders(), session_id)
    assert (turn["id"], turn["state"]) == (turn_id, "recovery_required")


def test_a_turn_whose_driver_dies_while_it_is_followed_ends_too() -> None:
    driver = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    its = identify(driver.pid)
    assert its is not None
    session_id = new_session(supervisor_pid=its.pid, supervisor_started=its.start_time)
    with SqliteTurnStore(folders()) as store:
        turn_id, _ = begin(store, session_id, owner_of(its))
        store.append(session_id, turn_id, Text(text="a"))
    kinds = []
    for each in follow_events(folders(), session_id, follow=True):
        kinds.append(each.event["type"])
        if kinds == ["text"]:
            driver.kill()
            driver.communicate(timeout=30)
    assert kinds == ["text", "error", "done"]


def test_a_turn_that_its_driver_never_began_has_failed() -> None:
    """Killed between admission and the harness's start; nothing of it was done."""
    dead = int(dead_owner().split()[0]), dead_owner().split(" ", 3)[3]
    session_id = new_session(supervisor_pid=dead[0], supervisor_started=dead[1])
    with SqliteTurnStore(folders()) as store:
        turn_id = admit(store, session_id)
        assert store.claim(session_id, turn_id, dead_owner(), at_rest=True)
    found = list(follow_events(folders(), session_id))
    assert [each.event for each in found] == [
        {"type": "error", "error": NOT_BEGUN},
        {"type": "done"},
    ]
    (turn,) = turns_of(folders(), session_id)
    assert (turn["state"], turn["error"], turn["uncertainCalls"]) == ("failed", NOT_BEGUN, [])


def test_a_turn_whose_driver_lives_or_that_none_has_is_left_alone() -> None:
    own = identify(os.getpid())
    assert own is not None
    driven = new_session(supervisor_pid=own.pid, supervisor_started=own.start_time)
    undriven = new_session()  # whoever recovers it goes on with it
    with SqliteTurnStore(folders()) as store:
        admit(store, driven)
        admit(store, undriven)
        settle_turns(folders(), store)
        assert store.list_turns(driven)[0].state == "running"
        assert store.list_turns(undriven)[0].state == "running"


def test_only_the_session_asked_for_is_settled() -> None:
    one, other = new_session(), new_session()
    with SqliteTurnStore(folders()) as store:
        begin(store, one, dead_owner())
        begin(store, other, dead_owner())
    settle(folders(), one)
    record = Record(folders())
    assert record.turns(one)[0]["state"] == "recovery_required"
    assert record.turns(other)[0]["state"] == "running"


def test_none_that_is_there() -> None:
    with pytest.raises(SessionNotFound):
        list(follow_events(folders(), "nothing"))
