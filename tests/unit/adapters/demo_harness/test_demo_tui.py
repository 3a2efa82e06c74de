"""The terminal end."""

import os
import signal
import termios

import pexpect
import pytest

ONE = "11111111-2222-4333-8444-555555555555"


def sane(child):
    """Whether the terminal is as a shell left it: echo and lines on."""
    mode = termios.tcgetattr(child.child_fd)
    return bool(mode[3] & termios.ECHO and mode[3] & termios.ICANON)


def test_talk_and_exit(demo, prompt, ended):
    child = demo.tui()
    child.expect_exact("\x1b[?2004h")
    child.expect(r"demo 1\.0\.0, model echo, session [0-9a-f-]{36}")
    prompt(child)
    child.send("hello\r")
    child.expect_exact("demo> demo heard: hello\r\n")
    prompt(child)
    child.send("/exit\r")
    child.expect_exact("\x1b[?2004l")
    assert ended(child) == 0
    assert [each["text"] for each in demo.recorded() if each["type"] == "user"] == ["hello"]


@pytest.mark.parametrize(("command", "status"), [("/exit 42", 42), ("/exit 0", 0)])
def test_exit_status(demo, prompt, ended, command, status):
    child = demo.tui()
    prompt(child)
    child.send("/exit 300\r")
    child.expect_exact("a number from 0 to 255")
    child.send(f"{command}\r")
    assert ended(child) == status
    assert demo.transcripts() == []  # Nothing was said, nothing is kept.


def test_end_of_file(demo, prompt, ended):
    child = demo.tui()
    prompt(child)
    child.send("x\x04")  # Not on an empty line: nothing happens.
    child.send("\x15\x04")
    assert ended(child) == 0


def test_interrupt_twice_at_the_prompt(demo, prompt, ended):
    child = demo.tui()
    prompt(child)
    child.send("half")
    child.expect_exact("half")
    child.send("\x03")  # Clears the line only.
    prompt(child)
    assert "again" not in child.before
    child.send("\x03")
    child.expect_exact("press ^C again")
    prompt(child)
    child.send("hello\r")  # In between: the count starts anew.
    child.expect_exact("demo heard: hello")
    prompt(child)
    child.send("\x03")
    child.expect_exact("press ^C again")
    prompt(child)
    child.send("\x03")
    assert ended(child) == 0


def test_interrupt_an_answer(demo, prompt):
    child = demo.tui("--script", demo.script(("go", {"text": "word " * 50}, {"hang": True})))
    prompt(child)
    child.send("go\r")
    child.expect_exact("demo> word")
    child.send("\x03")
    child.expect_exact("(interrupted)")
    prompt(child)
    child.send("still here\r")
    child.expect_exact("demo heard: still here")
    kinds = [(each["type"], each.get("code")) for each in demo.recorded()]
    assert ("error", "interrupted") in kinds
    assert next(each for each in demo.recorded() if each["type"] == "assistant")["partial"]


def test_interrupt_a_tool(demo, prompt, gone, wait_for):
    child = demo.tui("--allow", "shell")
    prompt(child)
    child.send("run echo $$ > pid; sleep 300; true\r")
    pid = int(wait_for(lambda: (demo.cwd / "pid").exists() and (demo.cwd / "pid").read_text()))
    child.send("\x03")
    child.expect_exact("(interrupted)")
    prompt(child)
    assert gone(pid)


def test_permission(demo, prompt):
    child = demo.tui()
    for answers, exists in (["n"], False), (["", "", "maybe", "y"], True):
        prompt(child)
        child.send("run touch made\r")
        for answer in answers:
            child.expect_exact("allow shell: touch made? [y]es/[n]o/[a]lways ")
            child.send(f"{answer}\r")
        child.expect_exact("demo> shell " + ("ran" if exists else "did not run"))
        assert (demo.cwd / "made").exists() is exists
    prompt(child)
    child.send("read made\r")
    child.expect_exact("allow read: made? ")
    child.send("\x04")  # The end of the input allows nothing.
    child.expect_exact("the user did not allow read")
    prompt(child)
    child.send("write made x\r")
    child.expect_exact("allow write: made? ")
    child.send("\x03")
    child.expect_exact("(interrupted)")
    assert (demo.cwd / "made").read_text() == ""


def test_always(demo, prompt):
    child = demo.tui()
    prompt(child)
    child.send("run echo one\r")
    child.expect_exact("lways ")
    child.send("always\r")
    child.expect_exact("ran:\r\none")
    prompt(child)
    child.send("run echo two\r")
    child.expect_exact("ran:\r\ntwo")
    assert "allow" not in child.before
    prompt(child)
    child.send("read x\r")
    child.expect_exact("allow read")  # Always is for that tool alone.


def test_typed_ahead_or_pasted_text_allows_nothing(demo, prompt):
    child = demo.tui("--script", demo.script(
        ("go", {"delay": 0.5}, {"tool": "shell", "input": {"command": "touch made"}})
    ))  # fmt: skip
    prompt(child)
    child.send("go\r")
    child.expect_exact("go\r\n")
    child.send("y\r")  # Before the question is there.
    child.expect_exact("lways ")
    child.send("\x1b[200~y\r\x1b[201~")
    child.send("\r")
    child.expect_exact("lways ")  # Asked again.
    assert not (demo.cwd / "made").exists()
    child.send("n\r")
    child.expect_exact("demo heard: y")  # What was typed ahead is the next message.
    assert not (demo.cwd / "made").exists()


def test_question_shows_what_would_hide(demo, prompt):
    child = demo.tui("--script", demo.script(
        ("go", {"tool": "shell", "input": {"command": "evil\r\x1b[2Kecho\u202e ok\n"}})
    ))  # fmt: skip
    prompt(child)
    child.send("go\r")
    child.expect_exact(r"allow shell: evil\r\x1b[2Kecho\u202e ok\n? ")


def test_answer_cannot_move_the_cursor(demo, prompt):
    child = demo.tui("--script", demo.script(("go", {"text": "a\x1b[2J\x9b2Jb\rc"})))
    prompt(child)
    child.send("go\r")
    child.expect_exact("demo> a\ufffd[2J\ufffd2Jb\ufffdc\r\n")
    garbage = demo.tui("--script", demo.script(("go", {"garbage": "\x1b[2Jraw"})))
    prompt(garbage)
    garbage.send("go\r")
    garbage.expect_exact("\x1b[2Jraw")  # Asked for, so given.


def test_paste_is_one_message_byte_for_byte(demo, prompt):
    text = "first\tline\n/second 😀\nthird\n"
    child = demo.tui()
    prompt(child)
    child.send(f"\x1b[200~{text}\x1b[201~")
    child.send("\r")
    child.expect_exact("demo> ")
    prompt(child)
    assert [each["text"] for each in demo.recorded() if each["type"] == "user"] == [text]


def test_long_line(demo, prompt):
    text = "x" * 20_000
    child = demo.tui()
    prompt(child)
    child.send(f"\x1b[200~{text}\x1b[201~\r")
    child.expect_exact("demo heard: ")
    prompt(child)
    assert demo.recorded()[1]["text"] == text


def test_editing(demo, prompt):
    child = demo.tui()
    prompt(child)
    child.send("hellp\x7fo wurld\x17world 世界\x7f\x1b[D\x1b[A!\r")
    child.expect_exact("demo heard: hello world 世!")
    prompt(child)
    child.send("gone\x15\x7f\x17here\r")
    child.expect_exact("demo heard: here")


def test_slash(demo, prompt):
    child = demo.tui()
    prompt(child)
    child.send("/nope\r")
    child.expect_exact("no command /nope")
    prompt(child)
    child.send("/usr/bin is full\r")  # A path is a message.
    child.expect_exact("demo heard: /usr/bin is full")
    prompt(child)
    child.send("/model\r")
    child.expect_exact("model: echo")
    child.send("/model shout\rhello\r")
    child.expect_exact("DEMO HEARD: HELLO")
    prompt(child)
    child.send("/model gpt\r")
    child.expect_exact("no model 'gpt'")
    child.send("   \r")
    prompt(child)
    assert [each["text"] for each in demo.recorded() if each["type"] == "user"] == [
        "/usr/bin is full", "hello",
    ]  # fmt: skip


def test_tools_list(demo, prompt):
    child = demo.tui("--deny", "write", "--allow", "read")
    prompt(child)
    child.send("/tools\r")
    child.expect_exact("  shell\r\n  read (runs without asking)\r\n")
    prompt(child)
    assert "write" not in child.before


def test_first_message_on_the_command_line(demo, prompt):
    child = demo.tui("hello there")
    child.expect_exact("you> hello there\r\ndemo> demo heard: hello there")
    prompt(child)


def test_error_is_shown_and_the_talk_goes_on(demo, prompt):
    child = demo.tui("--script", demo.script(("go", {"error": "overloaded"})))
    prompt(child)
    child.send("go\r")
    child.expect_exact("error: overloaded")
    prompt(child)
    child.send("hi\r")
    child.expect_exact("demo heard: hi")


def test_resume_shows_the_history(demo, prompt):
    demo.run("-p", "hello", "--session-id", ONE)
    demo.run("-p", "run true", "--resume", ONE)
    for flags in (["--resume", ONE], ["--last"]):
        child = demo.tui(*flags)
        child.expect_exact(f"session {ONE}")
        child.expect_exact("you> hello\r\ndemo> demo heard: hello\r\n")
        child.expect_exact("you> run true\r\n* shell")
        prompt(child)
        child.close(force=True)


def test_refusals_leave_the_terminal_alone(demo, ended):
    child = demo.tui("--resume", ONE)
    assert ended(child) == 1
    assert child.before == f"demo: no conversation with id {ONE} in {demo.cwd}\r\n"


def test_pick(demo, prompt, ended):
    assert ended(demo.tui("--pick")) == 1
    demo.run("-p", "older", "--session-id", ONE)
    demo.run("-p", "newer")
    child = demo.tui("--pick")
    child.expect_exact("newer\r\n")
    child.expect_exact(f"2. {ONE}  older\r\n")
    child.expect_exact("which one?")
    child.send("3\r")
    child.expect_exact("a number from 1 to 2")
    child.send("2\r")
    child.expect_exact(f"session {ONE}")
    prompt(child)
    child = demo.tui("--pick")
    child.expect_exact("which one?")
    child.send("\r")
    assert ended(child) == 0


def test_colours(demo, prompt):
    child = demo.tui(NO_COLOR="")
    prompt(child)
    assert "\x1b[1;36m" in child.before
    child = demo.tui()
    prompt(child)
    assert "m" not in child.before.replace("demo", "").replace("model", "").replace("commands", "")
    assert "\x1b[?2004h" in child.before


def test_dumb_terminal_gets_no_escape_codes(demo, prompt, ended):
    child = demo.tui(TERM="dumb", NO_COLOR="")
    prompt(child)
    before = child.before
    child.send("/exit\r")
    assert ended(child) == 0
    assert "\x1b" not in before + child.before


def test_resize_is_harmless(demo, prompt):
    child = demo.tui()
    prompt(child)
    child.send("hel")
    child.setwinsize(10, 20)
    child.setwinsize(40, 200)
    child.send("lo\r")
    child.expect_exact("demo heard: hello")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("busy", ["prompt", "half a line", "answer", "question", "tool"])
def test_end_by_signal_restores_the_terminal(demo, prompt, ended, number, status, busy):
    child = demo.tui("--script", demo.script(("go", {"text": "working"}, {"hang": True})))
    prompt(child)
    assert not sane(child)
    if busy == "half a line":
        child.send("half")
        child.expect_exact("half")
    elif busy == "answer":
        child.send("go\r")
        child.expect_exact("working")
    elif busy in ("question", "tool"):
        child.send("run sleep 300\r")
        child.expect_exact("lways ")
        if busy == "tool":
            child.send("y\r")
            child.expect_exact("y\r\n")
    os.kill(child.pid, number)
    child.expect_exact("\x1b[?2004l")
    child.expect(pexpect.EOF)
    assert sane(child)
    assert ended(child) == status


def test_closing_the_terminal_ends_it(demo, prompt):
    child = demo.tui("--script", demo.script(("go", {"hang": True})))
    prompt(child)
    child.send("go\r")
    child.expect_exact("go\r\n")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, child.child_fd)  # Closes our end of the terminal.
    os.close(null)
    assert child.wait() == 129


def test_quit_key_and_huge_numbers_do_not_break_it(demo, prompt):
    child = demo.tui()
    prompt(child)
    child.send("\x1c/exit " + "9" * 5000 + "\r")
    child.expect_exact("a number from 0 to 255")
    prompt(child)
    child.send("\x1chi\r")
    child.expect_exact("demo heard: hi")
