"""The headless end: text, NDJSON, exit status, stdin, signals, scripts."""

import json
import os
import signal
import subprocess

import pytest


def kinds(events):
    return [each["type"] for each in events]


def test_text(demo):
    done = demo.run("-p", "hello  there")
    assert (done.returncode, done.stdout, done.stderr) == (0, "demo heard: hello  there\n", "")


def test_ndjson_of_a_plain_turn(demo):
    events = demo.events("one two three")
    assert kinds(events) == [
        "init", *["text_delta"] * 5, "text", "usage", "result",
    ]  # fmt: skip
    assert "".join(each["text"] for each in events if each["type"] == "text_delta") == (
        "demo heard: one two three"
    )
    first, last = events[0], events[-1]
    assert first["tools"] == ["shell", "read", "write", "fetch", "agent"]
    assert first["cwd"] == str(demo.cwd)
    assert last["ok"] is True
    assert last["session_id"] == first["session_id"]
    assert last["text"] == "demo heard: one two three"


def test_tool_that_is_allowed_runs(demo):
    events = demo.events("run echo hi; echo err >&2", "--allow", "shell")
    (result,) = [each for each in events if each["type"] == "tool_result"]
    assert (result["ok"], result["decision"], result["output"]) == (True, "ran", "hi\nerr\n")


def test_tool_that_is_not_allowed_is_refused_and_the_model_is_told(demo):
    events = demo.events("run touch x", "--allow", "read")
    (result,) = [each for each in events if each["type"] == "tool_result"]
    assert (result["ok"], result["decision"]) == (False, "refused")
    assert not (demo.cwd / "x").exists()
    assert events[-1]["ok"] is True
    assert "shell did not run: refused" in events[-1]["text"]


def test_stdin_is_read_for_a_dash_only(demo):
    assert demo.run("-p", "-", text="from\nstdin\n").stdout == "demo heard: from\nstdin\n\n"
    read, write = os.pipe()  # Nobody ever writes.
    try:
        assert demo.run("-p", "hello", stdin=read).returncode == 0
    finally:
        os.close(read)
        os.close(write)


def test_empty_stdin_is_an_empty_prompt(demo):
    done = demo.run("-p", "-", text=" \n")
    assert (done.returncode, done.stderr) == (2, "demo: the prompt is empty\n")


def test_bytes_that_are_no_text(demo):
    done = subprocess.run(
        [*demo.command, "-p", b"a\xffb", "--output", "ndjson"],
        cwd=demo.cwd, env=demo.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
        check=True,
    )  # fmt: skip
    assert json.loads(done.stdout.decode().splitlines()[-1])["text"] == "demo heard: a?b"


def test_unicode_survives(demo):
    assert demo.run("-p", "zażółć 😀\tgęślą").stdout == "demo heard: zażółć 😀\tgęślą\n"


def test_script_steps_in_order(demo):
    script = demo.script(
        ("go", {"text": "first"}, {"tool": "shell", "input": {"command": "echo out"}},
         {"delay": 0.2}, {"text": "got {result} for {prompt} under {system}"}),
        ("", {"text": "anything else"}),
    )  # fmt: skip
    events = demo.events("go now", "--script", script, "--allow", "shell", "--system-prompt", "S")
    assert [each for each in kinds(events) if each != "text_delta"] == [
        "init", "text", "tool_use", "tool_result", "text", "usage", "result",
    ]  # fmt: skip
    assert events[-1]["text"] == "first\ngot out\n for go now under S"
    assert demo.events("x", "--script", script)[-1]["text"] == "anything else"


def test_script_from_the_environment(demo):
    demo.env["BARRY_DEMO_SCRIPT"] = demo.script(("", {"text": "scripted"}))
    assert demo.run("-p", "x").stdout == "scripted\n"


def test_without_a_matching_rule_the_built_in_assistant_answers(demo):
    assert demo.run("-p", "x", "--script", demo.script(("y", {"text": "no"}))).stdout == (
        "demo heard: x\n"
    )


def test_error_fails_the_turn(demo):
    script = demo.script(("", {"text": "so far"}, {"error": "overloaded"}, {"text": "never"}))
    done = demo.run("-p", "x", "--script", script)
    assert (done.returncode, done.stdout, done.stderr) == (1, "so far\n", "demo: overloaded\n")
    last = demo.events("x", "--script", script)[-1]
    assert (last["ok"], last["text"]) == (False, "so far")
    assert last["error"] == {"code": "model", "message": "overloaded"}


def test_crash_is_abrupt(demo):
    done = demo.run("-p", "x", "--output", "ndjson", "--script", demo.script(("", {"crash": True})))
    assert done.returncode == 70
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["init"]
    assert done.stderr == "demo: crashed, as the script says\n"


def test_garbage_is_no_json(demo):
    script = demo.script(("", {"garbage": "}{ Killed"}, {"text": "ok"}))
    lines = demo.run("-p", "x", "--output", "ndjson", "--script", script).stdout.splitlines()
    assert lines[1] == "}{ Killed"
    assert json.loads(lines[-1])["ok"] is True


@pytest.mark.parametrize(
    ("number", "status", "code"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "interrupted"),
        (signal.SIGHUP, 129, "interrupted"),
    ],
)
def test_signals_end_a_hanging_turn(demo, wait_for, number, status, code):
    script = demo.script(("", {"text": "a"}, {"hang": True}))
    child = demo.popen("-p", "x", "--output", "ndjson", "--script", script)
    wait_for(lambda: any(each["type"] == "assistant" for each in demo.recorded()[:])
             if demo.transcripts() else False)  # fmt: skip
    assert child.poll() is None
    child.send_signal(number)
    out, _ = child.communicate(timeout=10)
    assert child.returncode == status
    last = json.loads(out.splitlines()[-1])
    assert (last["type"], last["ok"], last["error"]["code"]) == ("result", False, code)
    assert demo.recorded()[-1]["type"] == "error"


def test_a_signal_that_was_ignored_at_the_start_stays_ignored(demo, wait_for):
    script = demo.script(("", {"text": "a"}, {"delay": 1.0}))
    child = demo.popen(
        "-p", "x", "--script", script,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    wait_for(demo.transcripts)
    child.send_signal(signal.SIGHUP)
    child.communicate(timeout=10)
    assert child.returncode == 0


def test_term_ends_a_turn_whose_reader_is_stuck(demo, wait_for):
    script = demo.script(("", {"text": "x" * 400_000}))
    child = demo.popen("-p", "x", "--script", script)
    wait_for(demo.transcripts)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=0.7)  # It waits for a reader.
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=10) == 143


BAD_SCRIPTS = [
    ("{", "is not JSON"),
    ({}, "is not a list of rules"),
    ([1], "rule 1: must be an object"),
    ([{"when": "x"}], "rule 1: must be an object"),
    ([{"when": 1, "then": []}], "rule 1:"),
    ([{"when": "", "then": [{}]}], "rule 1, step 1: must be an object with one of text"),
    ([{"when": "", "then": [{"text": "a", "tool": "b"}]}], "step 1"),
    ([{"when": "", "then": [{"text": 1}]}], "must be a text"),
    ([{"when": "", "then": [{"text": "a", "input": {}}]}], "mean nothing"),
    ([{"when": "", "then": [{"tool": "shell", "input": []}]}], "input must be an object"),
    ([{"when": "", "then": [{"delay": -1}]}], "a delay is"),
    ([{"when": "", "then": [{"delay": True}]}], "a delay is"),
    ([{"when": "", "then": [{"crash": False}]}], "can only be true"),
]


@pytest.mark.parametrize(("script", "words"), BAD_SCRIPTS, ids=lambda each: str(each)[:40])
def test_bad_script(demo, script, words):
    done = demo.run("-p", "x", "--script", demo.file("bad.json", script))
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
