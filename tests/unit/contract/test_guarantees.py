"""A promise may be taken back, never raised; and a requirement is met or named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from barry_cli.contract.data import snapshot
from barry_cli.contract.guarantees import Guarantees, changed, lowered, raised, satisfies
from barry_cli.contract.levels import ORDER, stronger

FLAGS = ("interrupt", "steer", "keeps_vendor_ui")
LEVELS: dict[str, st.SearchStrategy[Any]] = {
    **{kind: st.sampled_from(order) for kind, order in ORDER.items()},
    **{flag: st.booleans() for flag in FLAGS},
}
PROMISES = st.fixed_dictionaries(LEVELS).map(lambda levels: Guarantees(**levels))
CHANGES = st.fixed_dictionaries({}, optional=LEVELS)
NAMES = {name: "keepsVendorUi" if name == "keeps_vendor_ui" else name for name in LEVELS}


def as_word(level: object) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)


@given(PROMISES, CHANGES)
def test_lowering(promise: Guarantees, changes: dict[str, Any]) -> None:
    up = [
        name
        for name, level in changes.items()
        if (name in ORDER and stronger(name, level, getattr(promise, name)))
        or (name in ("interrupt", "steer") and level and not getattr(promise, name))
    ]
    if up:
        with pytest.raises(ValueError, match="only lower") as error:
            lowered(promise, **changes)
        assert all(name in str(error.value) for name in up)
        return
    after = lowered(promise, **changes)
    assert raised(promise, after) == []
    for name in LEVELS:
        assert getattr(after, name) == changes.get(name, getattr(promise, name))
    assert set(changed(promise, after)) <= set(changes)


@given(PROMISES, PROMISES)
def test_raising_and_changing_agree(one: Guarantees, other: Guarantees) -> None:
    assert set(raised(one, other)) <= set(changed(one, other))
    assert not set(raised(one, other)) & set(raised(other, one))
    assert changed(one, one) == []
    if not changed(one, other):
        assert one == other


@given(PROMISES, CHANGES)
def test_requirements_are_met_or_named(promise: Guarantees, asked: dict[str, Any]) -> None:
    required = {NAMES[name]: as_word(level) for name, level in asked.items()}
    missing = satisfies(promise, required)
    for name, level in asked.items():
        have = getattr(promise, name)
        enough = not stronger(name, level, have) if name in ORDER else have or not level
        assert (NAMES[name] not in missing) is enough
        if not enough:
            assert missing[NAMES[name]] == as_word(have)


@given(PROMISES)
def test_a_promise_satisfies_itself_and_survives_its_file(promise: Guarantees) -> None:
    kept = snapshot(promise)
    assert satisfies(promise, {name: as_word(level) for name, level in kept.items()}) == {}
    assert Guarantees.model_validate(kept) == promise
    assert set(kept) == set(NAMES.values())


@given(PROMISES, st.text(max_size=8), st.text(max_size=8))
def test_words_that_mean_nothing_are_refused(promise: Guarantees, name: str, level: str) -> None:
    assume(name not in {*NAMES, *NAMES.values()})
    with pytest.raises(ValueError, match="there is no guarantee"):
        satisfies(promise, {name: level})
    for known, order in ORDER.items():
        if level not in order:
            with pytest.raises(ValueError, match="has no level"):
                satisfies(promise, {known: level})
    if level not in ("true", "false"):
        with pytest.raises(ValueError, match="is true or false"):
            satisfies(promise, {"steer": level})


@pytest.mark.parametrize("changes", [{"gating": "most"}, {"speed": 1}, {"steer": "perhaps"}])
def test_a_level_that_there_is_not(changes: dict[str, Any]) -> None:
    promise = Guarantees(
        capture="none", delivery="none", gating="none", identity="none", interrupt=False,
        keeps_vendor_ui=True, steer=False,
    )  # fmt: skip
    with pytest.raises(ValidationError):
        lowered(promise, **changes)
