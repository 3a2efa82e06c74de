"""The end for a program: messages, rulings and interrupts in, events out."""

import json
import subprocess

import pytest


class Driven:
    """The program, talked to line by line."""

    def __init__(self, demo, *arguments):
        self.child = demo.popen(
            "-p", "--input", "ndjson", "--output", "ndjson", *arguments, stdin=subprocess.PIPE
        )

    def tell(self, **message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def until(self, kind):
        """The events up to the next of a kind."""
        found = []
        for line in self.child.stdout:
            found.append(json.loads(line))
            if found[-1]["type"] == kind:
                return found
        raise AssertionError(f"it ended without {kind}: {found}")

    def end(self):
        self.child.stdin.close()
        return self.child.wait(10)


def test_turn_after_turn(demo):
    driven = Driven(demo)
    for text in ("one", "two"):
        driven.tell(type="message", text=text)
        events = driven.until("result")
        assert (events[0]["type"], events[-1]["text"]) == ("init", f"demo heard: {text}")
    driven.tell(type="message", text="recall")
    assert driven.until("result")[-1]["text"] == "before this you said: two"
    assert driven.end() == 0


def test_messages_that_come_during_a_turn_wait(demo):
    driven = Driven(demo)
    for text in ("one two three four", "recall"):
        driven.tell(type="message", text=text)
    assert driven.until("result")[-1]["text"] == "demo heard: one two three four"
    assert driven.until("result")[-1]["text"] == "before this you said: one two three four"


def test_the_end_of_stdin_lets_what_was_said_be_answered(demo):
    driven = Driven(demo)
    driven.tell(type="message", text="one")
    assert driven.end() == 0


def test_each_call_is_asked_about(demo):
    driven = Driven(demo)
    driven.tell(type="message", text="run touch made")
    ask = driven.until("ask")[-1]
    assert (ask["name"], ask["input"]) == ("shell", {"command": "touch made"})
    assert not (demo.cwd / "made").exists()
    driven.tell(type="answer", id="another", allow=True)
    driven.tell(type="answer", id=ask["id"], allow=False, reason="not in here")
    events = driven.until("result")
    (result,) = [each for each in events if each["type"] == "tool_result"]
    assert (result["ok"], result["output"]) == (False, "denied: not in here")
    assert events[-1]["text"] == "shell did not run: denied: not in here"
    assert not (demo.cwd / "made").exists()
    driven.tell(type="message", text="run touch made")
    driven.tell(type="answer", id=driven.until("ask")[-1]["id"], allow=True)
    assert driven.until("result")[-1]["ok"] is True
    assert (demo.cwd / "made").exists()


@pytest.mark.parametrize("answer", [{}, {"allow": "true"}, {"allow": 1}])
def test_only_true_allows(demo, answer):
    driven = Driven(demo)
    driven.tell(type="message", text="run touch made")
    driven.tell(type="answer", id=driven.until("ask")[-1]["id"], **answer)
    assert "it was not allowed" in driven.until("result")[-1]["text"]
    assert not (demo.cwd / "made").exists()


def test_an_interrupt_ends_the_turn_and_not_the_program(demo):
    driven = Driven(demo)
    driven.tell(type="message", text="run sleep 60")
    driven.tell(type="answer", id=driven.until("ask")[-1]["id"], allow=True)
    driven.tell(type="interrupt")
    assert driven.until("result")[-1]["error"]["code"] == "interrupted"
    driven.tell(type="message", text="run sleep 60")
    driven.until("ask")
    driven.tell(type="interrupt")  # while it asks
    assert driven.until("result")[-1]["error"]["code"] == "interrupted"
    driven.tell(type="interrupt")  # while it does nothing
    driven.tell(type="message", text="still there")
    assert driven.until("result")[-1]["text"] == "demo heard: still there"
    assert driven.end() == 0


def test_who_is_gone_allows_nothing(demo):
    driven = Driven(demo)
    driven.tell(type="message", text="run touch made")
    driven.until("ask")
    driven.end()
    assert not (demo.cwd / "made").exists()


def test_what_is_no_message_ends_it(demo):
    driven = Driven(demo)
    driven.child.stdin.write("what?\n")
    assert driven.end() == 1
    assert "cannot be read" in driven.child.stderr.read()


def test_a_copy_of_a_conversation(demo):
    first = demo.events("remember the moon")[0]["session_id"]
    copy = demo.events("recall", "--resume", first, "--fork")
    assert copy[-1]["text"] == "before this you said: remember the moon"
    assert copy[0]["session_id"] != first
    again = demo.events("recall", "--resume", copy[0]["session_id"])
    assert again[-1]["text"] == "before this you said: recall"
    assert demo.events("recall", "--resume", first)[-1]["text"].endswith("remember the moon")


def test_a_conversation_that_is_not_written_down(demo):
    known = demo.events("hello", "--ephemeral")[0]["session_id"]
    assert not list(demo.home.rglob("*.jsonl"))
    assert demo.run("-p", "recall", "--resume", known).returncode == 1


@pytest.mark.parametrize(
    ("step", "code", "reset"),
    [
        ({"quota": 1_900_000_000}, "quota", 1_900_000_000),
        ({"outage": "back soon"}, "outage", None),
        ({"error": "bad"}, "model", None),
    ],
)
def test_failures_are_told_apart(demo, step, code, reset):
    events = demo.events("x", "--script", demo.script(("x", step)))
    error = events[-1]["error"]
    assert (error["code"], error.get("reset_at")) == (code, reset)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--input", "ndjson"),
        ("-p", "--input", "ndjson"),
        ("-p", "--input", "ndjson", "--output", "ndjson", "hello"),
        ("-p", "hello", "--fork"),
    ],
    ids=" ".join,
)
def test_what_does_not_go_together(demo, arguments):
    assert demo.run(*arguments).returncode == 2
