"""The tools: really acting, refusing, bounded, leaving nothing behind."""

import os
import signal

import pytest


def call(demo, prompt, *arguments, **kwargs):
    """One tool call, allowed unless the arguments say otherwise; its result event."""
    allow = [part for tool in ("shell", "read", "write") for part in ("--allow", tool)]
    events = demo.events(prompt, *allow, *arguments, **kwargs)
    (result,) = [each for each in events if each["type"] == "tool_result"]
    return result


def test_write_then_read(demo):
    assert call(demo, "write sub/a.txt héllo  you")["ok"]
    assert (demo.cwd / "sub" / "a.txt").read_text() == "héllo  you"
    assert call(demo, "read sub/a.txt")["output"] == "héllo  you"


def test_write_replaces_and_keeps_the_mode(demo):
    target = demo.cwd / "a"
    target.write_text("long before")
    target.chmod(0o640)
    assert call(demo, "write a short")["ok"]
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("short", 0o640)


def test_failures_are_told(demo):
    assert call(demo, "read nope")["output"] == "read: No such file or directory: nope"
    assert call(demo, "read .")["output"].endswith("is not a file")
    assert not call(demo, "write . x")["ok"]
    result = call(demo, "run printf abc; exit 3")
    assert (result["ok"], result["output"]) == (False, "abc\n(exit 3)")
    assert call(demo, "run kill -9 $$")["output"] == "(exit -9)"


def test_a_pipe_is_no_file(demo):
    os.mkfifo(demo.cwd / "pipe")
    assert not call(demo, "read pipe")["ok"]
    assert not call(demo, "write pipe x")["ok"]


@pytest.mark.parametrize("tool", ["read", "write"])
def test_outside_of_the_roots_is_refused(demo, tool):
    secret = demo.base / "secret"
    secret.write_text("before")
    (demo.cwd / "link").symlink_to(secret)
    (demo.cwd / "dir").symlink_to(demo.base)
    for path in (str(secret), "../secret", "link", "dir/secret", "/etc/passwd"):
        result = call(demo, f"{tool} {path} x".removesuffix(" x" if tool == "read" else ""))
        assert (result["ok"], result["decision"]) == (False, "refused"), path
        assert "outside the working directories" in result["output"]
    assert secret.read_text() == "before"
    # The counter-case: with the directory added the same calls work.
    result = call(demo, "read ../secret", "--add-dir", str(demo.base))
    assert (result["ok"], result["output"]) == (True, "before")
    assert call(demo, "write link after", "--add-dir", str(demo.base))["ok"]
    assert secret.read_text() == "after"


def test_a_root_is_no_prefix(demo):
    beside = demo.base / "work2"
    beside.mkdir()
    assert call(demo, f"write {beside}/x y")["decision"] == "refused"


@pytest.mark.parametrize(
    "arguments", [["--deny", "shell"], ["--tools", "read,write"], ["--tools", ""]]
)
def test_withheld_tool_is_not_available(demo, arguments):
    result = call(demo, "run touch x", *arguments)
    assert (result["decision"], result["output"]) == ("unavailable", "tool not available: shell")
    assert not (demo.cwd / "x").exists()
    assert "shell" not in demo.events("x", *arguments)[0]["tools"]
    assert call(demo, "run touch x")["ok"]  # The counter-case.
    assert (demo.cwd / "x").exists()


def test_unknown_tool_and_bad_input(demo):
    assert call(demo, "call Bash {}")["decision"] == "unavailable"
    assert call(demo, "call mcp__a__b {}")["decision"] == "unavailable"
    for value in ("{}", '{"command": 1}', '{"command": "true", "more": "x"}'):
        assert call(demo, f"call shell {value}")["decision"] == "invalid"
    assert call(demo, 'call shell {"command": "a\\u0000b"}')["decision"] == "invalid"
    assert call(demo, 'call read {"path": "a\\u0000b"}')["decision"] == "invalid"


def test_output_is_bounded(demo):
    result = call(demo, "run yes | head -c 3000000")
    assert result["ok"]
    assert 32_000 < len(result["output"]) < 33_000
    assert "(cut after 32768 characters)" in result["output"]
    (demo.cwd / "big").write_text("z" * 1_000_000)
    assert 32_000 < len(call(demo, "read big")["output"]) < 33_000


def test_shell_has_no_terminal_and_no_input(demo):
    result = call(demo, "run cat; test -t 0 || echo none; (: </dev/tty) 2>/dev/null || echo notty")
    assert result["output"] == "none\nnotty\n"


def test_background_jobs_end_with_the_call(demo, gone):
    result = call(demo, "run sleep 300 & echo $!")
    assert result["ok"]
    assert gone(int(result["output"]))


def test_flood_from_a_background_job_does_not_hold_the_call(demo):
    assert call(demo, "run yes & sleep 0.1")["ok"]


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_signal_kills_the_whole_group(demo, gone, wait_for, trap):
    prompt = f"run {trap}sleep 300 & echo $! > one; echo $$ > two; sleep 300; true"
    child = demo.popen("-p", prompt, "--allow", "shell")
    wait_for(lambda: (demo.cwd / "two").exists() and (demo.cwd / "two").read_text())
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=10)
    assert child.returncode == 143
    for name in ("one", "two"):
        assert gone(int((demo.cwd / name).read_text()))
    (result,) = [each for each in demo.recorded() if each["type"] == "tool_result"]
    assert result["decision"] == "cancelled"


@pytest.mark.parametrize("value", ['{"command": "\\ud800"}', '{"command": "a\\u0000"}'])
def test_text_that_the_system_cannot_take(demo, value):
    assert call(demo, f"call shell {value}")["decision"] == "invalid"


def test_command_that_is_too_long(demo):
    script = demo.script(("", {"tool": "shell", "input": {"command": "x" * 3_000_000}}))
    result = call(demo, "go", "--script", script)
    assert result["output"].startswith("shell: Argument list too long: xxx")
    assert len(result["output"]) < 33_000


@pytest.mark.parametrize("depth", [500, 900, 960, 980, 990, 5000])
def test_input_that_is_nested_deeply(demo, depth):
    prompt = 'call shell {"command": ' + "[" * depth + "]" * depth + "}"
    done = demo.run("-p", "--output", "ndjson", "-", text=prompt)
    assert done.returncode in (0, 1)
    assert "fault" not in done.stderr
    assert '"type":"result"' in done.stdout.splitlines()[-1]
