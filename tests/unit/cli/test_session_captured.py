"""``session events`` and ``show`` of a session that a person drives."""

from __future__ import annotations

import json

from barry_cli.turns.store.log import SessionLog
from tests.toy import Barry
from tests.unit.turns.store.places import new_session

SAID = {"type": "text", "text": "hi there", "role": "user"}


def test_what_was_captured_is_shown(barry: Barry) -> None:
    session_id = new_session(barry.folders, mode="instrumented", state="ended")
    usage = {"type": "usage", "id": "m", "usage": {"input": 3, "output": 4}}
    with SessionLog(barry.folders) as log:
        log.append(session_id, [SAID, usage, {"type": "done"}])
    shown = barry.run("session", "show", session_id).out
    (line,) = [line for line in shown.splitlines() if line.startswith("recorded ")]
    assert line.split(maxsplit=1)[1] == "3 events, 1 ended turn, 3 tokens in, 4 out"
    assert barry.run("session", "show", session_id, "--json").json["recorded"] == {
        "events": 3,
        "turns": 1,
        "usage": {"input": 3, "output": 4, "cached": 0, "cacheWrite": 0, "complete": True},
        "missing": None,
    }
    done = barry.run("session", "events", session_id, "--json")
    rows = [json.loads(row) for row in done.out.splitlines()]
    assert [(row["sequence"], row["turnId"]) for row in rows] == [(1, None), (2, None), (3, None)]
    assert rows[0]["event"] == SAID
    assert done.err == ""


def test_a_guest_says_plainly_that_nothing_is_recorded(barry: Barry) -> None:
    session_id = new_session(barry.folders, mode="guest", state="ended")
    for words in (("events", session_id), ("events", session_id, "--follow", "--json")):
        done = barry.run("session", *words)
        assert (done.code, done.out) == (0, "")
        assert "in guest mode Barry records nothing" in done.err
        assert f"`barry session export {session_id}`" in done.err
    assert "in guest mode Barry records nothing" in barry.run("session", "show", session_id).out


def test_an_instrumented_session_that_nothing_told_of(barry: Barry) -> None:
    session_id = new_session(barry.folders, mode="instrumented")
    assert "nothing was told of this session yet" in barry.run("session", "events", session_id).err


def test_a_driven_session_has_its_turns_instead(barry: Barry) -> None:
    session_id = new_session(barry.folders)
    assert barry.run("session", "show", session_id, "--json").json["recorded"] is None
    done = barry.run("session", "events", session_id)
    assert (done.out, done.err) == ("", "")
