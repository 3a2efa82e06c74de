"""Events of a session without turns are numbered like any others."""

from __future__ import annotations

import threading

import pytest

from barry_cli.base.canonical import NotCanonical
from barry_cli.base.paths import folders
from barry_cli.base.problems import SessionNotFound
from barry_cli.turns.store.log import SessionLog
from barry_cli.turns.store.record import Record
from tests.unit.turns.store.places import new_session

SAID = {"type": "text", "text": "hi", "role": "user"}


def test_numbers_go_on_without_a_gap() -> None:
    session_id, other = new_session(), new_session()
    with SessionLog(folders()) as log:
        assert log.append(session_id, [SAID, SAID]) == 2
        assert log.append(other, [SAID]) == 1
        assert log.append(session_id, [SAID]) == 3
    found = Record(folders()).events(session_id)
    assert [(each.sequence, each.turn_id, each.event) for each in found] == [
        (1, None, SAID),
        (2, None, SAID),
        (3, None, SAID),
    ]
    assert 0 < found[0].recorded_at <= found[2].recorded_at


def test_two_who_write_at_once_share_the_numbers() -> None:
    session_id = new_session()

    def write() -> None:
        with SessionLog(folders()) as log:
            for _ in range(50):
                log.append(session_id, [SAID])

    beside = [threading.Thread(target=write) for _ in range(2)]
    for each in beside:
        each.start()
    for each in beside:
        each.join()
    found = Record(folders()).events(session_id)
    assert [each.sequence for each in found] == list(range(1, 101))


def test_all_or_none() -> None:
    session_id = new_session()
    with SessionLog(folders()) as log:
        with pytest.raises(NotCanonical):
            log.append(session_id, [SAID, {"no": "type"}])
        with pytest.raises(SessionNotFound):
            log.append("nothing", [SAID])
    assert Record(folders()).events(session_id) == []


def test_what_json_can_not_carry_is_made_text() -> None:
    session_id = new_session()
    with SessionLog(folders()) as log:
        log.append(session_id, [{"type": "text", "text": "a\ud800b", "n": 2**60}])
    (found,) = Record(folders()).events(session_id)
    assert found.event == {"type": "text", "text": "a�b", "n": str(2**60)}
