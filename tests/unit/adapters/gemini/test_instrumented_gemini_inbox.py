"""What of a text goes to which of Gemini CLI's hooks, and what its transcript shows of it."""

from __future__ import annotations

import json

import pytest

from barry_cli.contract.instrument import Notice

PLAIN = "two\n\tlines & more \N{SLIGHTLY SMILING FACE}\n"


@pytest.mark.parametrize("text", [PLAIN, "<b>", "a > b"])
def test_a_turns_end_takes_every_text(text: str) -> None:
    from barry_adapter_gemini.inbox import fits

    assert fits(Notice(kind="stop"), text)
    assert not any(fits(Notice(kind=kind), text) for kind in ("start", "after-tool", "ask", "end"))


def test_a_prompt_takes_what_it_would_not_write_otherwise() -> None:
    from barry_adapter_gemini.inbox import fits

    prompt = Notice(kind="prompt", prompt="go on")
    assert fits(prompt, PLAIN)
    assert not fits(prompt, "a < b")
    assert not fits(prompt, "a > b")


def test_its_transcript_shows_what_was_told_beside_a_prompt() -> None:
    from barry_adapter_gemini.inbox import shows

    def row(kind: str, *texts: str) -> bytes:
        return json.dumps({"type": kind, "content": [{"text": text} for text in texts]}).encode()

    assert list(shows(row("user", "go on", f"<hook_context>{PLAIN}</hook_context>"))) == [
        "go on",
        PLAIN,
    ]
    # What it warns of, and what it rewrites of an older conversation, was told to nobody.
    assert list(shows(row("warning", f"Agent execution blocked: {PLAIN}"))) == []
    rewritten = {"$set": {"messages": [{"type": "user", "content": [{"text": PLAIN}]}]}}
    assert list(shows(json.dumps(rewritten).encode())) == []
    for line in (b"", b"{", b"[]", b'"user"', b'{"type": "user", "content": 3}'):
        assert list(shows(line)) == []
