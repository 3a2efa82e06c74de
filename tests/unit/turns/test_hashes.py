"""One hash for one value."""

from __future__ import annotations

import hashlib

import pytest

from barry_cli.base.canonical import NotCanonical
from barry_cli.turns.hashes import execution_hash


def test_equal_values_have_equal_hashes() -> None:
    assert execution_hash({"b": 1.0, "a": [True]}) == execution_hash({"a": (True,), "b": 1})
    assert execution_hash([]) == hashlib.sha256(b"[]").hexdigest()
    assert execution_hash({"a": 1}) != execution_hash({"a": "1"})


def test_what_would_change_on_its_way_has_none() -> None:
    with pytest.raises(NotCanonical, match=r"\$\.a"):
        execution_hash({"a": float("nan")})
