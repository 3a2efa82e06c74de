"""A driven session that goes on, is copied, and can't go on."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from tests.toy import Barry, Done, says


def session(barry: Barry, *words: str, id: str = "demo") -> str:
    """A session with one turn; its id."""
    done = barry.run("session", "start", id, *words)
    assert done.code == 0, done
    return barry.sessions.all()[0].id


def resume(barry: Barry, *words: str, verb: str = "resume") -> Done:
    return barry.run("session", verb, *words)


def test_it_goes_on_in_its_own_folder(demo: Barry) -> None:
    first = session(demo, "remember the moon")
    elsewhere = demo.top / "elsewhere"
    elsewhere.mkdir()
    done = demo.run("session", "resume", first[:6], "recall", cwd=elsewhere)
    assert (done.code, done.out) == (0, "before this you said: remember the moon\n")
    new, old = demo.sessions.all()
    assert (new.resumed_from, new.cwd) == (old.id, old.cwd)
    assert new.harness_session_id == old.harness_session_id


def test_start_can_go_on_too(demo: Barry) -> None:
    first = session(demo, "remember the sun")
    done = demo.run("session", "start", "demo", "recall", "--resume", first)
    assert done.out == "before this you said: remember the sun\n"


def test_a_copy_leaves_it_as_it_was(demo: Barry) -> None:
    first = session(demo, "remember the stars")
    done = resume(demo, first, "recall", verb="fork")
    assert (done.code, done.out) == (0, "before this you said: remember the stars\n")
    copy = demo.sessions.all()[0]
    assert copy.harness_session_id != demo.sessions.get(first).harness_session_id
    assert resume(demo, first, "recall").out == "before this you said: remember the stars\n"
    again = demo.run("session", "start", "demo", "recall", "--fork", copy.id)
    assert again.out == "before this you said: recall\n"


def test_a_conversation_that_is_still_written(demo: Barry) -> None:
    """Two would write it; a copy has what is there by now."""
    child = demo.open("session", "start", "demo", "run sleep 60", "--json")
    child.expect('"tool_use"')
    first = demo.row().id
    both = "two would write the same conversation"
    assert f"session {first} still runs: {both}" in resume(demo, first, "recall").err
    done = demo.run("session", "start", "demo", "recall", "--fork", first)
    assert done.code == 0
    assert f"session {first} still runs: the copy has what was said up to now" in done.err
    assert both not in done.err
    child.sendintr()
    assert demo.ended(child) == 130


def test_the_prompt_may_come_from_a_file(demo: Barry) -> None:
    first = session(demo, "remember")
    (demo.work / "more.txt").write_text("and more")
    assert resume(demo, first, "--file", "more.txt").out == "demo heard: and more\n"


def test_what_was_asked_for_is_asked_for_again(demo: Barry) -> None:
    """Its bound, its model and its denials: going on widens nothing."""
    first = session(
        demo, "hello", "--bound", "read-only", "--model", "demo/shout", "--deny-tool", "read"
    )
    done = resume(demo, first, "run touch made")
    assert done.out.startswith("SHELL DID NOT RUN: DENIED")
    assert "note: held to the session before" in done.err
    assert not (demo.work / "made").exists()
    assert resume(demo, first, "read x").out == "READ DID NOT RUN: TOOL NOT AVAILABLE: READ\n"


def test_a_lost_conversation(demo: Barry) -> None:
    first = session(demo, "hello")
    shutil.rmtree(Path(os.environ["HOME"], ".barry-demo"))
    for verb in ("resume", "fork"):
        done = resume(demo, first, "recall", verb=verb)
        says(done, 2, "has no record of session", "barry session start demo")
        assert done.out == ""


def test_a_conversation_that_only_the_harness_can_miss(demo: Barry) -> None:
    first = session(demo, "say hello", id="toy")
    shutil.rmtree(demo.work / ".toy")
    says(resume(demo, first, "before"), 2, "conversation")


def test_a_session_that_never_had_one(demo: Barry) -> None:
    (demo.work / "schema.json").write_text('{"type": "object"}')
    session(demo, "say {}", "--schema", "schema.json")
    first = demo.sessions.all()[0].id
    done = resume(demo, first, "hello")
    says(done, 2, "no conversation to go on with", "barry session start demo")
    assert "--pick" not in done.err


def test_none_that_is_there(demo: Barry) -> None:
    session(demo, "hello")
    says(resume(demo, "nothing", "hello"), 2, "there is no session nothing")


def test_what_a_driven_session_does_not_take(demo: Barry) -> None:
    first = session(demo, "hello")
    says(resume(demo, first, "hello", "--dry-run"), 2, "--dry-run")
    says(resume(demo, first), 2, "the prompt is empty")


def test_what_a_launched_session_does_not_take(demo: Barry) -> None:
    child = demo.launch("--supervise")
    child.sendline("quit")
    demo.ended(child)
    (row,) = demo.sessions.all()
    says(resume(demo, row.id, "hello"), 2, "has a terminal UI")
    says(resume(demo, row.id, "hello", verb="fork"), 2, row.id)


def test_another_harness_is_not_asked(demo: Barry) -> None:
    first = session(demo, "hello")
    done = demo.run("session", "start", "toy", "say hi", "--resume", first)
    says(done, 2, first)


def test_data_from_a_conversation_that_goes_on(demo: Barry) -> None:
    first = session(demo, "hello")
    (demo.work / "schema.json").write_text(json.dumps({"type": "object", "required": ["n"]}))
    done = resume(demo, first, 'say {"n": 1}', "--schema", "schema.json")
    assert (done.code, done.json) == (0, {"n": 1})
    assert demo.sessions.all()[0].harness_session_id == demo.sessions.get(first).harness_session_id
