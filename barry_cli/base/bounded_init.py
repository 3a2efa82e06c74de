"""The helper of `bounded_run`: starts one program, adopts all it leaves behind, and ends it.

Run as a script by an isolated interpreter, with few and small imports: it costs little more than
a bare start. Its one argument is a socket: the order comes in on it, the report goes out on it, and
its other end closing, or closing its sending side, means "end the run".
"""

import os
import select
import signal
import sys
import time

_GRACE_SECONDS = 0.3
_KILL_SECONDS = 3.0
_POLL_SECONDS = 0.01
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, argument: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(argument), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return  # The process group is still ended.


def _read_exactly(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(descriptor, size - len(data))
        if not chunk:
            raise SystemExit(1)
        data += chunk
    return data


def _decode(order: bytes) -> tuple[list[bytes], dict[bytes, bytes], bytes]:
    """The order is the directory, how many words, the words, then NAME=VALUE: NUL between them."""
    cwd, count, *rest = order.split(b"\0")
    words, variables = rest[: int(count)], rest[int(count) :]
    return words, dict(variable.split(b"=", 1) for variable in variables), cwd


def _execute(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    """Replace this process; the OSError to report is that of the best candidate."""
    if b"/" in argv[0]:
        os.execve(argv[0], argv, env)
    failure: OSError = FileNotFoundError(2, "")
    for folder in env.get(b"PATH", b"/usr/bin:/bin").split(b":"):
        try:
            os.execve((folder or b".") + b"/" + argv[0], argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            failure = error
    raise failure


def _start(
    argv: list[bytes], env: dict[bytes, bytes], cwd: bytes, control: int
) -> tuple[int, bytes]:
    """Return the child's number and what went wrong, empty when the program is running."""
    reader, writer = os.pipe()  # Both close on exec: the end of the data means success.
    child = os.fork()
    if child == 0:
        what = b"directory"
        try:
            os.setsid()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # Should this helper be killed itself.
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            # Told before the program has its first say: it might end this helper.
            os.write(control, b"group %d\n" % os.getpid())
            if cwd:
                os.chdir(cwd)
            what = b"program"
            _execute(argv, env)
        except OSError as error:
            os.write(writer, b"failed %d %s\n" % (error.errno or 5, what))
        finally:
            os._exit(127)
    os.close(writer)
    failure = os.read(reader, 100)
    os.close(reader)
    return child, failure


def _children() -> list[int]:
    """This process's children, by the process table. Empty where there is no /proc."""
    own = os.getpid()
    found: list[int] = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if not name.isdecimal():
            continue
        try:
            file = os.open(f"/proc/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fields = os.read(file, 4096).rpartition(b")")[2].split()
        except OSError:
            continue
        finally:
            os.close(file)
        if len(fields) > 1 and int(fields[1]) == own:
            found.append(int(name))
    return found


def _reap(child: int, status: int | None) -> tuple[bool, int | None]:
    """Collect what has ended; returns whether children are left, and the run's status."""
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False, status
        if pid == 0:
            return True, status
        if pid == child:
            status = ended


def _signal_all(child: int, number: int, told: set[int]) -> None:
    for kill, target in [(os.killpg, child), *((os.kill, pid) for pid in _children())]:
        if target in told:
            continue
        told.add(target)
        try:
            kill(target, number)
            kill(target, signal.SIGCONT)  # A stopped process takes a TERM only once it goes on.
        except OSError:
            continue


def _group_left(child: int) -> bool:
    try:
        os.killpg(child, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _end_tree(child: int, status: int | None) -> int | None:
    """TERM, then KILL, until nothing is left or the time is up; returns the run's status.

    Only children are seen: what they leave behind is adopted, and then a child itself.
    """
    began = time.monotonic()
    told: set[int] = set()
    while True:
        left, status = _reap(child, status)
        if not left and not _group_left(child):
            return status
        passed = time.monotonic() - began
        if passed > _KILL_SECONDS:
            return status
        if passed < _GRACE_SECONDS:
            _signal_all(child, signal.SIGTERM, told)
        else:
            _signal_all(child, signal.SIGKILL, set())
        time.sleep(_POLL_SECONDS)


def main() -> None:
    """Take the order, run it, end what it leaves, report."""
    control = int(sys.argv[1])
    os.set_inheritable(control, False)
    size = int.from_bytes(_read_exactly(control, 8), "big")
    argv, env, cwd = _decode(_read_exactly(control, size))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)

    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Only the socket ends a run; a handler, unlike "ignore", does not reach the program.
        signal.signal(number, lambda number, frame: None)

    child, failure = _start(argv, env, cwd, control)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # The pipes must close when the run's own processes have gone.
        os.dup2(nothing, stream)
    if failure:
        os.write(control, failure)
        return
    try:
        os.write(control, b"running %d\n" % child)
    except OSError:
        _end_tree(child, None)  # Nobody is there to hold it.
        return
    status: int | None = None
    while True:
        _, status = _reap(child, status)
        if status is not None:
            break
        ready, _, _ = select.select([woken, control], [], [])
        if woken in ready:
            os.read(woken, 4096)
        if control in ready:
            break
    status = _end_tree(child, status)
    if status is not None:
        try:
            os.write(control, b"ended %d\n" % os.waitstatus_to_exitcode(status))
        except OSError:
            return  # Nobody is there to read it.


main()
