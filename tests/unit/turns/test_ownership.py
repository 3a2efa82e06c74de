"""Somebody else's session is as good as none."""

from __future__ import annotations

from typing import Any

import pytest

from barry_cli.base.problems import SessionNotFound
from barry_cli.turns.ownership import assert_session_owner
from barry_cli.turns.store.sessions import SessionRow

ROW = SessionRow(
    id="s1",
    adapter="toy",
    mode="hosted",
    cwd="/",
    guarantees={},
    asked={},
    state="running",
    created_at="",
    owner_uid=7,
)


@pytest.mark.parametrize("session", [{"identity_id": 7}, {"owner_uid": 7}, ROW])
def test_an_owner_passes(session: Any) -> None:
    assert_session_owner(session, 7)


@pytest.mark.parametrize(
    "session",
    [None, {}, {"identity_id": None}, {"identity_id": 8}, {"identity_id": "7"}, {"owner_uid": 8}],
)
def test_missing_and_foreign_sessions_are_the_same(session: Any) -> None:
    said = []
    for each in (session, ROW, None):
        with pytest.raises(SessionNotFound) as raised:
            assert_session_owner(each, 9 if each is ROW else 7)
        problem = raised.value
        said.append((type(problem), problem.message, problem.hint, dict(problem.details)))
    assert said[0] == said[1] == said[2]
    assert "s1" not in str(said)


def test_an_owner_that_is_no_number_is_nobody() -> None:
    with pytest.raises(SessionNotFound):
        assert_session_owner({"identity_id": True}, 1)
    with pytest.raises(SessionNotFound):
        assert_session_owner({"identity_id": None, "owner_uid": 7}, 7)
