from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.ids import is_id, matching, nearest, new_id

IDS = st.lists(st.text("ab0", min_size=1, max_size=5), max_size=8)


def test_a_new_one_is_long_and_of_clear_letters() -> None:
    made = {new_id() for _ in range(2000)}
    assert len(made) == 2000
    assert all(re.fullmatch(r"[0-9a-hjkmnp-tv-z]{12}", each) for each in made)
    assert all(is_id(each) for each in made)
    for other in ("", "a" * 11, "a" * 13, "a" * 11 + "u", "a" * 11 + ".", "A" * 12):
        assert not is_id(other)


@given(prefix=st.text("ab0", max_size=5), ids=IDS)
def test_a_prefix_means_itself_or_all_that_begin_with_it(prefix: str, ids: list[str]) -> None:
    found = matching(prefix, ids)
    if prefix in ids:
        assert found == [prefix]
    else:
        assert found == [each for each in ids if each[: len(prefix)] == prefix]


def test_a_generator_of_ids_will_do() -> None:
    assert matching("a", (each for each in ("a", "ab"))) == ["a"]
    assert matching("a", (each for each in ("ab", "a"))) == ["a"]


def test_the_nearest_is_meant_or_none() -> None:
    assert nearest("cluade", ["codex", "claude"]) == "claude"
    assert nearest("xyz", ["codex", "claude"]) is None
    assert nearest("", []) is None
