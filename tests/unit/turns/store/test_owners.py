"""Owners: this process lives, one that ended is gone, and what can't be told is not gone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.processes import identify
from barry_cli.turns.store import owners
from barry_cli.turns.store.owners import is_gone, new_owner, owner_of
from tests.unit.turns.store.places import dead_owner


def test_this_process_lives_under_each_of_its_names() -> None:
    first, second = new_owner(), new_owner()
    assert first != second
    assert not is_gone(first)
    assert first.startswith(f"{os.getpid()} ")


def test_a_child_is_gone_once_it_has_ended() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = identify(child.pid)
    assert identity is not None
    owner = owner_of(identity)
    assert not is_gone(owner)
    child.communicate(b"\n")
    assert is_gone(owner)
    assert is_gone(dead_owner())


def test_a_number_that_was_given_out_again_is_another_process() -> None:
    assert is_gone(new_owner() + "0")  # its start is the last thing in it


def test_what_cannot_be_seen_from_here_is_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    gone, own = dead_owner(), new_owner()
    monkeypatch.setattr(owners, "_space", lambda: "pid:[1]")
    assert not is_gone(gone)
    before = own.split(" ", 3)
    before[3] = "00000000-0000-4000-8000-000000000000:1"
    assert is_gone(" ".join(before))  # of before the last start of this machine


@given(st.text(max_size=30) | st.sampled_from(["", "1", "1 2 3", "x y z w", "-1 a b c", "1 a b "]))
def test_another_form_is_not_gone(text: str) -> None:
    assert not is_gone(text) or len(text.split(" ", 3)) == 4
