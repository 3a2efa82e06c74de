"""A conversation that is taken elsewhere holds no value of a secret variable."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.paths import folders
from barry_cli.base.problems import ConversationLost, SessionNotFound
from barry_cli.contract.events import Text, ToolUse
from barry_cli.groundwork.exporting import _cleaned, exported
from barry_cli.registry.adapters import Adapters
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.toy import Barry
from tests.unit.turns.store.places import begin, new_session

SECRET = "open sesame"
ENV = {"DOOR_TOKEN": SECRET, "PLAIN": "visible"}


async def test_secrets_are_masked_wherever_they_are() -> None:
    session_id = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, _ = begin(store, session_id)
        store.append(session_id, turn_id, Text(text=f"say {SECRET}, visible"))
        deep = {"list": [{"deep": [f"--key={SECRET}"]}], "number": 7}
        store.append(session_id, turn_id, ToolUse(id="1", tool="Shell", input=deep))
    found = await exported(folders(), Adapters(folders()), session_id[:8], ENV)
    text = json.dumps(found)
    assert SECRET not in text
    assert "say ********, visible" in text
    assert found[1]["input"]["number"] == 7
    plain = await exported(folders(), Adapters(folders()), session_id, {})
    assert SECRET in json.dumps(plain)


async def test_nothing_to_export() -> None:
    session_id = new_session()
    with pytest.raises(ConversationLost, match="no conversation on record"):
        await exported(folders(), Adapters(folders()), session_id, {})
    with pytest.raises(SessionNotFound):
        await exported(folders(), Adapters(folders()), "nothing", {})


async def test_the_harnesss_own_record_of_a_launched_session(barry: Barry) -> None:
    """The toy keeps none of what was said."""
    (barry.work / ".toy").mkdir()
    (barry.work / ".toy" / "one").touch()
    session_id = new_session(mode="guest", cwd=str(barry.work), harness_session_id="one")
    with pytest.raises(ConversationLost):
        await exported(barry.folders, Adapters(barry.folders), session_id, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(f"a {SECRET} b"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.just(SECRET), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON)
def test_the_shape_stays_and_the_secret_goes(value: object) -> None:
    cleaned = _cleaned(value, [SECRET])
    assert SECRET not in json.dumps(cleaned, ensure_ascii=False)
    assert json.dumps(cleaned) == json.dumps(value).replace(SECRET, "********")
