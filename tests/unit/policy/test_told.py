"""How a verdict is shown: the marks stand below what was matched, and nothing moves a cursor."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.policy.ruling.told import WIDTH, document, marked, text
from barry_cli.policy.ruling.verdict import DENIED, Verdict, allowed
from barry_cli.policy.ruling.wording import denied

TEXTS = st.text(max_size=300)


@given(TEXTS, st.integers(0, 300), st.integers(0, 300))
def test_the_marks_stand_below_the_match(ruled: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(ruled)), min(other, len(ruled))))
    shown, marks = marked(ruled, (start, end))
    assert len(shown) <= WIDTH + 8
    assert shown.isprintable()
    assert len(marks) <= max(len(shown), 1)
    line_end = ruled.find("\n", start)
    line_end = len(ruled) if line_end < 0 else line_end
    if start < min(end, line_end):
        at = marks.index("^")
        seen = shown[at : at + 1]
        assert seen == (ruled[start] if ruled[start].isprintable() else "�")
    elif start == end:
        assert marks == ""


@given(st.builds(Verdict, st.just(DENIED), TEXTS, TEXTS, TEXTS, st.just((0, 1)), TEXTS, TEXTS))
def test_a_document_is_json_and_a_text_is_plain(verdict: Verdict) -> None:
    found = json.loads(document(verdict))["verdict"]
    assert found["text"] == verdict.text
    assert found["human"] == verdict.human
    assert (found["start"], found["end"]) == (0, 1)
    assert all(line.isprintable() for line in text(verdict).split("\n"))


def test_what_is_allowed_is_one_word() -> None:
    assert text(allowed("ls")) == "allowed\n"
    found = json.loads(document(allowed("ls")))["verdict"]
    assert found == {
        "outcome": "allowed", "rule": None, "field": None, "text": "ls", "start": None,
        "end": None, "human": "", "agent": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "rule", "shown"),
    [
        ("files.deny", "/home/ada//keys/*.pem", "keys/*.pem"),
        ("files.deny", ".env", ".env"),
        ("files.deny", "~/.ssh", "~/.ssh"),
        ("files.deny", "/etc/x", "/etc/x"),
        ("files.allowOnly", "/w//src/**, /w//**/x.md, /v//a/b", "src/**, x.md, a/b"),
        ("network.domains", "https://x.test", "https://x.test"),
        ("bash.deny", "a // b", "a // b"),
    ],
)
def test_a_rule_is_shown_as_it_is_written(field: str, rule: str, shown: str) -> None:
    verdict = denied(field, rule, "x", "y", (0, 1))
    assert json.loads(document(verdict))["verdict"]["rule"] == shown
    assert f"{field} {shown}: x" in verdict.human
    assert verdict.rule == rule
