"""A small harness with a raw-mode screen, driven by single keys. Run as a script."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import termios
import tty

MODES_ON = "\x1b[?1049h\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?25l"
MODES_OFF = "\x1b[?25h\x1b[?2004l\x1b[?1004l\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1049l"


def say(text: str) -> None:
    os.write(1, f"<{text}>\r\n".encode())


def size(number: int = 0, frame: object = None) -> None:
    columns, rows = os.get_terminal_size(0)
    say(f"size {rows}x{columns}")


def stop(tidy: bool, group: bool, before: list[object]) -> None:
    """Stop as a screen program does on ^Z: alone or with its group, tidy or as it stands."""
    if tidy:
        os.write(1, MODES_OFF.encode())
        termios.tcsetattr(0, termios.TCSANOW, before)
    os.kill(0 if group else os.getpid(), signal.SIGTSTP)
    if tidy:
        tty.setraw(0, termios.TCSANOW)
        os.write(1, MODES_ON.encode())
    say("back")


def start(own_group: bool) -> None:
    """Start a command: in a session of its own, or in a group of its own with the foreground."""
    child = subprocess.Popen(
        ["sleep", "300"],
        stdin=subprocess.DEVNULL,
        start_new_session=not own_group,
        process_group=0 if own_group else None,
    )
    if own_group:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, child.pid)
    say(f"started {child.pid}")


def leave(before: list[object]) -> None:
    os.write(1, MODES_OFF.encode())
    termios.tcsetattr(0, termios.TCSANOW, before)
    os._exit(42)


def read_key() -> bytes:
    try:
        return os.read(0, 1)
    except OSError:
        return b""


def main() -> None:
    before = termios.tcgetattr(0)
    if "deaf" in sys.argv:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    if "polite" in sys.argv:  # Ends with 0 after a TERM.
        signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
    signal.signal(signal.SIGWINCH, size)
    signal.signal(signal.SIGUSR1, lambda number, frame: say("usr1"))
    tty.setraw(0, termios.TCSANOW)
    os.write(1, MODES_ON.encode())
    say(f"ready {os.getpid()}")
    keys = {
        b"": signal.pause,  # The terminal has gone: wait for what its end brings.
        b"\x03": lambda: say("interrupt"),
        b"s": lambda: stop(tidy=False, group=False, before=before),
        b"g": lambda: stop(tidy=False, group=True, before=before),
        b"S": lambda: stop(tidy=True, group=False, before=before),
        b"G": lambda: stop(tidy=True, group=True, before=before),
        b"w": size,
        b"f": lambda: start(own_group=False),
        b"b": lambda: start(own_group=True),
        b"q": lambda: leave(before),
        b"r": lambda: os._exit(0),  # As it stands.
    }
    while True:
        select.select([0], [], [])
        key = read_key()
        keys.get(key, lambda key=key: say(f"key {key!r}"))()


main()
