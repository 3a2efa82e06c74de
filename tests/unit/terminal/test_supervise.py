"""A harness under supervision behaves in an interactive shell as if Barry were absent."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from barry_cli.terminal.exit import Ended, exit_like, exit_status
from barry_cli.terminal.modes import RESET
from tests.unit.terminal.shell import HERE, Shell, alive, eventually

LINUX = sys.platform.startswith("linux")
RESETS = RESET.decode()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    opened = Shell(tmp_path)
    try:
        yield opened
    finally:
        opened.close()


def stop_and_come_back(shell: Shell, key: str) -> None:
    shell.bash.send(key)
    shell.prompt()
    assert "Stopped" in shell.run("jobs")
    shell.run("true")  # The shell works, with its own modes.
    shell.bash.sendline("fg")
    shell.bash.expect_exact("<back>")
    # Raw input: a key counts without the return key, and ^C is a key.
    shell.key("x", "<key b'x'>")
    shell.key("\x03", "<interrupt>")


# --- keys ---


@pytest.mark.parametrize("key", ["s", "g", "S", "G"])
def test_it_stops_and_comes_back_twice(shell: Shell, key: str) -> None:
    """Alone or with its group; as it stands (small) or after tidying up (capital)."""
    shell.launch("supervise")
    shell.ready()
    stop_and_come_back(shell, key)
    stop_and_come_back(shell, key)
    shell.bash.send("q")
    shell.prompt()
    assert shell.status() == 42


def test_the_shell_sees_the_stop_that_the_harness_made(shell: Shell) -> None:
    shell.launch("supervise")
    shell.ready()
    shell.bash.send("s")
    shell.prompt()
    assert shell.status() == 128 + signal.SIGTSTP
    shell.run("kill -KILL %1; wait")


def test_a_naive_parent_hangs_when_the_harness_stops_itself_alone(shell: Shell) -> None:
    shell.launch("naive")
    shell.ready()
    shell.bash.send("s")
    with pytest.raises(pexpect.TIMEOUT):
        shell.bash.expect_exact("<prompt>", timeout=1.5)


def test_a_sandbox_that_does_not_report_the_stop_inside(shell: Shell) -> None:
    """A parent in between, as a sandbox is: only looking helps."""
    between = f"{sys.executable} {HERE / 'barry.py'} {shell.folder} naive"
    shell.bash.sendline(
        f"{sys.executable} {HERE / 'barry.py'} {shell.folder} wrapped "
        f"{between} {sys.executable} {HERE / 'tui.py'}"
    )
    shell.ready()
    stop_and_come_back(shell, "s")
    stop_and_come_back(shell, "g")
    shell.bash.send("q")
    shell.prompt()
    assert shell.status() == 42


def test_interrupt_reaches_the_harness_and_not_barry(shell: Shell) -> None:
    shell.launch("supervise")
    shell.ready()
    shell.key("\x03", "<interrupt>")
    shell.key("x", "<key b'x'>")


def test_a_new_size_reaches_the_harness(shell: Shell) -> None:
    shell.launch("supervise")
    shell.ready()
    shell.key("w", "<size 24x80>")
    shell.bash.setwinsize(31, 101)
    shell.bash.expect_exact("<size 31x101>")


def test_in_the_background_it_waits_and_leaves_the_terminal_alone(shell: Shell) -> None:
    before = shell.modes()
    shell.launch("supervise", tail="&")
    assert eventually(lambda: "Stopped" in shell.run("jobs"), 10)
    assert shell.modes() == before
    shell.run("kill -TERM %1")
    assert eventually(lambda: not alive(shell.barry()))
    assert shell.modes() == before
    assert RESETS not in shell.screen.getvalue()


def test_what_ends_behind_the_prompt_leaves_the_terminal_alone(shell: Shell) -> None:
    before = shell.modes()
    shell.launch("supervise")
    shell.ready()
    shell.bash.send("s")
    shell.prompt()
    shell.run("kill -TERM %1")
    assert eventually(lambda: not alive(shell.barry()))
    assert (shell.folder / "ended").read_text() == "None 15 15"
    assert shell.modes() == before
    assert RESETS not in shell.screen.getvalue()


def test_begun_in_the_background_it_puts_nothing_back(shell: Shell) -> None:
    """What the terminal's modes were then was the shell's own, while it reads a line."""
    before = shell.modes()
    words = " ".join(barry(shell.folder, "/bin/sleep", "1"))
    shell.bash.sendline(f"{words} &")
    shell.prompt()
    assert eventually((shell.folder / "child").exists)
    shell.run("fg")
    assert eventually((shell.folder / "ended").exists)
    assert shell.modes() == before


def test_going_on_takes_the_harness_along(shell: Shell) -> None:
    """Also when only Barry is told to."""
    shell.launch("supervise")
    shell.ready()
    shell.bash.send("s")
    shell.prompt()
    os.kill(shell.barry(), signal.SIGCONT)
    shell.bash.expect_exact("<back>")


def test_a_shell_that_does_not_restore_its_own_modes(shell: Shell) -> None:
    shell.bash.sendline("PS1='<prompt>' dash -i")
    shell.prompt()
    before = shell.modes()
    shell.launch("supervise")
    shell.ready()
    shell.bash.send("s")
    shell.prompt()
    assert shell.modes() == before
    shell.bash.sendline("fg")
    shell.bash.expect_exact("<back>")
    shell.key("x", "<key b'x'>")


# --- ends ---


def test_the_harness_own_status(shell: Shell) -> None:
    before = shell.modes()
    shell.launch("supervise")
    shell.ready()
    shell.bash.send("q")
    text = shell.prompt()
    assert RESETS not in text  # A normal end is the harness's business.
    assert shell.status() == 42
    assert shell.modes() == before


@pytest.mark.parametrize(("way", "same"), [("supervise", True), ("naive", False)])
def test_raw_input_left_on_is_put_back(shell: Shell, way: str, same: bool) -> None:
    """The standard library's way is the counter-case: it shows that there is something to do."""
    before = shell.modes()
    shell.launch(way)
    shell.ready()
    shell.bash.send("r")
    shell.prompt()
    assert (shell.modes() == before) is same


def test_a_killed_harness(shell: Shell) -> None:
    before = shell.modes()
    shell.launch("supervise")
    child = shell.ready()
    shell.bash.send("f")
    shell.bash.expect(r"<started (\d+)>")
    grandchild = int(shell.bash.match[1])
    shell.watch(grandchild)
    os.kill(child, signal.SIGKILL)
    text = shell.prompt()
    assert RESETS in text
    assert shell.status() == 137
    assert shell.modes() == before
    assert alive(grandchild) is not LINUX
    assert not alive(shell.barry())


def test_bare_a_killed_harness_leaves_all_on(shell: Shell) -> None:
    shell.launch("none")
    child = shell.ready()
    shell.bash.send("f")
    shell.bash.expect(r"<started (\d+)>")
    grandchild = int(shell.bash.match[1])
    shell.watch(grandchild)
    os.kill(child, signal.SIGKILL)
    assert "\x1b[?1049l" not in shell.prompt()
    assert shell.status() == 137
    assert alive(grandchild)


def test_after_a_normal_end_what_the_harness_left_running_stays(shell: Shell) -> None:
    shell.launch("supervise")
    shell.ready()
    shell.bash.send("f")
    shell.bash.expect(r"<started (\d+)>")
    grandchild = int(shell.bash.match[1])
    shell.watch(grandchild)
    shell.bash.send("q")
    shell.prompt()
    assert alive(grandchild)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("manners", ["", "deaf"])
def test_a_signal_to_barry(shell: Shell, number: signal.Signals, manners: str) -> None:
    """It is passed on; a harness that ignores it is killed after a while."""
    before = shell.modes()
    shell.launch("supervise", manners)
    child = shell.ready()
    os.kill(shell.barry(), number)
    assert RESETS in shell.prompt()
    assert shell.status() == 128 + number
    assert shell.modes() == before
    assert not alive(child)
    ended = (shell.folder / "ended").read_text()
    assert ended == f"None {9 if manners else int(number)} {int(number)}"


def test_an_end_with_zero_after_a_signal_is_not_a_success(shell: Shell) -> None:
    shell.launch("supervise", "polite")
    shell.ready()
    os.kill(shell.barry(), signal.SIGTERM)
    assert RESETS in shell.prompt()
    assert shell.status() == 143
    assert (shell.folder / "ended").read_text() == "0 None 15"


SLOW = """
import os, signal, time
from barry_cli.terminal.exit import exit_status
from barry_cli.terminal.supervise import supervise
script = "trap 'exit 0' TERM; kill -TERM $PPID $$; sleep 9"
ended = supervise("/bin/sh", ["sh", "-c", script], {"PATH": os.environ["PATH"]}, "/",
                  on_start=lambda identity: time.sleep(0.5))
print(exit_status(ended))
"""


def test_a_signal_to_both_when_the_harness_is_faster() -> None:
    """As `kill %1` sends it: the harness had ended before Barry looked."""
    assert in_child(SLOW).stdout == "143\n"


def test_a_signal_that_does_not_end_is_passed_on_and_changes_nothing(shell: Shell) -> None:
    shell.launch("supervise")
    shell.ready()
    os.kill(shell.barry(), signal.SIGUSR1)
    shell.bash.expect_exact("<usr1>")
    shell.bash.send("q")
    assert RESETS not in shell.prompt()
    assert shell.status() == 42


@pytest.mark.skipif(not LINUX, reason="other systems have no signal at a parent's death")
def test_when_barry_is_killed_the_harness_goes_too(shell: Shell) -> None:
    shell.launch("supervise")
    child = shell.ready()
    os.kill(shell.barry(), signal.SIGKILL)
    shell.prompt()
    assert eventually(lambda: not alive(child))
    shell.run("true")


@pytest.mark.parametrize(("manners", "ended"), [("", "None 1 1"), ("deaf", "None 9 1")])
def test_a_closed_terminal_ends_all(shell: Shell, manners: str, ended: str) -> None:
    shell.launch("supervise", manners)
    child = shell.ready()
    barry = shell.barry()
    shell.watch(barry)
    shell.hang_up()
    assert eventually(lambda: not alive(child) and not alive(barry))
    assert (shell.folder / "ended").read_text() == ended


AFTERWARDS = """
import os, signal
from barry_cli.terminal.supervise import supervise
number = signal.SIGHUP
ended = supervise("/bin/sleep", ["sleep", "20"], {}, "/",
                  on_start=lambda identity: os.kill(os.getpid(), number))
os.kill(os.getpid(), number)
print(ended.signal, flush=True)
signal.signal(number, signal.SIG_DFL)
os.kill(os.getpid(), number)
"""


def test_a_second_signal_does_not_cut_the_way_out_short() -> None:
    """A closing terminal sends two. The last lines are the counter-case."""
    done = in_child(AFTERWARDS)
    assert (done.stdout, done.returncode) == ("1\n", -signal.SIGHUP)


def test_the_foreground_is_taken_back_from_nobody(shell: Shell) -> None:
    """A shell without job control does not do it: what follows there could not use the terminal."""
    words = f"{sys.executable} {HERE / 'barry.py'} {shell.folder} supervise {sys.executable}"
    shell.bash.sendline(
        f"sh -c 'stty -g; {words} {HERE / 'tui.py'}; stty -g; read line; echo got $line'"
    )
    child = shell.ready()
    shell.bash.send("b")
    shell.bash.expect(r"<started (\d+)>")
    shell.watch(int(shell.bash.match[1]))
    os.kill(child, signal.SIGKILL)
    shell.bash.expect_exact(RESETS)
    shell.bash.sendline("words")
    assert "got words" in shell.prompt()
    first, second = re.findall(r"[0-9a-f]+(?::[0-9a-f]+){5,}", shell.screen.getvalue())
    assert first == second


def test_ticks(shell: Shell) -> None:
    shell.launch("supervise")
    shell.ready()
    ticks = shell.folder / "ticks"
    assert eventually(lambda: ticks.exists() and len(ticks.read_text()) >= 3)
    shell.bash.send("q")
    shell.prompt()


# --- without a terminal, and the child's start ---


def barry(folder: Path, *argv: str, way: str = "supervise", **more: object) -> list[str]:
    return [sys.executable, str(HERE / "barry.py"), str(folder), way, *argv]


ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HERE.parents[2])}


def test_pipes_are_inherited(tmp_path: Path) -> None:
    done = subprocess.run(
        barry(tmp_path, "/bin/sh", "-c", "tr a-z A-Z; echo oops >&2; exit 7"),
        input=b"hello\n",
        capture_output=True,
        env=ENVIRONMENT,
        timeout=20,
        start_new_session=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, b"HELLO\n", b"oops\n")


def test_pipes_inside_a_terminal(shell: Shell) -> None:
    words = " ".join(barry(shell.folder, "/usr/bin/tr", "a-z", "A-Z"))
    assert "HELLO" in shell.run(f"echo hello | {words} | cat")


def test_without_a_terminal_a_stopped_harness_does_not_stop_barry(tmp_path: Path) -> None:
    with subprocess.Popen(
        barry(tmp_path, "/bin/sh", "-c", "kill -STOP $$; exit 5"),
        env=ENVIRONMENT,
        start_new_session=True,
    ) as process:
        child = tmp_path / "child"
        ticks = tmp_path / "ticks"
        assert eventually(lambda: ticks.exists() and len(ticks.read_text()) >= 2)
        os.kill(int(child.read_text()), signal.SIGCONT)
        assert process.wait(10) == 5


STATUS = ["/bin/grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"]


def masks(words: list[str]) -> list[int]:
    """Blocked and ignored signals of a program started like this, the C library's two apart."""
    done = subprocess.run(words, capture_output=True, env=ENVIRONMENT, timeout=20, check=True)
    return [int(line.split()[1], 16) & ~(3 << 31) for line in done.stdout.splitlines()]


@pytest.mark.skipif(not LINUX, reason="read from /proc")
@pytest.mark.parametrize("way", ["supervise", "hand-over"])
def test_the_harness_starts_with_clean_signals(tmp_path: Path, way: str) -> None:
    """As without Barry. (What runs the tests may ignore some itself.)"""
    blocked, ignored = masks(barry(tmp_path, *STATUS, way=way))
    assert [blocked, ignored] == [0, masks(STATUS)[1]]
    assert not ignored & (1 << (signal.SIGPIPE - 1))


@pytest.mark.skipif(not LINUX, reason="read from /proc")
@pytest.mark.parametrize("way", ["supervise", "hand-over"])
def test_what_the_starter_ignores_stays_ignored(tmp_path: Path, way: str) -> None:
    """As `nohup` does."""
    nohup = ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    blocked, ignored = masks([*nohup, *barry(tmp_path, *STATUS, way=way)])
    assert [blocked, ignored] == [0, masks(STATUS)[1] | 1 << (signal.SIGHUP - 1)]


@pytest.mark.skipif(not LINUX, reason="orphans are adopted on Linux only")
def test_orphans_that_end_do_not_pile_up(tmp_path: Path) -> None:
    script = "for i in 1 2 3 4 5; do (true &) ; done; sleep 1; ps -o stat= --ppid $PPID; echo over"
    done = subprocess.run(
        barry(tmp_path, "/bin/sh", "-c", script),
        capture_output=True,
        env=ENVIRONMENT,
        timeout=20,
        check=True,
    )
    assert b"over" in done.stdout
    assert b"Z" not in done.stdout


def in_child(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=20,
        check=False,
    )


FAILURES = """
import os, signal, sys, threading
from barry_cli.terminal.supervise import supervise
from barry_cli.terminal.hand_over import hand_over
before = [signal.getsignal(n) for n in range(1, 32)], signal.pthread_sigmask(signal.SIG_BLOCK, ())
for way in (supervise, hand_over):
    try:
        way(sys.argv[1], ["x"], {}, sys.argv[2])
    except OSError as error:
        print(type(error).__name__, error.filename)
after = [signal.getsignal(n) for n in range(1, 32)], signal.pthread_sigmask(signal.SIG_BLOCK, ())
assert before == after
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no child")
"""


def test_a_program_that_is_not_there_or_can_not_run(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for path, name in [
        (tmp_path / "absent", "FileNotFoundError"),
        (plain, "PermissionError"),
    ]:
        done = in_child(FAILURES, str(path), str(tmp_path))
        assert done.stdout == f"{name} {path}\n{name} {path}\nno child\n", done.stderr
    plain.chmod(0o755)
    done = in_child(FAILURES, str(plain), str(tmp_path))
    assert done.stdout == f"OSError {plain}\nOSError {plain}\nno child\n", done.stderr


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    done = in_child(FAILURES, "/bin/true", str(gone))
    line = f"FileNotFoundError {gone}\n"
    assert done.stdout == line + line + "no child\n", done.stderr


def test_arguments_that_no_program_can_get() -> None:
    code = FAILURES.replace('["x"]', '["a\\0b"]').replace("OSError as", "(OSError, ValueError) as")
    done = in_child(code.replace(", error.filename", ""), "/bin/true", "/")
    assert done.stdout == "OSError\nValueError\nno child\n", done.stderr


CALLBACKS = """
import os, sys
from barry_cli.terminal.supervise import supervise
ticks = []
def tick():
    ticks.append(1)
    raise ValueError("tick")
def start(identity):
    if sys.argv[1] == "start":
        raise KeyError("start")
ended = supervise("/bin/sh", ["sh", "-c", "sleep 0.5; exit 3"], {"PATH": os.environ["PATH"]}, "/",
                  on_start=start, on_tick=tick, tick_seconds=0.05)
print(ended.exit_code, ended.fault, len(ticks))
"""


def test_a_failing_callback_does_not_touch_the_harness() -> None:
    assert in_child(CALLBACKS, "").stdout == "3 tick 1\n"
    assert in_child(CALLBACKS, "start").stdout == "3 'start' 1\n"


PATIENT = """
import os, subprocess
from barry_cli.base.processes import adopted_zombies
from barry_cli.terminal.supervise import supervise
own = []
def tick():
    if not own:
        own.append(subprocess.Popen(["sh", "-c", "exit 3"]))
        while own[0].pid not in adopted_zombies():
            pass
    elif len(own) == 1:
        own.append(own[0].wait())
supervise("/bin/sleep", ["sleep", "0.5"], {}, "/", on_tick=tick, tick_seconds=0.05)
print(own[1])
"""


@pytest.mark.skipif(not LINUX, reason="orphans are adopted on Linux only")
def test_a_child_of_barrys_own_can_still_be_waited_for() -> None:
    """Though it looks like an orphan of the harness that has ended."""
    assert in_child(PATIENT).stdout == "3\n"


THREADS = """
import os, signal, threading
from barry_cli.base.processes import run_bounded
from barry_cli.terminal.supervise import supervise
stop = threading.Event()
runs = []
def busy():
    while not stop.is_set():
        runs.append(run_bounded(["sleep", "0.1"], env={"PATH": os.environ["PATH"]},
                                timeout=5, limit_bytes=1).returncode)
thread = threading.Thread(target=busy)
thread.start()
timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
ended = supervise("/bin/sleep", ["sleep", "20"], {}, "/", tick_seconds=0.05,
                  on_start=lambda identity: timer.start())
stop.set()
thread.join()
print(ended.signal, ended.forwarded, set(runs), len(runs) > 1)
"""


def test_beside_other_threads() -> None:
    """Whichever thread takes the signal, and whatever else is started and waited for."""
    assert in_child(THREADS).stdout == "15 15 {0} True\n"


# --- statuses ---


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        (Ended(0, None, None), 0),
        (Ended(42, None, None), 42),
        (Ended(None, 9, None), 137),
        (Ended(None, 11, None), 139),
        (Ended(0, None, 15), 143),
        (Ended(1, None, 1), 129),
        (Ended(None, 9, 15), 143),
    ],
)
def test_statuses(ended: Ended, status: int) -> None:
    assert exit_status(ended) == status
    with pytest.raises(SystemExit) as caught:
        exit_like(ended)
    assert caught.value.code == status
    assert ended.abnormal is (status > 128)
