"""Network actions: which a command performs, and which are denied."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.policy.classify import classify_bash_command
from barry_cli.policy.commands import classify_network_actions, is_network_action_denied
from barry_cli.policy.ruling.actions import LEAVES, expand_actions
from tests.unit.policy.ruling.rows import names, rows

ROWS = rows("network")


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_the_actions_of_a_command(row: dict[str, Any]) -> None:
    command, wanted = row["command"], set(row["actions"])
    assert set(classify_network_actions(classify_bash_command(command), command)) == wanted
    for tag in LEAVES:
        assert (is_network_action_denied(command, [tag]) is not None) is (tag in wanted)


def test_the_answer_is_the_leaf_that_was_performed() -> None:
    assert is_network_action_denied("git push", ["write"]) == "git:push"
    assert is_network_action_denied("git fetch", ["all"]) == "git:fetch"
    assert is_network_action_denied("ssh x.test", ["read"]) is None
    assert is_network_action_denied("ssh x.test", ["all"]) == "ssh:read"


def test_what_cannot_be_read_may_do_anything() -> None:
    assert is_network_action_denied('echo "x', ["dns", "write"]) == "dns"
    assert is_network_action_denied('echo "x', []) is None
    assert is_network_action_denied('git push; echo "x', ["dns", "git:push"]) == "git:push"


def test_actions_are_told_from_the_arguments_where_there_is_no_text() -> None:
    found = classify_bash_command("sudo git push && curl -d a https://x.test")
    assert classify_network_actions(found, "") == ["git:push", "http:write"]


def test_the_tree_of_actions() -> None:
    assert expand_actions(["write"]) == {"write", "git:push", "http:write", "ssh:write"}
    assert expand_actions(["read"]) == {"read", "git:fetch", "http:read", "dns"}
    assert expand_actions(["all"]) == {"all", "read", "write", *LEAVES}
    assert expand_actions(["git:push"]) == {"git:push"}
    assert expand_actions([]) == set()
    assert expand_actions(["none such"]) == {"none such"}


PROGRAM = st.sampled_from(
    "curl wget git ssh scp rsync sftp http gh npm docker aws dig nc openssl python3 perl pip uv go"
    " kubectl yarn terraform socat getent svn node ssh-copy-id".split()
)
WORD = st.text("-ab=:/@.XdTKGoOc $\"'*{}<>%é\0", max_size=8)


@given(PROGRAM, st.lists(WORD, max_size=6))
def test_no_words_break_the_telling(program: str, words: list[str]) -> None:
    command = " ".join([program, *words])
    assert set(classify_network_actions(classify_bash_command(command), command)) <= set(LEAVES)
    is_network_action_denied(command, ["all"])
