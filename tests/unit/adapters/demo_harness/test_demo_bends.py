"""Every bend is wrong in its own way, says so, and without it all is right."""

import os
import signal
import termios

import pexpect
import pytest

ONE = "11111111-2222-4333-8444-555555555555"


@pytest.fixture(params=["flag", "environment"])
def bend(request, demo):
    """Bends one thing; the flags for it."""

    def bent(name):
        if request.param == "flag":
            return ["--bend", name]
        demo.env["BARRY_DEMO_BEND"] = name
        return []

    return bent


@pytest.mark.parametrize("withheld", [["--deny", "shell"], ["--tools", "read"]])
def test_ignore_deny(demo, bend, withheld):
    assert demo.events("run touch x", *withheld)[-1]["ok"]
    assert not (demo.cwd / "x").exists()
    flags = bend("ignore-deny")
    done = demo.run("-p", "run touch x", *withheld, *flags)
    assert (done.returncode, done.stderr) == (0, "demo: bent for tests: ignore-deny\n")
    assert (demo.cwd / "x").exists()
    assert "shell" not in demo.events("x", *withheld, *flags)[0]["tools"]
    # Only what is withheld: another tool still is refused.
    demo.run("-p", "write y z", *withheld, *flags)
    assert (demo.cwd / "y").exists() is ("--tools" in withheld)


def test_no_transcript(demo, bend):
    done = demo.run("-p", "x", "--session-id", ONE, *bend("no-transcript"))
    assert (done.returncode, done.stdout) == (0, "demo heard: x\n")
    assert demo.transcripts() == []


def test_wrong_id(demo, bend):
    demo.run("-p", "before", "--session-id", ONE)
    flags = bend("wrong-id")
    first = demo.events("recall", "--resume", ONE, *flags)
    assert first[0]["session_id"] != ONE
    assert first[-1]["text"] == "before this you said: before"
    other = ONE.replace("5", "6")
    assert demo.events("x", "--session-id", other, *flags)[0]["session_id"] != other
    assert len(demo.transcripts()) == 3
    # What is asked for is still checked.
    assert demo.run("-p", "x", "--resume", other, *flags).returncode == 1


def test_ignore_term(demo, bend, wait_for):
    script = demo.script(("", {"text": "a"}, {"delay": 1.5}))
    child = demo.popen("-p", "x", "--script", script, *bend("ignore-term"))
    wait_for(demo.transcripts)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=10)
    assert child.returncode == 0


def test_ignore_term_is_not_passed_on_to_tools(demo):
    flags = ["--allow", "shell", "--bend", "ignore-term"]
    (result,) = [
        each for each in demo.events("run kill -TERM $$", *flags) if each["type"] == "tool_result"
    ]
    assert result["output"] == "(exit -15)"


@pytest.mark.parametrize("how", ["/exit", "term"])
def test_leave_raw(demo, prompt, bend, how):
    child = demo.tui(*bend("leave-raw"))
    child.expect_exact("bent for tests: leave-raw")
    prompt(child)
    if how == "term":
        os.kill(child.pid, signal.SIGTERM)
    else:
        child.send("/exit\r")
    child.expect_exact("\x1b[?1049h")
    child.expect(pexpect.EOF)
    mode = termios.tcgetattr(child.child_fd)
    assert not mode[3] & (termios.ECHO | termios.ICANON | termios.ISIG)
