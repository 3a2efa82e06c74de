"""The terminal's modes: remembered before a harness has it, put back afterwards.

There are two kinds: those of the line discipline, kept by the kernel (echo, raw input), and the
terminal's own, switched by escape sequences (mouse, paste, alternate screen). Only the first kind
can be read.
"""

from __future__ import annotations

import os
import termios
import time

Modes = list[int | list[bytes | int]]
"""What `termios` reads and writes; comparable."""

_KEYBOARD = b"\x1b[<u\x1b[=0u"  # kitty keyboard: take back one push, and no flags in any case
RESET = (
    b"\x1b[?2026l"  # synchronised output off: what was held back is shown
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l"  # mouse
    b"\x1b[?1004l"  # focus reports
    b"\x1b[?2004l"  # bracketed paste
    b"\x1b[?2031l"  # colour theme reports
    b"\x1b[?2027l"  # grapheme clusters
    + _KEYBOARD
    # Leaving the alternate screen also restores a saved cursor: save one first, else the cursor
    # jumps when the alternate screen was not on. Each screen has its own keyboard flags.
    + b"\x1b7\x1b[?1049l"
    + _KEYBOARD
    + b"\x1b[>4;0m"  # modifyOtherKeys
    b"\x1b[?25h"  # cursor on
    b"\x1b[0m\r"
)
"""Undoes what a harness that was cut short may have left on. Harmless where nothing was."""

_WRITE_SECONDS = 0.5


class Terminal:
    """The controlling terminal, by a descriptor of our own that never blocks.

    A terminal can go at any moment (its window is closed), so nothing here raises for that.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls) -> Terminal | None:
        """Return the controlling terminal; None when this process has none."""
        flags = os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            return cls(os.open("/dev/tty", flags))
        except OSError:
            return None

    def close(self) -> None:
        os.close(self._descriptor)

    def ours(self) -> bool:
        """Whether this process's group is in the foreground. Else the terminal is the shell's."""
        try:
            return os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except OSError:
            return False

    def take_back(self) -> bool:
        """Take the foreground back from a group that has ended; True when the terminal is ours.

        A harness killed while a command of its own had the foreground leaves it to nobody.
        """
        try:
            group = os.tcgetpgrp(self._descriptor)
            if group != os.getpgrp():
                if _exists(group):
                    return False
                os.tcsetpgrp(self._descriptor, os.getpgrp())
        except OSError:
            return False
        return True

    def read(self) -> Modes | None:
        try:
            return termios.tcgetattr(self._descriptor)
        except termios.error:
            return None

    def write(self, modes: Modes) -> None:
        """Set the modes at once: waiting for output to drain could wait for ever."""
        try:
            termios.tcsetattr(self._descriptor, termios.TCSANOW, modes)
        except termios.error:
            return

    def reset(self) -> None:
        """Switch off what a harness may have left on, and drop input meant for it."""
        self._send(RESET)
        try:
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
        except termios.error:
            return

    def _send(self, data: bytes) -> None:
        deadline = time.monotonic() + _WRITE_SECONDS
        while data and time.monotonic() < deadline:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:
                return


def _exists(group: int) -> bool:
    if group <= 1:
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
